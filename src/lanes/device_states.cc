// SPDX-License-Identifier: Apache-2.0
// Puts the lists of a device's timeline, which do not overlap with each other, into one.
#include "lanes/device_states.h"

#include <algorithm>

namespace gapless::internal {

std::vector<Span> DeviceStates(const DeviceTimeline& device, int64_t shift_ns) {
  std::vector<Span> spans;
  const auto add = [&](Interval span, uint32_t state) {
    const int64_t length = span.length();
    if (length > 0) spans.push_back({span.start + shift_ns, span.end + shift_ns, length, length, state, 1});
  };
  uint32_t state = 0;
  for (const Intervals* list : {&device.compute, &device.exposed_communication, &device.exposed_copies}) {
    for (const Interval& span : *list) add(span, state);
    ++state;
  }
  for (const IdleGap& gap : device.gaps) {
    if (gap.part_count == 0) add(gap.span, kFirstIdleState + static_cast<uint32_t>(IdleCause::kUnknown));
    for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
      add({device.parts[part].start, device.PartEnd(gap, part)},
          kFirstIdleState + static_cast<uint32_t>(device.parts[part].cause));
  }
  std::ranges::sort(spans, {}, &Span::start);
  return spans;
}

}  // namespace gapless::internal
