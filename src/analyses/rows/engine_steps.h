// SPDX-License-Identifier: Apache-2.0
// Table engine_steps, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct EngineStepsRows : TypedRows<EngineStepsRows> {
  static constexpr std::string_view kName = "engine_steps";
  static constexpr std::string_view kHelp =
      "Iterations of a serving engine by phase: requests, tokens, tokens per second";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"phase", kText, "", "prefill: new requests only; decode: running ones only; mixed: both"},
      {"iterations", kInt, "", "complete ones"},
      {"requests_per_iteration", kReal, "", "mean number of requests: the batch"},
      {"prefill_tokens", kInt, "", "tokens of prompts computed; NULL: not said of all"},
      {"decode_tokens", kInt, "", "tokens generated; NULL: not said of all"},
      {"context_per_request", kReal, "", "mean tokens that attention reads for a request; NULL: not said of all"},
      {"total_ns", kInt, "ns", "length of their step windows"},
      {"median_ns", kInt, "ns", "median length"},
      {"tokens_per_second", kReal, "1/s", "both kinds of tokens by total_ns; NULL: not said of all"},
  };
};

}  // namespace gapless::internal
