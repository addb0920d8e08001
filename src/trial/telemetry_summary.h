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
  // Mean power of all GPUs that did work, W, by their energy counters in the window; absent where one of them has no
  // counter or its changes in the window span fewer than ten updates.
  std::optional<double> gpu_watts{};
};

// A stretch of time in ns of the epoch.
struct UnixWindow {
  int64_t begin_ns = 0, end_ns = 0;
};

// Summarises the file up to its end or its first error; empty if it cannot be read. `window`: of gpu_watts.
TelemetrySummary SummarizeTelemetry(const std::string& path, const UnixWindow& window = {});

}  // namespace gapless::internal
