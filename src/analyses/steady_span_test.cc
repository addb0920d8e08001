// SPDX-License-Identifier: Apache-2.0
// Tests SteadySpan: edges that are excluded, and gaps that belong to the work.
#include "analyses/steady_span.h"

#include <gtest/gtest.h>

#include "analyses/one_offs.h"
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

// Tests RepeatedSpan: it finds repetitions at their usual pace without marks. A recording is a list of repetitions.

namespace {

using testing::HandMade;

constexpr int64_t kKernelNs = 300'000;

class Recording {
 public:
  // `count` kernels of the names "conv_0" to "conv_6" in turn, each followed by a pause.
  void Repetition(int64_t pause_ns, int count = 60) {
    for (int i = 0; i < count; ++i) Kernel("conv_" + std::to_string(i % 7), pause_ns);
  }
  void Kernel(const std::string& name, int64_t pause_ns) {
    made_.Kernel(name, {at_, at_ + 5'000, at_ + 6'000, at_ + 6'000 + kKernelNs}, {.device = 0, .stream = 7});
    at_ += 6'000 + kKernelNs + pause_ns;
  }
  void Pause(int64_t ns) { at_ += ns; }
  int64_t at() const { return at_; }
  std::optional<Interval> Found() {
    const auto trace = made_.Finish();
    return RepeatedSpan(*trace, DeviceWork(*trace), {0, at_});
  }

 private:
  HandMade made_;
  int64_t at_ = 0;
};

TEST(RepeatedSpan, LeavesOutTheSlowStartAndWhatComesBefore) {
  Recording recording;
  for (int i = 0; i < 40; ++i) recording.Kernel("upload", 1'000'000);
  recording.Repetition(5'000'000);  // the first one loads code
  recording.Pause(20'000'000);
  const int64_t begin = recording.at();
  for (int i = 0; i < 5; ++i) recording.Repetition(0), recording.Pause(60'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(found->start), static_cast<double>(begin), 10'000);
  EXPECT_NEAR(static_cast<double>(found->end), static_cast<double>(recording.at()), 100'000);
}

TEST(RepeatedSpan, IsAllOfARecordingThatRepeatsFromTheFirstOperationOn) {
  Recording recording;
  for (int i = 0; i < 5; ++i) recording.Repetition(10'000), recording.Pause(60'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_LT(found->start, 20'000);
}

TEST(RepeatedSpan, IsNothingWhereMostWorkIsDoneOnce) {
  Recording recording;
  for (int i = 0; i < 200; ++i) recording.Kernel("once_" + std::to_string(i), 10'000);
  for (int i = 0; i < 5; ++i) recording.Repetition(10'000, 14);
  EXPECT_FALSE(recording.Found());
}

TEST(RepeatedSpan, KeepsWhatIsAsFastAsTheRepetitions) {
  Recording recording;
  for (int i = 0; i < 60; ++i) recording.Kernel("forward_" + std::to_string(i), 10'000);
  for (int i = 0; i < 12; ++i) recording.Repetition(10'000, 14);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->start, 0);
}

// Three iterations of which the first loads code: what is alike in sixty operations is no chance.
TEST(RepeatedSpan, TwoLongOnesBehindASlowOneAreEnough) {
  Recording recording;
  recording.Repetition(1'000'000);
  recording.Pause(100'000);
  const int64_t begin = recording.at();
  for (int i = 0; i < 2; ++i) recording.Repetition(10'000), recording.Pause(100'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(found->start), static_cast<double>(begin), 10'000);
}

TEST(RepeatedSpan, IsNothingOfTwoRepetitions) {
  Recording recording;
  for (int i = 0; i < 2; ++i) recording.Repetition(10'000), recording.Pause(60'000);
  EXPECT_FALSE(recording.Found());
}

TEST(RepeatedSpan, OfOneKernelAgainAndAgainIsAllOfIt) {
  Recording recording;
  for (int i = 0; i < 50; ++i) recording.Kernel("gemm", 10'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_LT(found->start, 20'000);
}

}  // namespace

}  // namespace gapless::internal
