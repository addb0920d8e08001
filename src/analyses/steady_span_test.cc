// SPDX-License-Identifier: Apache-2.0
// Tests SteadySpan: edges that are excluded, and gaps that belong to the work.
#include "analyses/steady_span.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

// In ms.
Interval Ms(int64_t start, int64_t end) { return {start * kMs, end * kMs}; }

// `count` kernels of `length` ms, `gap` ms apart, from `start` ms.
Intervals Kernels(int64_t start, int count, int64_t length, int64_t gap) {
  start *= kMs, length *= kMs, gap *= kMs;
  Intervals busy;
  for (int i = 0; i < count; ++i) busy.push_back({start + i * (length + gap), start + i * (length + gap) + length});
  return busy;
}

Intervals Both(Intervals a, const Intervals& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(SteadySpan, ALoneKernelLongBeforeTheWorkIsSetAside) {
  const Intervals busy = Both({Ms(0, 10)}, Kernels(1000, 100, 10, 1));
  EXPECT_EQ(SteadySpan(busy, {0, busy.back().end}), (Interval{1000 * kMs, busy.back().end}));
}

TEST(SteadySpan, AndSoIsOneLongAfterIt) {
  const Intervals work = Kernels(0, 100, 10, 1);
  const Intervals busy = Both(work, {Ms(5000, 5010)});
  EXPECT_EQ(SteadySpan(busy, Ms(0, 5010)), (Interval{0, work.back().end}));
}

TEST(SteadySpan, ALaunchLongBeforeTheFirstKernelIsAnEdge) {
  const Intervals busy = Kernels(1000, 100, 10, 1);
  EXPECT_EQ(SteadySpan(busy, {0, busy.back().end}).start, 1000 * kMs);
}

TEST(SteadySpan, APauseThatComesAgainBelongsToTheWork) {
  // Copies a batch, waits 500 for the next, computes: again and again.
  const Intervals busy = Both({Ms(0, 1)}, Kernels(500, 10, 100, 400));
  EXPECT_EQ(SteadySpan(busy, {0, busy.back().end}), (Interval{0, busy.back().end}));
}

TEST(SteadySpan, MuchWorkBeforeAGapStays) {
  const Intervals busy = Both(Kernels(0, 10, 10, 1), Kernels(5000, 100, 10, 1));
  EXPECT_EQ(SteadySpan(busy, {0, busy.back().end}), (Interval{0, busy.back().end}));
}

TEST(SteadySpan, AShortGapStays) {
  const Intervals busy = Both({Ms(0, 1)}, Kernels(40, 100, 10, 1));  // 39 of 1139
  EXPECT_EQ(SteadySpan(busy, {0, busy.back().end}).start, 0);
}

TEST(SteadySpan, WhatALaunchTakesIsNoEdge) {
  EXPECT_EQ(SteadySpan({{50'000, 90'000}}, {0, 90'000}), (Interval{0, 90'000}));
}

TEST(SteadySpan, WithoutWorkOrWithOneKernelAllRemains) {
  EXPECT_EQ(SteadySpan({}, Ms(0, 100)), Ms(0, 100));
  EXPECT_EQ(SteadySpan({Ms(90, 100)}, Ms(0, 100)), Ms(90, 100)) << "only the work";
}

}  // namespace
}  // namespace gapless::internal
