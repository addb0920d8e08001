// SPDX-License-Identifier: Apache-2.0
// Which rows of a recording are the program's own doing.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

// What an operation waits for: its queue; the host that touched a page of managed memory; or it does not count.
enum class OpRole : uint8_t { kQueued, kTouchedByHost, kWithinKernel };

// By row: 1 for the threads and slices that count.
struct ProgramRows {
  std::vector<uint8_t> threads{}, slices{};
  std::vector<OpRole> ops{};
};

// Threads that only poll the device (NCCL's watchdog asks its events every 100 ms) are no part of the program: whatever
// seems to wait for them waits for something else. Python frames, the profiler's own overhead and marks of other kinds
// repeat what operators and calls say, and do not count either. Nor do pages of managed memory that move on demand
// while a kernel runs: that time is within the kernel's.
ProgramRows FindProgram(const Trace& trace, bool drop_pollers = true);

// Returns true if some thread of the program was recorded.
bool HasHost(const ProgramRows& program);

// An operator at work, as opposed to marks that also cover the waiting of their thread.
bool IsOwnWork(const Trace& trace, uint32_t slice);

// Returns 1 for each slice that is one, by row.
std::vector<uint8_t> OwnWork(const Trace& trace);

// Of each slice, what it took itself, without the slices that it is the parent of.
std::vector<int64_t> OwnTimes(const Trace& trace);

// The slices in which a batch is waited for, and all below them.
std::vector<uint8_t> LoadingSlices(const Trace& trace);

// How long launching a kernel takes the host when nothing is in the way; 0: none was recorded. The 5 % that are
// shortest tell: in a training bound by its device most launches wait for room in the queue.
int64_t UsualLaunchNs(const Trace& trace);
// A launch that takes longer than this waited for room in the device's queue, or loaded the code of its kernel.
int64_t FullQueueNs(int64_t usual_launch_ns);
// By slice: what a launch that loads takes beyond the usual, 0 for every other slice. A launch waits for room if at
// least ten operations that were launched before it have not begun; with fewer of them it loads.
std::vector<int64_t> LoadingNs(const Trace& trace, const ProgramRows& program);

}  // namespace gapless::internal
