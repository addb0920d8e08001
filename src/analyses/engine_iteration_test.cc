// SPDX-License-Identifier: Apache-2.0
// Tests the annotations of vLLM, SGLang and TensorRT-LLM, also cut names and names of other programs.
#include "analyses/engine_iteration.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

using Count = std::optional<int64_t>;

TEST(EngineIteration, VllmWritesRequestsAndTokens) {
  const auto mixed = ReadEngineIteration("execute_context_1(8)_generation_4(5)");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->prefill_requests, 1);
  EXPECT_EQ(mixed->decode_requests, 4);
  EXPECT_EQ(mixed->prefill_tokens, Count(8));
  EXPECT_EQ(mixed->decode_tokens, Count(5));
  EXPECT_FALSE(mixed->context_tokens) << "not said";
  EXPECT_EQ(mixed->phase(), Phase::kMixed);
  EXPECT_TRUE(ReadEngineIteration("execute_model context_1(8) generation_4(4)"));
}

TEST(EngineIteration, WithDetailsTheContextIsThereToo) {
  const auto decode =
      ReadEngineIteration("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)");
  ASSERT_TRUE(decode);
  EXPECT_EQ(decode->phase(), Phase::kDecode);
  EXPECT_EQ(decode->decode_requests, 32);
  EXPECT_EQ(decode->decode_tokens, Count(32));
  EXPECT_EQ(decode->context_tokens, Count(55086));
}

TEST(EngineIteration, OlderVllmSaysRequestsOnly) {
  const auto old = ReadEngineIteration("execute_new_2_cached_10");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->prefill_requests, 2);
  EXPECT_EQ(old->decode_requests, 10);
  EXPECT_FALSE(old->prefill_tokens);
}

TEST(EngineIteration, SglangAndTensorRt) {
  const auto extend = ReadEngineIteration("step[EXTEND bs=15 toks=15360]");
  ASSERT_TRUE(extend);
  EXPECT_EQ(extend->phase(), Phase::kPrefill);
  EXPECT_EQ(extend->prefill_tokens, Count(15360));
  EXPECT_EQ(ReadEngineIteration("step[DECODE bs=32]")->decode_tokens, Count(32));
  const auto executor = ReadEngineIteration("[Executor] _forward_step 12: 1 ctx reqs, 4 gen reqs");
  ASSERT_TRUE(executor);
  EXPECT_EQ(executor->prefill_requests, 1);
  EXPECT_EQ(executor->decode_requests, 4);
}

TEST(EngineIteration, OtherNamesAreNone) {
  for (const char* name :
       {"execute_model", "ProfilerStep#3", "step", "execute_backward", "Optimizer.step#Adam.step", ""})
    EXPECT_FALSE(ReadEngineIteration(name)) << name;
}

TEST(EngineIteration, NamesThatBreakOffGiveWhatTheySay) {
  const auto cut = ReadEngineIteration("execute_context_1(_generation_");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->prefill_requests, 1);
  EXPECT_FALSE(cut->prefill_tokens);
  EXPECT_EQ(ReadEngineIteration("execute_context_99999999999999999999(1)_generation_1(1)")->prefill_requests, 0);
}

}  // namespace
}  // namespace gapless::internal
