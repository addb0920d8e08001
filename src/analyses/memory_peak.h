// SPDX-License-Identifier: Apache-2.0
// The moment when most device memory is in use, what lives then, and the line of the program that made it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

struct MemoryPeak {
  int64_t bytes = 0, ts_ns = kAbsent;
};

// Returns, for each device, the first event after which most was in use, by the allocator's own totals.
std::map<int32_t, MemoryPeak> MemoryPeaksOf(const MemoryEventTable& events);

// Was the block allocated by that time and not yet freed? `ts_ns` may be absent: the moment of the snapshot itself.
bool IsBlockAlive(const Trace& trace, size_t block, int64_t ts_ns);

// Does the allocator extend its segments? A snapshot has its settings; a recording without any has PyTorch's own, which
// do not.
bool ExtendsSegments(const Trace& trace);

// Finds the frame that each stack belongs to: the innermost of a Python file that is no part of an installed package.
// Frames are asked for once.
class ProgramLines {
 public:
  explicit ProgramLines(const Trace& trace) : trace_(trace), of_(trace.stacks.size(), kUnasked) {}
  StackId Of(StackId stack);

 private:
  static constexpr uint32_t kUnasked = kNoRowValue - 1;
  const Trace& trace_;
  std::vector<uint32_t> of_;
};

}  // namespace gapless::internal
