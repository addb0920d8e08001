// SPDX-License-Identifier: Apache-2.0
// The steps of a process without device work, cut into what its stepping thread did. Each moment of an analysed step
// belongs to the first of these that is open then:
//
//   data        the data loader's iterator
//   save, gc, compile   what should not happen in every step (the names of host_events)
//   optimizer   Optimizer.step, without the closure that it may run (optimizer_updates.h)
//   collective  a collective of the host is under way (gloo runs it on a thread of its own), or a message to or from
//   another
//               rank, and no operator here
//   operator    any other operator
//   python      the rest: Python between operators
//
// If no step is marked, each moment from the first event to the last is divided. Processes that used a device are in
// the ledger instead.
#pragma once

#include <array>
#include <string_view>

#include "analyses/host_parts.h"
#include "analyses/intervals.h"
#include "analyses/optimizer_updates.h"
#include "analyses/timeline.h"

namespace gapless::internal {

inline constexpr auto kOwnHostParts = static_cast<size_t>(host_parts::Part::kParts);
// The names of the parts: those of host_parts::Part, then the rest.
inline constexpr std::string_view kHostPartNames[kOwnHostParts + 1] = {"data",      "save",       "gc",       "compile",
                                                                       "optimizer", "collective", "operator", "python"};

struct HostPartition {
  int64_t steps = 0;  // analysed steps; 0: none is marked
  int64_t wall_ns = 0;
  std::array<Intervals, kOwnHostParts + 1> of;  // by part, then the rest; they do not overlap, and make up wall_ns
};

// Returns the parts of all analysed steps; wall_ns 0: nothing of the host was recorded.
HostPartition PartitionHost(const TraceTimeline& timeline, const OptimizerUpdates& updates);

}  // namespace gapless::internal
