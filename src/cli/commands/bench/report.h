// SPDX-License-Identifier: Apache-2.0
// What `gapless bench` says of the processes it measured: at least one, all of the same command and source.
#pragma once

#include <string>
#include <vector>

#include "proof/metrics.h"

namespace gapless::internal {

std::string BenchText(const std::vector<RunSample>& samples);

}  // namespace gapless::internal
