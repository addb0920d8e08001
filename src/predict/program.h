// SPDX-License-Identifier: Apache-2.0
// Finds the rows of a recording that the program caused, not its recorder.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

// The resource that an operation waits for: its queue, the host that touched a page of managed memory, or neither, as
// it does not count.
enum class OpRole : uint8_t { kQueued, kTouchedByHost, kWithinKernel };

// ProgramRows has 1 in the rows of threads and slices that count.
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

// Returns each slice's self time: its duration without its children's.
std::vector<int64_t> OwnTimes(const Trace& trace);

// The slices in which a batch is waited for, and all below them.
std::vector<uint8_t> LoadingSlices(const Trace& trace);

// Returns the host time of an unobstructed kernel launch; 0 if none was recorded. Only the shortest 5 % count: in a
// training bound by its device most launches wait for room in the queue.
int64_t UsualLaunchNs(const Trace& trace);
// A launch that takes longer than this waited for room in the device's queue, or loaded the code of its kernel.
int64_t FullQueueNs(int64_t usual_launch_ns);

// Launches that load the code of their kernel. A launch that takes long waits for room if at least ten operations that
// were launched before it have not begun; with fewer of them it loads.
class LoadingLaunches {
 public:
  LoadingLaunches() = default;
  LoadingLaunches(const Trace& trace, const ProgramRows& program);
  bool Has(uint32_t slice) const { return loads_[slice] != 0; }
  // Returns the time that the launch takes beyond the usual; 0 for every other slice.
  int64_t ExtraNs(uint32_t slice) const { return Has(slice) ? dur_ns_[slice] - usual_ns_ : 0; }

 private:
  Column<int64_t> dur_ns_{};
  std::vector<uint8_t> loads_{};  // by slice, of which there are many, and few load
  int64_t usual_ns_ = 0;
};

}  // namespace gapless::internal
