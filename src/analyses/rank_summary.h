// SPDX-License-Identifier: Apache-2.0
// Figures of a whole job from table ranks: how well it scales, and how far each rank is from the median.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyses/rows/ranks.h"
#include "gapless/summary.h"
#include "trace/table.h"

namespace gapless::internal {

// Weak scaling efficiency: the step of one device alone over the step of the job, each with the same batch per device
// (so throughput of the job over devices times the throughput of one). `single_step_ns` is the step time of a run on
// one device. Without it, the share of the devices' time that does not go to exposed communication, waiting for other
// ranks included (but not the waiting up to the first collective that all recorded): computing itself may also be
// slower than alone, so the true figure is at most this; `estimated` is set. Absent: no complete step to hold against
// the single run; without one, fewer than two devices.
std::optional<Scaling> ScalingEfficiency(const RanksRows& ranks, std::optional<int64_t> single_step_ns);

// Measures how much the ranks of a job differ, for pictures that cannot show a thousand of them: those that differ most
// are what a reader looks for.

// Returns by recording (key of table trace) how far its own work per step is from that of the median device, in ns, the
// most of its devices; empty without ranks.
std::map<int64_t, double> DistancesFromMedian(const RanksRows& ranks);

}  // namespace gapless::internal
