// SPDX-License-Identifier: Apache-2.0
// The processors of the machine that a run was recorded on, from the telemetry beside the recording.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/run.h"

namespace gapless::internal {

// Returns the number of logical processors; nullopt if no telemetry of the trace names it.
std::optional<int64_t> ProcessorsOf(const Trace& trace);

// Returns the number of the first trace of the run that names it.
std::optional<int64_t> ProcessorsOf(const Run& run);

}  // namespace gapless::internal
