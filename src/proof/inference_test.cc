// SPDX-License-Identifier: Apache-2.0
// Tests the inference metrics on simulated requests.
#include "proof/inference.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

constexpr int64_t kMs = 1'000'000;

// Requests of a prompt of 20 ms and nine tokens of 5 ms each for 4 rows, with 15 ms between them: 80 ms each.
RunSample Writes(int requests) {
  RunSample sample;
  sample.source = SampleSource::kSteps;
  int64_t now = 1'000'000'000;
  for (int request = 0; request < requests; ++request) {
    for (int call = 0; call < 10; ++call) {
      const int64_t dur = (call == 0 ? 20 : 5) * kMs;
      sample.calls.push_back({.start_unix_ns = now, .dur_ns = dur, .rows = 4, .tokens = call == 0 ? 32 : 1});
      now += dur;
    }
    now += 15 * kMs;
  }
  return sample;
}

TEST(Inference, OfTextKnowsTokens) {
  const auto metrics = InferenceOf(Writes(30));
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->requests, 30U);
  EXPECT_EQ(metrics->latency_p50_ms, 65);
  EXPECT_EQ(metrics->latency_p95_ms, 65);
  EXPECT_FALSE(metrics->latency_p99_ms);  // thirty requests do not show it
  EXPECT_EQ(metrics->time_to_first_token_p50_ms, 20);
  EXPECT_EQ(metrics->time_per_output_token_ms, 5);
  EXPECT_NEAR(metrics->requests_per_second, 30 / (30 * 0.080 - 0.015), 1e-9);
  EXPECT_NEAR(*metrics->tokens_per_second, 30 * 40 / (30 * 0.080 - 0.015), 1e-9);
}

TEST(Inference, ARequestThatWasCutOffDoesNotCount) {
  RunSample sample = Writes(3);
  sample.stopped = true;
  EXPECT_EQ(InferenceOf(sample)->requests, 2U);
}

TEST(Inference, OfSingleCallsHasNoTokens) {
  RunSample sample;
  for (int64_t i = 0; i < 100; ++i)
    sample.calls.push_back({.start_unix_ns = i * 10 * kMs, .dur_ns = (i + 1) * kMs / 10, .rows = 8});
  const auto metrics = InferenceOf(sample);
  ASSERT_TRUE(metrics);
  EXPECT_NEAR(metrics->latency_p50_ms, 5.05, 1e-9);
  EXPECT_NEAR(*metrics->latency_p99_ms, 9.901, 1e-9);
  EXPECT_NEAR(*metrics->samples_per_second, 800, 1e-9);
  EXPECT_FALSE(metrics->tokens_per_second || metrics->time_to_first_token_p50_ms);
}

TEST(Inference, RowsThatAreNotKnownGiveNoRate) {
  RunSample sample = Writes(3);
  sample.calls[4].rows.reset();  // which also breaks its request in two
  const auto metrics = InferenceOf(sample);
  ASSERT_TRUE(metrics);
  EXPECT_FALSE(metrics->samples_per_second);
  EXPECT_FALSE(metrics->tokens_per_second);
}

TEST(Inference, NumbersOfTheOutputAreLatencies) {
  RunSample sample;
  sample.source = SampleSource::kPattern;
  sample.values = {10, 20, 30};
  const auto metrics = InferenceOf(sample);
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->latency_p50_ms, 20);
  EXPECT_EQ(metrics->requests_per_second, 50);
}

TEST(Inference, WithoutCallsIsAnError) { EXPECT_FALSE(InferenceOf(RunSample())); }

}  // namespace
}  // namespace gapless::internal
