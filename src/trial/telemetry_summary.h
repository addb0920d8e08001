// SPDX-License-Identifier: Apache-2.0
// Means over a file of telemetry (wire/telemetry_stream.h), for one process of a benchmark.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trial/run_sample.h"

namespace gapless::internal {

struct TelemetrySummary {
  std::map<std::string, SeriesSummary, std::less<>> series{};  // by name; of several devices the mean of their values
  size_t gpus = 0;                                             // that have a series
  std::optional<double> gpu_capacity_bytes{};                  // memory of the smallest GPU
};

// Summarises the file up to its end or its first error; empty if it cannot be read.
TelemetrySummary SummarizeTelemetry(const std::string& path);

}  // namespace gapless::internal
