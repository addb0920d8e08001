// SPDX-License-Identifier: Apache-2.0
// How well a job scales over its ranks, from table ranks.
#pragma once

#include <cstdint>
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

}  // namespace gapless::internal
