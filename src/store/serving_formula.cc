// SPDX-License-Identifier: Apache-2.0
// The formulas are those of the tools' sources: vllm/benchmarks/serve.py, sglang/bench_serving.py, AIPerf's metrics
// reference, guidellm/schemas/request_stats.py. They have changed before; a metric that is not listed has no formula.
#include "store/serving_formula.h"

namespace gapless::internal {
namespace serving_formulas {
namespace {

constexpr std::string_view kFirst = "first chunk with text - start of the request",
                           kPerToken = "(latency - time to first token) / (output tokens - 1), one value a request",
                           kLatency = "end of the answer - start of the request",
                           kRequests = "requests completed / duration", kOutput = "output tokens / duration",
                           kGood = "requests that meet every objective / duration",
                           kAll = "(input tokens + output tokens) / duration", kInput = "input tokens / duration";

struct Known {
  ServingTool tool;
  std::string_view metric, formula, name;
};
constexpr Known kKnown[] = {
    {ServingTool::kVllm, "ttft", kFirst, "time_to_first_token"},
    {ServingTool::kVllm, "tpot", kPerToken, "time_per_output_token"},
    {ServingTool::kVllm, "itl", "time between two chunks of an answer, those of all requests", "inter_token_latency"},
    {ServingTool::kVllm, "e2el", kLatency, "request_latency"},
    {ServingTool::kVllm, "request_throughput", kRequests, "requests_per_second"},
    {ServingTool::kVllm, "request_goodput", kGood, "goodput"},
    {ServingTool::kVllm, "output_throughput", kOutput, "output_tokens_per_second"},
    {ServingTool::kVllm, "total_token_throughput", kAll, ""},
    {ServingTool::kSglang, "ttft", kFirst, "time_to_first_token"},
    {ServingTool::kSglang, "tpot", kPerToken, "time_per_output_token"},
    {ServingTool::kSglang, "itl", "time between two chunks / tokens of the later one, once for each of its tokens", ""},
    {ServingTool::kSglang, "e2e_latency", kLatency, "request_latency"},
    {ServingTool::kSglang, "request_throughput", kRequests, "requests_per_second"},
    {ServingTool::kSglang, "output_throughput", kOutput, "output_tokens_per_second"},
    {ServingTool::kSglang, "input_throughput", kInput, ""},
    {ServingTool::kSglang, "total_throughput", kAll, ""},
    {ServingTool::kPerf, "time_to_first_token", kFirst, "time_to_first_token"},
    {ServingTool::kPerf, "time_to_second_token", "second chunk with text - first chunk with text", ""},
    {ServingTool::kPerf, "inter_token_latency", kPerToken, "time_per_output_token"},
    {ServingTool::kPerf, "inter_chunk_latency", "time between two chunks of an answer, averaged over a request", ""},
    {ServingTool::kPerf, "request_latency", kLatency, "request_latency"},
    {ServingTool::kPerf, "output_token_throughput_per_user", "1 / inter_token_latency, one value a request", ""},
    {ServingTool::kPerf, "output_token_throughput", kOutput, "output_tokens_per_second"},
    {ServingTool::kPerf, "request_throughput", kRequests, "requests_per_second"},
    {ServingTool::kPerf, "goodput", kGood, "goodput"},
    {ServingTool::kPerf, "request_goodput", kGood, "goodput"},
    {ServingTool::kGuidellm, "time_to_first_token_ms", kFirst, "time_to_first_token"},
    {ServingTool::kGuidellm, "time_per_output_token_ms",
     "(last token - start of the request) / output tokens of a request, weighted by its tokens", ""},
    {ServingTool::kGuidellm, "inter_token_latency_ms",
     "(last token - first token) / (output tokens - 1) of a request, weighted by its tokens", "time_per_output_token"},
    {ServingTool::kGuidellm, "request_latency", kLatency, "request_latency"},
    {ServingTool::kGuidellm, "requests_per_second", kRequests, "requests_per_second"},
    {ServingTool::kGuidellm, "output_tokens_per_second", kOutput, "output_tokens_per_second"},
    {ServingTool::kGuidellm, "tokens_per_second", kAll, ""},
};

}  // namespace
}  // namespace serving_formulas

ServingFormula FormulaOf(ServingTool tool, std::string_view metric) {
  for (const auto& known : serving_formulas::kKnown)
    if (known.tool == tool && known.metric == metric) return {known.formula, known.name};
  return {};
}

}  // namespace gapless::internal
