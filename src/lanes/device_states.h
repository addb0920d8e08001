// SPDX-License-Identifier: Apache-2.0
// One state of a device at a time, as the ledger divides its time: whatever computes, else what communicates, else what
// copies, else the cause for which it is idle. Causes are known within the analysed window; outside of it a device that
// does nothing has no state.
#pragma once

#include <string_view>
#include <vector>

#include "analyses/timeline.h"
#include "lanes/merge.h"

namespace gapless::internal {

// Compute, communication, copy, then the causes in the order of IdleCause.
inline constexpr std::string_view kDeviceStateNames[] = {"compute",     "communication", "copy",      "idle_data",
                                                         "idle_launch", "idle_sync",     "idle_host", "idle_unknown"};
inline constexpr uint32_t kFirstIdleState = 3;

// Sorted by start, in run time; `row` is the state's place in kDeviceStateNames.
std::vector<Span> DeviceStates(const DeviceTimeline& device, int64_t shift_ns);

}  // namespace gapless::internal
