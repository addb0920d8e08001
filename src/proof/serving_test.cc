// SPDX-License-Identifier: Apache-2.0
// Tests the figures of a load on requests written down by hand.
#include "proof/serving.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

constexpr int64_t kMsNs = 1'000'000;

// A request of three chunks: text after `first` ms, then every `gap` ms; the answer ends with the last one.
ServedRequest Answered(int64_t start_ms, int64_t first_ms, int64_t gap_ms, std::optional<int64_t> tokens = 3) {
  ServedRequest request{.start_ns = start_ms * kMsNs, .latency_ns = (first_ms + 2 * gap_ms) * kMsNs};
  for (int64_t chunk = 0; chunk < 3; ++chunk) request.text_ns.push_back((first_ms + chunk * gap_ms) * kMsNs);
  request.output_tokens = tokens;
  return request;
}

ServingMetrics Of(std::vector<ServedRequest> requests, const ServingObjectives& wanted = {}) {
  ServedLoad load;
  load.requests = std::move(requests);
  const auto metrics = ServingMetricsOf(load, wanted);
  EXPECT_TRUE(metrics) << metrics.error().ToString();
  return metrics ? *metrics : ServingMetrics();
}

TEST(Serving, FiguresOfTwoRequests) {
  const ServingMetrics metrics = Of({Answered(0, 10, 5), Answered(30, 20, 10)});
  EXPECT_EQ(metrics.requests, 2U);
  EXPECT_DOUBLE_EQ(*metrics.ttft.p50, 15);
  EXPECT_DOUBLE_EQ(*metrics.tpot.p50, 7.5) << "5 and 10 ms a token";
  EXPECT_DOUBLE_EQ(*metrics.itl.p50, 7.5) << "5, 5, 10, 10";
  EXPECT_DOUBLE_EQ(*metrics.latency.p50, 30) << "20 and 40";
  EXPECT_DOUBLE_EQ(metrics.duration_s, 0.070) << "from 0 to 30 + 40";
  EXPECT_DOUBLE_EQ(metrics.requests_per_second, 2 / 0.070);
  EXPECT_DOUBLE_EQ(*metrics.output_tokens_per_second, 6 / 0.070);
  EXPECT_FALSE(metrics.ttft.p95) << "of 20 requests and more";
  EXPECT_FALSE(metrics.good_share) << "no objective";
}

// A chunk may bring several tokens: TPOT is by tokens, the latency between chunks is not.
TEST(Serving, ChunksAreNoTokens) {
  const ServingMetrics metrics = Of({Answered(0, 10, 6, 7)});
  EXPECT_DOUBLE_EQ(*metrics.tpot.p50, 2) << "12 ms for six further tokens";
  EXPECT_DOUBLE_EQ(*metrics.itl.p50, 6);
}

TEST(Serving, TokensThatAreNotCountedAreNotKnown) {
  const ServingMetrics metrics = Of({Answered(0, 10, 5), Answered(0, 10, 5, std::nullopt)}, {.tpot_ms = 100});
  EXPECT_FALSE(metrics.output_tokens_per_second);
  EXPECT_FALSE(metrics.good_share) << "one of them cannot be judged";
  EXPECT_DOUBLE_EQ(*metrics.tpot.p50, 5) << "of those that are counted";
}

TEST(Serving, AGoodRequestKeepsEveryObjective) {
  const std::vector<ServedRequest> four = {Answered(0, 10, 5), Answered(0, 40, 5), Answered(0, 10, 30),
                                           Answered(0, 40, 30)};
  EXPECT_DOUBLE_EQ(*Of(four, {.ttft_ms = 20}).good_share, 0.5);
  EXPECT_DOUBLE_EQ(*Of(four, {.ttft_ms = 20, .tpot_ms = 20}).good_share, 0.25);
  EXPECT_DOUBLE_EQ(*Of(four, {.latency_ms = 70}).good_share, 0.75) << "70 ms keeps an objective of 70 ms";
  EXPECT_DOUBLE_EQ(*Of(four, {.ttft_ms = 20}).good_requests_per_second, 2 / 0.1);
}

TEST(Serving, WhatFailedIsInNoFigureButGoodput) {
  ServedRequest failed{.start_ns = 0, .latency_ns = 900 * kMsNs};
  failed.failure = "HTTP 503";
  const ServingMetrics metrics = Of({failed, Answered(100, 10, 5)}, {.ttft_ms = 20});
  EXPECT_EQ(metrics.requests, 1U);
  EXPECT_EQ(metrics.failed, 1U);
  EXPECT_DOUBLE_EQ(metrics.duration_s, 0.020);
  EXPECT_DOUBLE_EQ(*metrics.good_share, 0.5);
  EXPECT_EQ(metrics.failures, std::vector<std::string>{"1 request failed: HTTP 503"});
  ServedLoad none;
  none.requests = {failed, failed};
  const auto nothing = ServingMetricsOf(none, {});
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("2 requests failed: HTTP 503"), std::string::npos);
}

TEST(Serving, PercentilesNeedValuesBeyondThem) {
  std::vector<ServedRequest> many;
  for (int64_t i = 0; i < 40; ++i) many.push_back(Answered(i, 10 + i, 1));
  const ServingMetrics metrics = Of(many);
  EXPECT_DOUBLE_EQ(*metrics.ttft.p95, 10 + 0.95 * 39);
  EXPECT_FALSE(metrics.ttft.p99);
  EXPECT_FALSE(metrics.itl.p99) << "80 gaps";
}

}  // namespace
}  // namespace gapless::internal
