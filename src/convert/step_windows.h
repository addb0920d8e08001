// SPDX-License-Identifier: Apache-2.0
// The stretches of time of chosen steps.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "convert/writer.h"

namespace gapless::internal {

// Returns, for each trace, the stretches of the steps with these numbers. A stretch holds the step on the host and the
// device work that it launched; stretches that touch are one. Returns an error when no trace has such a step.
Result<std::vector<WriteWindows>> WindowsOfSteps(std::span<const RunTrace* const> traces,
                                                 std::span<const int64_t> numbers);

}  // namespace gapless::internal
