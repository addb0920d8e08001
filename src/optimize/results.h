// SPDX-License-Identifier: Apache-2.0
// Checks the results of runs that the recording of their first steps (validate/parity.h) does not see: losses of later
// steps, and the memory of the GPU. proof/kept_metric.h has the number that the program prints at its end.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "trial/run_sample.h"

namespace gapless::internal {

// Returns the first step whose loss is not finite in a run of `with` and finite in all of `without`; absent: none.
std::optional<size_t> FirstLostLoss(std::span<const RunSample> without, std::span<const RunSample> with);

// Returns why a run takes too much of the GPU's memory, in words; empty if a tenth of it stays free, or nothing is
// known.
std::string MemoryObjection(const RunSample& sample, std::optional<double> limit_bytes);

}  // namespace gapless::internal
