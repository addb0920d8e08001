// SPDX-License-Identifier: Apache-2.0
// Computes latency percentiles, throughput and token times from the requests of one process.
//
// Throughput is over the time from the start of the first request to the end of the last, so it includes what the
// program does between requests. Numbers of a pattern have no times; their throughput is the inverse of the mean
// latency.
#include "proof/inference.h"

#include <algorithm>
#include <span>

#include "base/strings.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr double kMs = 1e6, kSecond = 1e9;
constexpr size_t kMinForP95 = 20, kMinForP99 = 100;

// Returns the percentile, or nullopt with fewer than `least` values.
std::optional<double> Percentile(const std::vector<double>& sorted, double p, size_t least) {
  if (sorted.empty() || sorted.size() < least) return std::nullopt;
  return QuantileOfSorted(sorted, p);
}

// Sets the statistics of the latencies, and keeps the latencies in their order.
void TakeLatencies(std::vector<double> latencies_ms, InferenceMetrics& metrics) {
  const std::vector<double> sorted = Sorted(latencies_ms);
  metrics.requests = sorted.size();
  metrics.latency_mean_ms = *Mean(sorted);
  metrics.latency_p50_ms = QuantileOfSorted(sorted, 0.50);
  metrics.latency_p95_ms = Percentile(sorted, 0.95, kMinForP95);
  metrics.latency_p99_ms = Percentile(sorted, 0.99, kMinForP99);
  metrics.latencies_ms = std::move(latencies_ms);
}

// From the start of the first request to the end of the last.
double SecondsOf(std::span<const InferenceRequest> requests) {
  int64_t end_ns = 0;
  for (const InferenceRequest& request : requests)
    end_ns = std::max(end_ns, request.start_unix_ns + request.latency_ns);
  return static_cast<double>(end_ns - requests.front().start_unix_ns) / kSecond;
}

// Sets the times of the first and the further tokens. A request with a single call has no further token.
void TakeText(std::span<const InferenceRequest> requests, double seconds, InferenceMetrics& metrics) {
  std::vector<double> first, others;
  double tokens = 0;
  bool rows_known = true;
  for (const InferenceRequest& request : requests) {
    first.push_back(static_cast<double>(request.first_token_ns) / kMs);
    if (request.calls > 1)
      others.push_back(static_cast<double>(request.latency_ns - request.first_token_ns) / kMs /
                       static_cast<double>(request.calls - 1));
    rows_known = rows_known && request.rows;
    tokens += static_cast<double>(request.rows.value_or(0)) * static_cast<double>(request.calls);
  }
  const std::vector<double> sorted = Sorted(first);
  metrics.time_to_first_token_p50_ms = QuantileOfSorted(sorted, 0.50);
  metrics.time_to_first_token_p95_ms = Percentile(sorted, 0.95, kMinForP95);
  metrics.time_per_output_token_ms = Median(others);
  if (rows_known && seconds > 0) metrics.tokens_per_second = tokens / seconds;
}

}  // namespace

Result<InferenceMetrics> InferenceOf(const RunSample& sample) {
  InferenceMetrics metrics;
  if (sample.source == SampleSource::kPattern && !sample.values.empty()) {
    TakeLatencies(sample.values, metrics);
    if (metrics.latency_mean_ms > 0) metrics.requests_per_second = 1e3 / metrics.latency_mean_ms;
    return metrics;
  }
  const InferenceRequests found = RequestsOf(sample.calls, sample.stopped);
  if (found.requests.empty())
    return Fail(
        ErrorCode::kCommand, "no request to a model was seen", "",
        "it needs calls of a PyTorch model after --warmup; --pattern measures latencies that the program prints");
  std::vector<double> latencies_ms;
  double rows = 0;
  bool rows_known = true;
  for (const InferenceRequest& request : found.requests) {
    latencies_ms.push_back(static_cast<double>(request.latency_ns) / kMs);
    rows_known = rows_known && request.rows;
    rows += static_cast<double>(request.rows.value_or(0));
  }
  TakeLatencies(std::move(latencies_ms), metrics);
  metrics.writes_text = found.writes_text;
  const double seconds = SecondsOf(found.requests);
  if (seconds > 0) metrics.requests_per_second = static_cast<double>(metrics.requests) / seconds;
  if (seconds > 0 && rows_known) metrics.samples_per_second = rows / seconds;
  if (found.writes_text) TakeText(found.requests, seconds, metrics);
  return metrics;
}

}  // namespace gapless::internal
