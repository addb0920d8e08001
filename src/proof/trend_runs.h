// SPDX-License-Identifier: Apache-2.0
// From the records of a history to the trends of its metrics.
//
// A history may hold several benchmarks, and runs on several machines. In one series their turns would look like
// changes. What the newest run measured, on a machine such as its own, is what counts; the rest is left out and
// counted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proof/trend.h"
#include "store/record.h"

namespace gapless::internal {

// Returns true if both records come from the same kind of machine, because another kind has another level: the same
// fingerprint, GPUs and number of GPUs, and both computed on a GPU or on the processor. A missing value counts as
// equal.
bool IsSameMachine(const BenchmarkRecord& a, const BenchmarkRecord& b);

struct TrendRuns {
  std::vector<BenchmarkRecord> records{};           // oldest first
  size_t other_benchmarks = 0, other_machines = 0;  // left out
  std::vector<std::string> benchmarks_left_out{};   // their names
  std::vector<std::string> hosts{};                 // hosts of the records, sorted
};

// The records that can be compared with the newest of `records`, which are sorted from old to new; the newest `limit`
// of them.
TrendRuns RunsLikeTheNewest(std::vector<BenchmarkRecord> records, std::optional<size_t> limit = {});

// Throughput, step time, utilisation and memory, as far as there are values of them; without any, all metrics.
std::vector<std::string> UsualMetrics(std::span<const BenchmarkRecord> records);

// Returns the trend of one metric, FindTrend() included. Unit and direction are those of the newest run that has them,
// else those implied by the name. No points: no record has the metric.
Trend TrendOf(std::span<const BenchmarkRecord> records, const std::string& metric);

}  // namespace gapless::internal
