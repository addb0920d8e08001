// SPDX-License-Identifier: Apache-2.0
// The output of `gapless bench`: text and JSON about one or more measured processes of the same command and source.
#pragma once

#include <string>
#include <vector>

#include "proof/metrics.h"

namespace gapless::internal {

// Returns the figures of one or more processes; there must be at least one.
std::string BenchText(const std::vector<RunSample>& samples);

}  // namespace gapless::internal
