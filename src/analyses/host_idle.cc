// SPDX-License-Identifier: Apache-2.0
// Looks up what was open in the middle of each part, all in one walk over the slices.
#include "analyses/host_idle.h"

#include "analyses/open_slice.h"

namespace gapless::internal {
namespace {

// From here a part is longer than Python between two operators, and may hold a whole function's work.
constexpr int64_t kLongPartNs = 1'000'000;

}  // namespace

std::vector<HostIdle> HostIdleParts(const Trace& trace, const DeviceTimeline& device) {
  std::vector<HostIdle> parts;
  std::vector<OpenQuery> queries;
  std::vector<size_t> asked;
  for (const IdleGap& gap : device.gaps) {
    const bool launching = device.MainCause(gap) == IdleCause::kLaunch;
    for (uint32_t at = gap.first_part; at < gap.first_part + gap.part_count; ++at) {
      const IdlePart& part = device.parts[at];
      if (part.cause != IdleCause::kHost) continue;
      const Interval span{part.start, device.PartEnd(gap, at)};
      if (part.slice.valid()) {
        queries.push_back({Middle(span), trace.slices.thread[part.slice.value]});
        asked.push_back(parts.size());
      }
      parts.push_back({span, part.slice, launching});
    }
  }
  const std::vector<SliceId> found = InnermostOpen(trace, queries);
  for (size_t i = 0; i < found.size(); ++i) {
    HostIdle& part = parts[asked[i]];
    const bool is_long = part.span.length() >= kLongPartNs;
    const SliceId at = is_long ? DeepestOverHalf(trace, found[i], part.span) : found[i];
    if (at.valid()) part.slice = at;
  }
  return parts;
}

StringId NameUnlessStep(const Trace& trace, SliceId slice) {
  const StringId name = trace.slices.name[slice.value];
  return trace.Text(name).starts_with("ProfilerStep") ? StringId::kNone : name;
}

}  // namespace gapless::internal
