// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory_peak.h"

#include <string_view>

namespace gapless::internal {
namespace {

bool IsOfProgram(std::string_view file) {
  const auto has = [&](std::string_view part) { return file.find(part) != file.npos; };
  return file.ends_with(".py") && !has("site-packages") && !has("dist-packages") && !has("/torch/") &&
         !has("\\torch\\") && !has("lib/python") && !file.starts_with("<");
}

}  // namespace

std::map<int32_t, MemoryPeak> MemoryPeaksOf(const MemoryEventTable& events) {
  std::map<int32_t, MemoryPeak> peaks;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.device_type[row] == 0 || events.total_allocated[row] == kAbsent) continue;
    MemoryPeak& peak = peaks[events.device[row]];
    if (events.total_allocated[row] > peak.bytes) peak = {events.total_allocated[row], events.ts_ns[row]};
  }
  return peaks;
}

bool IsBlockAlive(const Trace& trace, size_t block, int64_t ts_ns) {
  const MemoryBlockTable& blocks = trace.memory_blocks;
  if (ts_ns == kAbsent || blocks.alloc_ts_ns[block] == kAbsent)
    return trace.Text(blocks.state[block]).starts_with("active");
  return blocks.alloc_ts_ns[block] <= ts_ns &&
         (blocks.free_ts_ns[block] == kAbsent || blocks.free_ts_ns[block] > ts_ns);
}

bool ExtendsSegments(const Trace& trace) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == "allocator.expandable_segments")
      return trace.Text(trace.environment.value[row]) == "true";
  return false;
}

StackId ProgramLines::Of(StackId stack) {
  std::vector<uint32_t> passed;
  StackId at = stack;
  while (at.valid() && of_[at.value] == kUnasked && !IsOfProgram(trace_.Text(trace_.stacks.file[at.value]))) {
    passed.push_back(at.value);
    at = trace_.stacks.parent[at.value];
  }
  const StackId found = !at.valid() || of_[at.value] == kUnasked ? at : StackId(of_[at.value]);
  if (at.valid()) of_[at.value] = found.value;
  for (const uint32_t row : passed) of_[row] = found.value;
  return found;
}

}  // namespace gapless::internal
