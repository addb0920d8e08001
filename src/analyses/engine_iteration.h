// SPDX-License-Identifier: Apache-2.0
// Reads the annotations of serving engines: the requests of an iteration, and their tokens.
//
//   vLLM          execute_context_1(8)_generation_4(4)
//   with details  execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)
//   older         execute_new_2_cached_10
//   SGLang        step[EXTEND bs=15 toks=15360], step[DECODE bs=32]
//   TensorRT-LLM  [Executor] _forward_step 12: 1 ctx reqs, 4 gen reqs
//
// In brackets stand tokens that the iteration computes, or sums over its requests: sq of query tokens, sk of the tokens
// that attention reads (the context).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gapless::internal {

enum class Phase : uint8_t { kPrefill, kDecode, kMixed };
inline constexpr std::string_view kPhaseNames[] = {"prefill", "decode", "mixed"};

struct EngineIteration {
  int64_t prefill_requests = 0, decode_requests = 0;
  std::optional<int64_t> prefill_tokens, decode_tokens;  // absent: not said
  std::optional<int64_t> context_tokens;                 // that attention reads, summed over the requests

  Phase phase() const {
    if (prefill_requests == 0) return Phase::kDecode;
    return decode_requests == 0 ? Phase::kPrefill : Phase::kMixed;
  }
};

// Absent: `name` is no engine's iteration.
std::optional<EngineIteration> ReadEngineIteration(std::string_view name);

}  // namespace gapless::internal
