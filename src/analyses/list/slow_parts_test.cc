// SPDX-License-Identifier: Apache-2.0
// Tests table slow_parts: what is planted is named, as the smallest part that can be told from others; what happened
// once, or to all, names nobody.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "analyses/list/slow_parts/part.h"
#include "analyses/testing/hand_made.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

using slow_parts_analysis::AdjustedForMany;
using slow_parts_analysis::SpreadOf;
using testing::Analysed;
using testing::HandMade;
using testing::kComm;

constexpr int64_t kSlowSteps = 6;

// One rank of a job of data-parallel ranks, four to a host. A step of 10 ms: batch, three kernels, an all-reduce in
// which ranks wait, the optimizer.
struct OneRank {
  int64_t rank = 0, ranks = 16;
  double speed = 1, work = 1;
  bool grids = true;
  int64_t load_us = 0, launch_us = 0;
  std::function<int64_t(int64_t step)> pause_us = [](int64_t) { return 0; };
  bool says_garbage = false;
};

// Ranks differ a little, each in its own way that is the same in every run.
double Jitter(int64_t rank, int64_t at) {
  return 1 + 0.01 * std::sin(static_cast<double>(7 * rank + 13 * at + rank * at));
}

std::shared_ptr<const Trace> Recorded(const OneRank& one) {
  HandMade trace;
  trace.Rank(one.rank, one.ranks);
  trace.builder().info().host = StrCat("node", one.rank / 4);
  for (int64_t step = 0; step < kSlowSteps; ++step) {
    const int64_t begin = step * 10 * kMs;
    trace.Step(step, begin, begin + 10 * kMs);
    int64_t at = begin;
    if (one.load_us > 0) trace.Loader(at, at + one.load_us * kUs), at += one.load_us * kUs;
    if (const int64_t pause = one.pause_us(step) * kUs; pause > 0) {
      trace.Annotation(one.says_garbage ? kGarbageName : "something", at, at + pause);
      at += pause;
    }
    for (int64_t i = 0; i < 3; ++i) {
      const auto dur = static_cast<int64_t>(1500e3 * one.speed * one.work * Jitter(one.rank, 3 * step + i));
      const auto blocks = static_cast<int32_t>(1000 * one.work);
      trace.Kernel(i == 2 ? "attention" : "gemm",
                   {at, at + one.launch_us * kUs + 1, at + one.launch_us * kUs + 2, at + one.launch_us * kUs + dur},
                   {.grid_x = one.grids ? blocks : kAbsent32,
                    .grid_y = one.grids ? 1 : kAbsent32,
                    .grid_z = one.grids ? 1 : kAbsent32});
      at += one.launch_us * kUs + dur;
    }
    const int64_t met = begin + 9500 * kUs;
    trace.Kernel("nccl", {at, at + 1, at, met}, kComm);
    trace.Collective("all_reduce", at, met, 1'000'000, 0, 20, static_cast<int32_t>(one.ranks));
    trace.Kernel("adam", {met, met + 1, met, met + static_cast<int64_t>(500e3 * one.speed)},
                 {.grid_x = one.grids ? 64 : kAbsent32,
                  .grid_y = one.grids ? 1 : kAbsent32,
                  .grid_z = one.grids ? 1 : kAbsent32});
  }
  return trace.Finish();
}

// Sixteen ranks; `change` plants what is wrong.
std::vector<std::shared_ptr<const Trace>> JobWith(const std::function<void(OneRank&)>& change) {
  std::vector<std::shared_ptr<const Trace>> job;
  for (int64_t rank = 0; rank < 16; ++rank) {
    OneRank one{.rank = rank};
    change(one);
    job.push_back(Recorded(one));
  }
  return job;
}

TEST(SlowParts, NothingIsWrongAndNobodyIsNamed) {
  Analysed run(JobWith([](OneRank&) {}));
  EXPECT_EQ(run["slow_parts"].rows(), 0u);
}

