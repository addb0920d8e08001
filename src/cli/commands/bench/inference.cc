// SPDX-License-Identifier: Apache-2.0
// Prints the latency, throughput and token times of `gapless bench --inference`. A percentile is shown only if there
// are enough requests to have one: 20 for p95, 100 for p99.
#include "cli/commands/bench/inference.h"

#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "proof/described.h"

namespace gapless::internal {
namespace documents {

// The whole document. Latencies are given one by one, so that other percentiles can be computed from them.
struct Inference {
  std::string command{};
  size_t requests = 0;
  bool writes_text = false;
  Borrowed<InferenceMetrics> metrics{};
  Borrowed<std::vector<double>> latencies_ms{};
  Environment environment{};
  static constexpr FieldInfo kFields[] = {
      Field<&Inference::command>("command", "", "the command that was measured"),
      Field<&Inference::requests>("requests", "count", "requests that were measured"),
      Field<&Inference::writes_text>("writes_text", "", "the program writes text, token by token"),
      Field<&Inference::metrics>("metrics", "", "the figures"),
      Field<&Inference::latencies_ms>("latencies_ms", "ms", "latency of each request, in order"),
      Field<&Inference::environment>("environment", "", "what a result must be compared with"),
  };
};

}  // namespace documents

namespace {

std::string LatencyText(double value) { return StrCat(FormatNumber(value, value < 10 ? 3 : 1), " ms"); }

// Joins the percentiles that are known; p50 always is.
std::string Percentiles(std::optional<double> p50, std::optional<double> p95, std::optional<double> p99) {
  std::string text = StrCat("p50 ", LatencyText(*p50));
  if (p95) text += StrCat(", p95 ", LatencyText(*p95));
  if (p99) text += StrCat(", p99 ", LatencyText(*p99));
  return text;
}

}  // namespace

// Prints one line per figure; those of tokens only for a model that writes text.
std::string InferenceText(const InferenceMetrics& metrics, const RunSample& sample) {
  std::string text = StrCat(
      "latency ", Percentiles(metrics.latency_p50_ms, metrics.latency_p95_ms, metrics.latency_p99_ms), ", mean ",
      LatencyText(metrics.latency_mean_ms), ", of ", metrics.requests, metrics.requests == 1 ? " request" : " requests",
      "\n  ", FormatNumber(metrics.requests_per_second, 1), " requests a second, one after the other");
  if (metrics.samples_per_second)
    text += StrCat("; ", FormatNumber(*metrics.samples_per_second, 1), " samples a second");
  text += "\n";
  if (metrics.time_to_first_token_p50_ms)
    text += StrCat("  time to first token ",
                   Percentiles(metrics.time_to_first_token_p50_ms, metrics.time_to_first_token_p95_ms, {}), "\n");
  if (metrics.time_per_output_token_ms)
    text += StrCat("  time per output token ", LatencyText(*metrics.time_per_output_token_ms), "\n");
  if (metrics.tokens_per_second)
    text += StrCat("  ", FormatNumber(*metrics.tokens_per_second, 1), " tokens a second\n");
  if (!metrics.latency_p99_ms) text += "  p99 needs 100 requests, p95 20\n";
  for (const std::string& seen : NoiseSeen(sample)) text += StrCat("noise: ", seen, "\n");
  return text;
}

constinit const TypeInfo kInferenceDocument = describe::MakeType<documents::Inference>();

std::string InferenceJson(const InferenceMetrics& metrics, const RunSample& sample,
                          const std::vector<std::string>& command) {
  return DocumentOf("bench",
                    documents::Inference{.command = CommandText(command),
                                         .requests = metrics.requests,
                                         .writes_text = metrics.writes_text,
                                         .metrics = {&metrics},
                                         .latencies_ms = {&metrics.latencies_ms},
                                         .environment = EnvironmentDocument(sample)},
                    NoiseSeen(sample));
}

}  // namespace gapless::internal
