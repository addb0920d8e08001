// SPDX-License-Identifier: Apache-2.0
// Measures the latency of requests to a model, and the number of requests per second.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "trial/run_sample.h"

namespace gapless::internal {

// Inference metrics of one process, times in ms. A percentile is absent if there are too few requests to see one beyond
// it: 20 for p95, 100 for p99.
struct InferenceMetrics {
  size_t requests = 0;
  bool writes_text = false;
  double latency_mean_ms = 0, latency_p50_ms = 0;
  std::optional<double> latency_p95_ms{}, latency_p99_ms{};
  double requests_per_second = 0;  // one after the other, with all that the program does between them
  std::optional<double> samples_per_second{};
  // Metrics of programs that generate text. The first token ends the call with the prompt; the others share the rest.
  std::optional<double> time_to_first_token_p50_ms{}, time_to_first_token_p95_ms{}, time_per_output_token_ms{};
  std::optional<double> tokens_per_second{};
  std::vector<double> latencies_ms{};  // in order
};

// An error when no call of a model was seen. Where numbers of the output are measured, each is a latency in ms.
Result<InferenceMetrics> InferenceOf(const RunSample& sample);

}  // namespace gapless::internal