TEST(SlowParts, ASlowDeviceIsToldFromMoreWorkByItsThreadBlocks) {
  Analysed slow(JobWith([](OneRank& one) { one.speed = one.rank == 5 ? 1.2 : 1; }));
  const auto parts = slow["slow_parts"];
  ASSERT_EQ(parts.rows(), 1u);
  EXPECT_EQ(parts.Text(0, "part"), "rank");
  EXPECT_EQ(parts.Text(0, "ranks"), "5");
  EXPECT_EQ(parts.Text(0, "kind"), "gpu");
  EXPECT_EQ(parts.Text(0, "host"), "node1");
  EXPECT_NEAR(parts.Real(0, "ratio"), 1.2, 0.02);
  EXPECT_NEAR(static_cast<double>(parts.Int(0, "excess_ns")), 0.2 * 5e6, 0.05e6);
  EXPECT_EQ(parts.Int(0, "late"), kSlowSteps - 1) << "the first is not looked at";
  EXPECT_LE(parts.Real(0, "q_value"), 0.01);

  Analysed more(JobWith([](OneRank& one) { one.work = one.rank == 5 ? 1.2 : 1; }));
  ASSERT_EQ(more["slow_parts"].rows(), 1u);
  EXPECT_EQ(more["slow_parts"].Text(0, "ranks"), "5");
  EXPECT_EQ(more["slow_parts"].Text(0, "kind"), "work");
}

TEST(SlowParts, WithoutGridsItIsNotSaidWhichOfBoth) {
  Analysed run(JobWith([](OneRank& one) { one.grids = false, one.speed = one.rank == 5 ? 1.2 : 1; }));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "kind"), "kernels");
}

TEST(SlowParts, RanksThatHaveMoreToDoAreOnePart) {
  Analysed run(JobWith([](OneRank& one) { one.work = one.rank == 3 || one.rank == 4 ? 1.3 : 1; }));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "part"), "ranks");
  EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "3-4");
}

TEST(SlowParts, AHostWhoseRanksAreLateIsNamedAsOne) {
  Analysed run(JobWith([](OneRank& one) { one.launch_us = one.rank / 4 == 2 ? 400 : 10; }));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "part"), "host");
  EXPECT_EQ(run["slow_parts"].Text(0, "kind"), "host");
  EXPECT_EQ(run["slow_parts"].Text(0, "host"), "node2");
  EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "8-11");
}

TEST(SlowParts, ALoaderThatIsLateInEveryStep) {
  Analysed run(JobWith([](OneRank& one) { one.load_us = one.rank == 9 ? 900 : 20; }));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "kind"), "loader");
  EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "9");
}

TEST(SlowParts, PausesInSomeStepsAreCounted) {
  const auto paused = [](bool garbage) {
    return JobWith([&](OneRank& one) {
      one.says_garbage = garbage;
      if (one.rank == 7) one.pause_us = [](int64_t step) { return step % 2 == 1 ? 1500 : 0; };
    });
  };
  for (const bool garbage : {false, true}) {
    Analysed run(paused(garbage));
    ASSERT_EQ(run["slow_parts"].rows(), 1u);
    EXPECT_EQ(run["slow_parts"].Text(0, "kind"), garbage ? "garbage" : "pauses");
    EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "7");
    EXPECT_EQ(run["slow_parts"].Int(0, "late"), 3);
  }
}

TEST(SlowParts, WhatHappensOnceNamesNobody) {
  Analysed run(JobWith([](OneRank& one) {
    if (one.rank == 7) one.pause_us = [](int64_t step) { return step == 2 ? 3000 : 0; };
  }));
  EXPECT_EQ(run["slow_parts"].rows(), 0u);
}

TEST(SlowParts, OneCollectionThatWasRecordedIsNoChance) {
  const auto once = [](int64_t ranks_with_one) {
    return JobWith([&](OneRank& one) {
      one.says_garbage = true;
      if (one.rank < ranks_with_one) one.pause_us = [&](int64_t step) { return step == 2 ? 3000 : 0; };
    });
  };
  Analysed run(once(1));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "kind"), "garbage");
  EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "0");
  EXPECT_EQ(run["slow_parts"].Int(0, "late"), 1);
  EXPECT_EQ(run["slow_parts"].Int(0, "tried"), 6) << "the first step, too: a pause is no waiting";
  EXPECT_EQ(Analysed(once(4))["slow_parts"].rows(), 0u) << "several ranks have one: nothing tells one from the others";
}

TEST(SlowParts, WhatHappensToAllNamesNobody) {
  Analysed run(JobWith([](OneRank& one) {
    one.load_us = 900;
    one.pause_us = [](int64_t step) { return step % 2 == 1 ? 1500 : 0; };
  }));
  EXPECT_EQ(run["slow_parts"].rows(), 0u);
}

