// SPDX-License-Identifier: Apache-2.0
// The stretches of time of chosen steps.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "convert/writer.h"

namespace gapless::internal {

// For each trace, where the steps of these numbers run: from the first to the last of the host's span and the device
// work it launched. Stretches that touch are one. An error when no trace has such a step.
Result<std::vector<WriteWindows>> WindowsOfSteps(std::span<const RunTrace* const> traces,
                                                 std::span<const int64_t> numbers);

}  // namespace gapless::internal
