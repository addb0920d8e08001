// SPDX-License-Identifier: Apache-2.0
// Computes percentiles, rates and goodput from the times of each request.
//
// A request with too few tokens to have a time per output token keeps that objective: it has nothing to break it with.
// A request whose tokens are not counted cannot be judged by it, and then there is no goodput.
#include "proof/serving.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr double kNsInMs = 1e6, kNsInSecond = 1e9;
constexpr size_t kValuesForP95 = 20, kValuesForP99 = 100;

double Ms(int64_t ns) { return static_cast<double>(ns) / kNsInMs; }

ServingTimes TimesOf(const std::vector<double>& values) {
  const std::vector<double> sorted = Sorted(values);
  const auto at = [&](double p, size_t least) {
    return sorted.size() < least ? std::nullopt : std::optional(QuantileOfSorted(sorted, p));
  };
  return {at(0.50, 1), at(0.95, kValuesForP95), at(0.99, kValuesForP99)};
}

// Absent: it cannot be told.
std::optional<bool> IsGood(const ServedRequest& request, const ServingObjectives& wanted) {
  if (wanted.ttft_ms && Ms(request.text_ns.front()) > *wanted.ttft_ms) return false;
  if (wanted.latency_ms && Ms(request.latency_ns) > *wanted.latency_ms) return false;
  if (!wanted.tpot_ms) return true;
  if (!request.output_tokens) return std::nullopt;
  const auto tpot = TimePerOutputTokenMs(request);
  return !tpot || *tpot <= *wanted.tpot_ms;
}

// Sets the goodput, if each request can be judged.
void TakeGoodput(const std::vector<const ServedRequest*>& answered, const ServingObjectives& wanted,
                 ServingMetrics& metrics) {
  if (!wanted.any()) return;
  size_t good = 0;
  for (const ServedRequest* request : answered) {
    const auto is_good = IsGood(*request, wanted);
    if (!is_good) return;
    good += *is_good ? 1 : 0;
  }
  metrics.good_share = static_cast<double>(good) / static_cast<double>(metrics.requests + metrics.failed);
  metrics.good_requests_per_second = static_cast<double>(good) / metrics.duration_s;
}

std::vector<std::string> FailuresOf(const ServedLoad& load) {
  std::map<std::string, size_t> counts;
  for (const ServedRequest& request : load.requests)
    if (!request.failure.empty()) ++counts[Ellipsize(Printable(request.failure), 120)];
  std::vector<std::string> failures;
  for (const auto& [why, count] : counts)
    failures.push_back(StrCat(FormatCounted(static_cast<int64_t>(count), "request"), " failed: ", why));
  return failures;
}

void TakeTimes(const std::vector<const ServedRequest*>& answered, ServingMetrics& metrics) {
  std::vector<double> first, per_token, gaps, latencies;
  int64_t tokens = 0;
  bool counted = true;
  for (const ServedRequest* request : answered) {
    first.push_back(Ms(request->text_ns.front()));
    latencies.push_back(Ms(request->latency_ns));
    if (const auto tpot = TimePerOutputTokenMs(*request)) per_token.push_back(*tpot);
    for (size_t i = 1; i < request->text_ns.size(); ++i)
      gaps.push_back(Ms(request->text_ns[i] - request->text_ns[i - 1]));
    counted = counted && request->output_tokens;
    tokens += request->output_tokens.value_or(0);
  }
  metrics.ttft = TimesOf(first), metrics.latency = TimesOf(latencies), metrics.itl = TimesOf(gaps);
  metrics.tpot = TimesOf(per_token);
  if (counted) metrics.output_tokens_per_second = static_cast<double>(tokens) / metrics.duration_s;
}

}  // namespace

std::optional<double> TimePerOutputTokenMs(const ServedRequest& request) {
  if (request.text_ns.empty() || request.output_tokens.value_or(0) < 2) return std::nullopt;
  return Ms(request.latency_ns - request.text_ns.front()) / static_cast<double>(*request.output_tokens - 1);
}

Result<ServingMetrics> ServingMetricsOf(const ServedLoad& load, const ServingObjectives& objectives) {
  std::vector<const ServedRequest*> answered;
  int64_t begin_ns = 0, end_ns = 0;
  for (const ServedRequest& request : load.requests) {
    if (!request.failure.empty()) continue;
    if (answered.empty()) begin_ns = request.start_ns;
    end_ns = std::max(end_ns, request.start_ns + request.latency_ns);
    answered.push_back(&request);
  }
  ServingMetrics metrics;
  metrics.failures = FailuresOf(load);
  if (answered.empty()) {
    const std::string why = metrics.failures.empty() ? "none was answered in the time" : Join(metrics.failures, "; ");
    return Fail(load.interrupted ? ErrorCode::kInterrupted : ErrorCode::kCommand,
                StrCat("there is no result of the server: ", why), Printable(load.endpoint),
                "give it more time (--budget), or fewer warm-up requests (--warmup 0)");
  }
  metrics.requests = answered.size(), metrics.failed = load.requests.size() - answered.size();
  metrics.duration_s = static_cast<double>(end_ns - begin_ns) / kNsInSecond;
  metrics.requests_per_second = static_cast<double>(metrics.requests) / metrics.duration_s;
  TakeTimes(answered, metrics);
  TakeGoodput(answered, objectives, metrics);
  return metrics;
}

}  // namespace gapless::internal
