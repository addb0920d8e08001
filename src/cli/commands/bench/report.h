// SPDX-License-Identifier: Apache-2.0
// What `gapless bench` says of the processes it measured: at least one, all of the same command and source.
#pragma once

#include <string>
#include <vector>

#include "cli/benchmark.h"

namespace gapless::internal {

std::string BenchText(const std::vector<RunSample>& samples);
// The keys are those of docs/BENCHMARKING.md; `gapless history record` reads them.
std::string BenchJson(const std::vector<RunSample>& samples, const std::vector<std::string>& command);

}  // namespace gapless::internal
