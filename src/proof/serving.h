// SPDX-License-Identifier: Apache-2.0
// The figures of a load of requests to a server, as docs/definitions.md defines them (Requests to a server).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trial/serving_load.h"

namespace gapless::internal {

// The objectives that a good request keeps. At least one is set where objectives were given.
struct ServingObjectives {
  std::optional<double> ttft_ms{}, tpot_ms{}, latency_ms{};
  bool any() const { return ttft_ms || tpot_ms || latency_ms; }
};

// Percentiles in ms; absent where there are too few values to see one beyond: 20 for p95, 100 for p99.
struct ServingTimes {
  std::optional<double> p50{}, p95{}, p99{};
};

// The figures of one load. Requests that failed are in none of them but `failed`.
struct ServingMetrics {
  size_t requests = 0, failed = 0;
  double duration_s = 0;  // from the start of the first request to the end of the last
  ServingTimes ttft{}, tpot{}, itl{}, latency{};
  double requests_per_second = 0;
  std::optional<double> output_tokens_per_second{};                // absent: the server does not count its tokens
  std::optional<double> good_requests_per_second{}, good_share{};  // absent: no objectives
  std::vector<std::string> failures{};                             // the first of each kind, with how many there were
};

// (latency - time to first token) / (output tokens - 1) in ms; absent: tokens are not counted, or there is one only.
std::optional<double> TimePerOutputTokenMs(const ServedRequest& request);

// An error when no request was answered; it says why.
Result<ServingMetrics> ServingMetricsOf(const ServedLoad& load, const ServingObjectives& objectives);

}  // namespace gapless::internal
