// SPDX-License-Identifier: Apache-2.0
// Tests the grouping of model calls into requests, with and without a cache.
#include "trial/requests.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

// One after the other: a call of 10 ns starts every 15 ns.
std::vector<ModelCall> Calls(std::initializer_list<int64_t> tokens) {
  std::vector<ModelCall> calls;
  for (const int64_t count : tokens) {
    const auto number = static_cast<int64_t>(calls.size());
    calls.push_back({.step = number, .start_unix_ns = 15 * number, .dur_ns = 10, .rows = 4, .tokens = count});
  }
  return calls;
}

std::vector<size_t> CallsOf(const InferenceRequests& found) {
  std::vector<size_t> counts;
  for (const InferenceRequest& request : found.requests) counts.push_back(request.calls);
  return counts;
}

TEST(Requests, WithoutTokensACallIsARequest) {
  const InferenceRequests found = RequestsOf(Calls({0, 0, 0}), true);
  EXPECT_FALSE(found.writes_text);
  EXPECT_EQ(CallsOf(found), (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(found.requests[1].latency_ns, 10);
  EXPECT_EQ(found.requests[1].rows, 4);
}

TEST(Requests, OneCallOnItsOwnIsARequest) {
  const InferenceRequests found = RequestsOf(Calls({0}), true);
  EXPECT_FALSE(found.writes_text);
  EXPECT_EQ(CallsOf(found), std::vector<size_t>{1});
}

TEST(Requests, ATextIsThePromptAndOneTokenAfterTheOther) {
  const InferenceRequests found = RequestsOf(Calls({7, 1, 1, 1, 9, 1, 1}), false);
  EXPECT_TRUE(found.writes_text);
  EXPECT_EQ(CallsOf(found), (std::vector<size_t>{4, 3}));
  EXPECT_EQ(found.requests[0].first_token_ns, 10);
  EXPECT_EQ(found.requests[0].latency_ns, 3 * 15 + 10);  // with what lies between the calls
}

TEST(Requests, WithoutACacheTheInputGrowsByOne) {
  EXPECT_EQ(CallsOf(RequestsOf(Calls({5, 6, 7, 5, 6, 7, 8}), false)), (std::vector<size_t>{3, 4}));
}

TEST(Requests, WhatBeganBeforeOrIsNotOverIsLeftOut) {
  EXPECT_EQ(CallsOf(RequestsOf(Calls({1, 1, 7, 1, 1, 8, 1}), true)), (std::vector<size_t>{3}));
  EXPECT_EQ(CallsOf(RequestsOf(Calls({1, 1, 1}), false)), std::vector<size_t>{});
}

TEST(Requests, APromptOfOneTokenIsNotTold) {  // it looks like one more token of the request before
  EXPECT_EQ(CallsOf(RequestsOf(Calls({5, 1, 1, 1, 1}), false)), (std::vector<size_t>{5}));
}

TEST(Requests, AClassifierOfTextsWritesNone) {
  const InferenceRequests same = RequestsOf(Calls({128, 128, 128}), false);
  EXPECT_FALSE(same.writes_text);
  EXPECT_EQ(same.requests.size(), 3U);
  const InferenceRequests by_chance = RequestsOf(Calls({30, 31, 12, 99, 5}), false);  // one longer, once
  EXPECT_EQ(by_chance.requests.size(), 5U);
}

TEST(Requests, AnotherBatchIsAnotherRequest) {
  std::vector<ModelCall> calls = Calls({5, 1, 1, 1, 5, 1, 1, 1});
  for (size_t i = 2; i < 4; ++i) calls[i].rows = 2;
  EXPECT_EQ(CallsOf(RequestsOf(calls, false)), (std::vector<size_t>{2, 2, 4}));
}

TEST(Requests, OfNothingAreNone) {
  EXPECT_TRUE(RequestsOf({}, true).requests.empty());
  EXPECT_TRUE(RequestsOf({}, false).requests.empty());
}

}  // namespace
}  // namespace gapless::internal