// Groups of a job of 16 ranks: four along rows (0-3, 4-7 …) between hosts, and four along columns. Slow are the
// transfers through the ranks that `slow` names.
std::vector<std::shared_ptr<const Trace>> Meeting(const std::function<bool(int64_t rank)>& slow, bool columns) {
  std::vector<std::shared_ptr<const Trace>> job;
  for (int64_t rank = 0; rank < 16; ++rank) {
    HandMade trace;
    trace.Rank(rank, 16);
    trace.builder().info().host = StrCat("node", rank);
    for (int64_t step = 0; step < kSlowSteps; ++step) {
      const int64_t begin = step * 10 * kMs;
      trace.Step(step, begin, begin + 10 * kMs);
      trace.Kernel("gemm", {begin, begin + 1, begin, begin + 2 * kMs});
      int64_t at = begin + 2 * kMs;
      for (const bool row : {true, false}) {
        if (!row && !columns) continue;
        const int64_t group = row ? rank / 4 : rank % 4;
        bool is_slow = false;
        for (int64_t other = 0; other < 16; ++other) is_slow |= (row ? other / 4 : other % 4) == group && slow(other);
        const int64_t dur = (is_slow ? 2400 : 1000 + 10 * group) * kUs;
        trace.Kernel("nccl", {at, at + 1, at, at + dur}, kComm);
        trace.shard().Add(CollectiveRow{.name = trace.shard().Text("nccl"),
                                        .kind = trace.shard().Text("all_reduce"),
                                        .group = trace.shard().Text(StrCat(row ? "row" : "column", group)),
                                        .device = 0,
                                        .stream = 20,
                                        .ts_ns = at,
                                        .dur_ns = dur,
                                        .group_size = 4,
                                        .bytes = 1'000'000});
        at = begin + (row ? 5 : 8) * kMs;
      }
    }
    job.push_back(trace.Finish());
  }
  return job;
}

TEST(SlowParts, ASlowLinkIsWhereItsSlowPathsMeet) {
  Analysed run(Meeting([](int64_t rank) { return rank == 6; }, true));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "part"), "rank");
  EXPECT_EQ(run["slow_parts"].Text(0, "kind"), "link");
  EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "6");
  EXPECT_NEAR(run["slow_parts"].Real(0, "ratio"), 2.4, 0.1);
  EXPECT_EQ(run["slow_parts"].Text(0, "what"), "all_reduce");
}

TEST(SlowParts, WhereRanksMeetNowhereElseTheGroupIsNamed) {
  Analysed run(Meeting([](int64_t rank) { return rank == 6; }, false));
  ASSERT_EQ(run["slow_parts"].rows(), 1u);
  EXPECT_EQ(run["slow_parts"].Text(0, "part"), "group");
  EXPECT_EQ(run["slow_parts"].Text(0, "group"), "row1");
  EXPECT_EQ(run["slow_parts"].Text(0, "ranks"), "4-7");
}

TEST(SlowParts, AllLinksAlikeNameNobody) {
  Analysed run(Meeting([](int64_t) { return true; }, true));
  EXPECT_EQ(run["slow_parts"].rows(), 0u);
}

// scipy.stats.false_discovery_control([0.01, 0.02, 0.03, 0.04, 0.5]), and by hand.
TEST(SlowParts, ManyTestsAreCorrectedAsBenjaminiAndHochbergDo) {
  const std::vector<double> p{0.5, 0.01, 0.04, 0.02, 0.03};
  const std::vector<double> expected{0.5, 0.05, 0.05, 0.05, 0.05};
  const std::vector<double> q = AdjustedForMany(p);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(q[i], expected[i], 1e-12);
  EXPECT_TRUE(AdjustedForMany({}).empty());
}

TEST(SlowParts, SpreadIsTheDeviationOfNormalValuesAndHeedsNoOutlier) {
  std::vector<double> values;
  for (int i = -50; i <= 50; ++i) values.push_back(i);
  values.push_back(1e9);
  EXPECT_NEAR(SpreadOf(values, 0), 1.4826 * 25.5, 1);
}

}  // namespace
}  // namespace gapless::internal
