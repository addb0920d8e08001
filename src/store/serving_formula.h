// SPDX-License-Identifier: Apache-2.0
// Benchmarks of servers use the same words for different numbers: what AIPerf and guidellm call inter-token latency is
// TPOT to vLLM and SGLang, whose own inter-token latency is a gap between two chunks. So each number has its formula
// beside it, and the one name that it has here (docs/definitions.md, Requests to a server).
#pragma once

#include <string_view>

namespace gapless::internal {

enum class ServingTool { kVllm, kSglang, kPerf, kGuidellm };  // kPerf: genai-perf and AIPerf

struct ServingFormula {
  std::string_view formula{};  // how the tool computes it; empty: not known
  std::string_view name{};     // the name of that quantity here; empty: it has none
};

// `metric` as the tool calls it, without what says the statistic: "ttft", "e2e_latency", "inter_token_latency_ms".
ServingFormula FormulaOf(ServingTool tool, std::string_view metric);

}  // namespace gapless::internal
