// SPDX-License-Identifier: Apache-2.0
// The causes of a difference: each definition by a small pair, then random ledgers, whose causes must add up.
#include "diagnose/step_difference.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace gapless::internal {
namespace {

StepPart Kernel(std::string name, std::string op, int64_t calls, int64_t ns) {
  return {.part = "compute", .name = std::move(name), .op = std::move(op), .calls = calls, .ns = ns};
}
StepPart Part(std::string part, std::string name, int64_t ns) {
  return {.part = std::move(part), .name = std::move(name), .calls = 1, .ns = ns};
}

StepLedger LedgerOfParts(std::vector<StepPart> parts, int64_t steps = 1) {
  StepLedger ledger{.steps = steps, .devices = 1, .on_device = true, .parts = std::move(parts), .operators = {"op"}};
  for (const StepPart& part : ledger.parts) ledger.wall_ns += part.ns;
  return ledger;
}

StepDifference Between(const StepLedger& a, const StepLedger& b) {
  const auto difference = DifferenceOf(a, b);
  EXPECT_TRUE(difference) << difference.error().message;
  return difference ? *difference : StepDifference{};
}

int64_t NsOf(const StepDifference& difference, CauseKind kind) {
  for (const Cause& cause : difference.causes)
    if (cause.kind == kind) return cause.ns;
  return 0;
}

void ExpectAddsUp(const StepDifference& difference) {
  int64_t all = 0;
  for (const Cause& cause : difference.causes) {
    int64_t rows = 0;
    for (const CauseRow& row : cause.rows) rows += row.ns;
    ASSERT_EQ(rows, cause.ns) << NameOf(cause.kind);
    all += cause.ns;
  }
  ASSERT_EQ(all, difference.b_ns - difference.a_ns);
}

TEST(StepDifference, MoreCallsCountAtTheMeanOfBothDurations) {
  const auto difference =
      Between(LedgerOfParts({Kernel("gemm", "op", 2, 200)}), LedgerOfParts({Kernel("gemm", "op", 3, 360)}));
  EXPECT_EQ(NsOf(difference, CauseKind::kKernelCount), 110) << "one more call, of 100 and 120 ns";
  EXPECT_EQ(NsOf(difference, CauseKind::kKernelTime), 50);
  ExpectAddsUp(difference);
}

TEST(StepDifference, MoreAndShorterCallsDoNotCancelEachOther) {
  const auto difference =
      Between(LedgerOfParts({Kernel("add", "op", 32, 5000)}), LedgerOfParts({Kernel("add", "op", 800, 9000)}));
  ASSERT_EQ(difference.causes.size(), 1u);
  EXPECT_EQ(difference.causes[0].kind, CauseKind::kKernelCount);
  EXPECT_EQ(difference.causes[0].ns, 4000);
}

TEST(StepDifference, OtherKernelsOfOneOperatorAreOneRow) {
  const auto difference =
      Between(LedgerOfParts({Kernel("sgemm", "op", 1, 500)}), LedgerOfParts({Kernel("bf16", "op", 1, 200)}));
  ASSERT_EQ(difference.causes.size(), 1u);
  EXPECT_EQ(difference.causes[0].kind, CauseKind::kOtherKernels);
  ASSERT_EQ(difference.causes[0].rows.size(), 1u);
  EXPECT_EQ(difference.causes[0].rows[0].ns, -300);
  EXPECT_EQ(difference.causes[0].rows[0].presence, Presence::kBoth);
}

TEST(StepDifference, WorkOfAnOperatorThatOneDoesNotHaveIsTheOperators) {
  StepLedger b =
      LedgerOfParts({Kernel("gemm", "op", 1, 500), Kernel("gemm", "new", 1, 70), Part("idle_launch", "new", 5)});
  b.operators = {"new", "op"};
  const auto difference = Between(LedgerOfParts({Kernel("gemm", "op", 1, 500)}), b);
  EXPECT_EQ(NsOf(difference, CauseKind::kOperators), 75);
}

TEST(StepDifference, ClocksExplainAsMuchAsTheySlow) {
  StepLedger a = LedgerOfParts({Kernel("gemm", "op", 1, 1000)}), b = LedgerOfParts({Kernel("gemm", "op", 1, 1500)});
  a.clock_hz = 1.5e9, b.clock_hz = 1.2e9;
  const auto difference = Between(a, b);
  EXPECT_EQ(NsOf(difference, CauseKind::kClock), 300) << "at A's clock 1500 ns would be 1200";
  EXPECT_EQ(NsOf(difference, CauseKind::kKernelTime), 200);
  b.parts[0].ns = b.wall_ns = 1100;
  EXPECT_EQ(NsOf(Between(a, b), CauseKind::kClock), 100) << "at most the difference";
}

TEST(StepDifference, LaunchingAfterAWaitIsTheWaits) {
  StepPart after = Part("idle_launch", "op", 40);
  after.after_wait = true;
  const auto difference =
      Between(LedgerOfParts({Part("idle_launch", "op", 10)}), LedgerOfParts({Part("idle_launch", "op", 10), after}));
  EXPECT_EQ(NsOf(difference, CauseKind::kSync), 40);
  EXPECT_EQ(NsOf(difference, CauseKind::kLaunch), 0);
}

TEST(StepDifference, CopiesMatchByDirection) {
  const auto difference = Between(LedgerOfParts({Part("exposed_copy", "h2d_pageable", 30)}),
                                  LedgerOfParts({Part("exposed_copy", "h2d_pinned", 10)}));
  ASSERT_EQ(difference.causes.size(), 1u);
  ASSERT_EQ(difference.causes[0].rows.size(), 1u);
  EXPECT_EQ(difference.causes[0].rows[0].name, "h2d_pageable → h2d_pinned");
}

TEST(StepDifference, FramesMatchWhereverTheyStand) {
  const auto difference = Between(LedgerOfParts({Part("idle_host", "train.py(41): log", 10)}),
                                  LedgerOfParts({Part("idle_host", "train.py(57): log", 30)}));
  ASSERT_EQ(difference.causes.size(), 1u);
  EXPECT_EQ(difference.causes[0].rows.size(), 1u);
}

TEST(StepDifference, StepsAreMeansAndRoundedOnce) {
  const auto difference = Between(LedgerOfParts({Part("idle_data", "", 5), Part("idle_sync", "", 5)}, 3),
                                  LedgerOfParts({Part("idle_data", "", 7), Part("idle_sync", "", 7)}, 3));
  EXPECT_EQ(difference.a_ns, 3) << "10 of 3 steps";
  EXPECT_EQ(difference.b_ns, 5) << "14 of 3 steps";
  ExpectAddsUp(difference);
}

TEST(StepDifference, OnlyLikeIsCompared) {
  StepLedger a = LedgerOfParts({Part("idle_data", "", 5)}), b = a;
  b.steps = 0;
  EXPECT_FALSE(DifferenceOf(a, b));
  b = a, b.on_device = false;
  EXPECT_FALSE(DifferenceOf(a, b));
}

StepLedger Random(std::mt19937& rng) {
  const auto below = [&](int64_t limit) { return std::uniform_int_distribution<int64_t>(0, limit - 1)(rng); };
  constexpr std::string_view kParts[] = {"compute",   "compute",     "compute",   "exposed_comm", "exposed_copy",
                                         "idle_data", "idle_launch", "idle_sync", "idle_host",    "idle_unknown"};
  StepLedger ledger{.steps = 1 + below(9), .devices = 1, .on_device = true};
  if (below(2) == 0) ledger.clock_hz = 1e9 + static_cast<double>(below(1'000'000'000));
  const int64_t count = below(40);
  for (int64_t i = 0; i < count; ++i) {
    StepPart part{
        .part = std::string(kParts[static_cast<size_t>(below(10))]), .calls = below(20), .ns = below(1'000'000)};
    part.name = "name" + std::to_string(below(8)) + std::string(static_cast<size_t>(below(2) * 90), 'x');
    if (part.part == "compute") part.op = "op" + std::to_string(below(4));
    part.after_wait = part.part == "idle_launch" && below(2) == 0;
    ledger.wall_ns += part.ns;
    ledger.parts.push_back(part);
  }
  for (int i = 0; i < 8; ++i)
    if (below(3) > 0) ledger.operators.push_back((i < 4 ? "op" : "name") + std::to_string(i % 4));
  std::ranges::sort(ledger.operators);
  return ledger;
}

TEST(StepDifference, CausesOfRandomLedgersAddUp) {
  std::mt19937 rng(5);
  for (int round = 0; round < 2000; ++round) {
    const StepLedger a = Random(rng), b = Random(rng);
    const auto difference = Between(a, b);
    ASSERT_EQ(difference.a_ns, (2 * a.wall_ns + a.steps) / (2 * a.steps));
    ExpectAddsUp(difference);
  }
}

TEST(StepDifference, TheOtherWayRoundIsTheSameWithTheOtherSign) {
  std::mt19937 rng(7);
  for (int round = 0; round < 200; ++round) {
    StepLedger a = Random(rng), b = Random(rng);
    a.clock_hz.reset();
    const auto there = Between(a, b), back = Between(b, a);
    for (const Cause& cause : there.causes)
      ASSERT_LE(std::abs(cause.ns + NsOf(back, cause.kind)), static_cast<int64_t>(cause.rows.size())) << "rounding";
  }
}

TEST(StepDifference, StoredLedgersAddUpToTheSameStep) {
  std::mt19937 rng(6);
  for (int round = 0; round < 50; ++round) {
    StepLedger a = Random(rng), b = Random(rng);
    for (int more = 0; more < 60; ++more) {
      a.parts.push_back(Kernel("a kernel with a name of some length " + std::to_string(more), "op0", 3, 1000 * more));
      a.wall_ns += 1000 * more;
    }
    const std::string text = StoredLedger(a);
    ASSERT_LE(text.size(), kMostLedgerBytes);
    const auto stored = ReadStoredLedger(text);
    ASSERT_TRUE(stored) << stored.error().message;
    for (const auto& [one, two] : {std::pair(*stored, b), std::pair(b, *stored), std::pair(*stored, *stored)}) {
      const auto difference = Between(one, two);
      ExpectAddsUp(difference);
      const int64_t expected = Between(one.summed_below_ns > 0 ? a : one, two.summed_below_ns > 0 ? a : two).ns();
      ASSERT_EQ(difference.ns(), expected);
    }
  }
}

TEST(StepLedger, ANewerOneIsRefused) {
  EXPECT_TRUE(ReadStoredLedger(R"({"version":1,"steps":1,"devices":1,"wall_ns":5,"parts":[]})"));
  const auto newer = ReadStoredLedger(R"({"version":9,"steps":1,"devices":1,"wall_ns":5,"parts":[]})");
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("has version 9, and gapless"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
