// SPDX-License-Identifier: Apache-2.0
// Tests the simulation of other numbers of ranks on programs whose times are known, and the division of work that it
// draws from. src/flows/scale_out_test.cc holds it to whole simulated jobs.
//
// The link of these recordings takes 50 µs and 0.1 ns a byte on the bus: with two ranks, bytes of the message.
#include "predict/scale_out.h"

#include <cmath>

#include "predict/fixes/testing/program.h"
#include "predict/rank_spread.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::kUs;
using testing::Program;

constexpr int64_t kMegabyte = 1'000'000, kScaleSteps = 6;
constexpr double kGrowthMean = 0.75;  // of the power with which latency grows, 0 to 1.5

int64_t BusNs(int64_t bytes) { return 50 * kUs + bytes / 10; }

// A rank of two, with 2 ms of work in each step, and two exchanges after it.
std::shared_ptr<const Trace> RankOfTwo(int64_t rank, std::string_view kind = "all_reduce", int32_t ranks = 2) {
  Program program;
  program.Rank(rank, ranks);
  program.Steps(kScaleSteps, [&] {
    program.Backward([&] {
      for (int i = 0; i < 4; ++i) program.Kernel({.op = "aten::mm", .us = 500});
    });
    for (const int64_t bytes : {kMegabyte, 4 * kMegabyte}) {
      program.AllReduce(bytes, BusNs(bytes));
      if (kind != "all_reduce") program.MarkAsCollective(kind, bytes, BusNs(bytes) / kUs);
    }
    program.Join();
  });
  return program.Finish();
}

Result<ScaleOut> Asked(std::vector<std::shared_ptr<const Trace>> traces, const ScaleOutOptions& options) {
  Analysed run(std::move(traces));
  const auto predictor = Predictor::ForRun(run.tables());
  if (!predictor || !predictor->check().accepted())
    return Fail(ErrorCode::kInput, predictor ? predictor->check().refusal : "nothing to replay");
  return PredictScaleOut(*predictor, options);
}

double Expected(const ScaleOut& scale, size_t at) { return scale.points[at].step_ns.expected.value_or(0) / kUs; }

TEST(ScaleOut, TransfersFollowTheRing) {
  const auto scale = Asked({RankOfTwo(0), RankOfTwo(1)}, {.counts = {1, 2, 8}, .per_node = 8});
  ASSERT_TRUE(scale) << scale.error().message;
  EXPECT_EQ(scale->recorded, 2);
  EXPECT_FALSE(scale->is_sharded);
  EXPECT_NEAR(scale->bus_gbps, 10, 0.1);
  EXPECT_NEAR(scale->latency_ns, 50 * kUs, kUs);
  const double two = Expected(*scale, 1);
  EXPECT_NEAR(two, 4 * 501 + 600, 40);
  EXPECT_NEAR(Expected(*scale, 0), two - 600, 15) << "one rank exchanges nothing";
  // 2 (n − 1) ÷ n is 1 with two ranks and 1.75 with eight; log 8 ÷ log 2 is 3.
  const double more = 0.75 * 500 + 2 * 50 * (std::pow(3, kGrowthMean) - 1);
  EXPECT_NEAR(Expected(*scale, 2), two + more, 60);
  EXPECT_LT(*scale->points[2].step_ns.low, *scale->points[2].step_ns.expected);
  EXPECT_NEAR(*scale->points[2].efficiency.expected, Expected(*scale, 0) / Expected(*scale, 2), 0.01);
}

TEST(ScaleOut, OneRecordedRankMeetsItsCopies) {
  const auto scale = Asked({RankOfTwo(0)}, {.counts = {2, 8}, .per_node = 8});
  ASSERT_TRUE(scale) << scale.error().message;
  EXPECT_NEAR(Expected(*scale, 0), 4 * 501 + 600, 40);
  EXPECT_GT(Expected(*scale, 1), Expected(*scale, 0) + 300);
}

TEST(ScaleOut, ALinkOfUnknownSpeedLeavesTheShortestStep) {
  const ScaleOutOptions unknown{.counts = {2, 16}, .per_node = 8};
  const auto scale = Asked({RankOfTwo(0), RankOfTwo(1)}, unknown);
  ASSERT_TRUE(scale) << scale.error().message;
  EXPECT_EQ(scale->points[0].unknown, "");
  EXPECT_EQ(scale->points[1].unknown, "more than a node of 8 ranks, over a link of unknown speed");
  EXPECT_EQ(scale->points[1].nodes, 2);
  EXPECT_TRUE(scale->points[1].step_ns.low);
  EXPECT_FALSE(scale->points[1].step_ns.expected || scale->points[1].step_ns.high);
  EXPECT_TRUE(scale->points[1].efficiency.high);
  EXPECT_FALSE(scale->points[1].efficiency.low);
  // With 5 GB/s between nodes 5 MB × 1.875 take 1.875 ms.
  const auto known = Asked({RankOfTwo(0), RankOfTwo(1)}, {.counts = {2, 16}, .per_node = 8, .link_gbps = 5});
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_NEAR(Expected(*known, 1), 4 * 501 + 1875 + 2 * 50 * 2 * std::pow(4, kGrowthMean), 250);
}

TEST(ScaleOut, RefusesWhatDoesNotGrowEvenly) {
  Program alone;
  alone.Steps(kScaleSteps, [&] { alone.Kernel({.op = "aten::mm", .us = 1000}); });
  const ScaleOutOptions options{.counts = {4}};
  EXPECT_EQ(Asked({alone.Finish()}, options).error().message,
            "no collective was recorded: what an exchange between ranks takes is not known");
  Program few;
  few.Steps(2, [&] {
    few.Backward([&] { few.Kernel({.op = "aten::mm", .us = 1000}); });
    few.AllReduce(kMegabyte, BusNs(kMegabyte)).AllReduce(4 * kMegabyte, BusNs(4 * kMegabyte)).Join();
  });
  EXPECT_EQ(Asked({few.Finish()}, options).error().message,
            "the ranks have 2 complete steps in common: how much steps differ is not known");
  Program groups;
  groups.Steps(kScaleSteps, [&] {
    groups.Rank(0, 2).Backward([&] { groups.Kernel({.op = "aten::mm", .us = 1000}); });
    groups.AllReduce(kMegabyte, BusNs(kMegabyte)).Rank(0, 4).AllReduce(4 * kMegabyte, BusNs(4 * kMegabyte)).Join();
  });
  EXPECT_EQ(Asked({groups.Finish()}, options).error().message,
            "the job communicates within groups of 2 and of 4 ranks: ranks that a recorded job is simulated with must "
            "all exchange with each other");
}

// Two ranks and two steps: 8 and 12, 10 and 10. The mean is 10, ranks are even, steps have −1 and 1 of their own, and
// what is left are ±1 with one degree of freedom: a deviation of √(4 × 0.01 ÷ 1).
TEST(RankSpread, DividesRanksStepsAndTheRest) {
  const RankSpread spread = SpreadOf(std::vector<std::vector<double>>{{8, 12}, {10, 10}});
  EXPECT_NEAR(spread.step_own[0], -0.1, 1e-12);
  EXPECT_NEAR(spread.step_own[1], 0.1, 1e-12);
  EXPECT_EQ(spread.rest_freedom, 1);
  EXPECT_NEAR(spread.rest_deviation, 0.2, 1e-12);
  EXPECT_EQ(spread.rank_deviation, 0) << "means of ranks are equal";
}

// One of eight ranks takes a fifth longer in every step; the others differ by a thousandth.
TEST(RankSpread, ASlowRankIsAnOutlierAndStaysOne) {
  std::vector<std::vector<double>> work;
  for (int rank = 0; rank < 8; ++rank) work.emplace_back(5, (rank == 3 ? 120 : 100) + 0.1 * (rank % 3));
  const RankSpread spread = SpreadOf(work);
  ASSERT_EQ(spread.rank_outliers.size(), 1U);
  EXPECT_NEAR(spread.rank_own[3] - spread.rank_own[0], 20.0 / 102.5, 0.003);
  EXPECT_LT(spread.rank_deviation, 0.002);
  NormalDraws draws(1);
  int slow = 0;
  for (int i = 0; i < 8000; ++i) slow += spread.DrawRank(draws, 1) > 0.1 ? 1 : 0;
  EXPECT_NEAR(slow, 1000, 120) << "one of eight";
}

TEST(RankSpread, DrawsHaveTheirDeviation) {
  RankSpread spread;
  spread.rest_deviation = 0.03, spread.rests = 40;
  NormalDraws draws(7);
  double sum = 0, squares = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double drawn = spread.DrawRest(draws, 2);
    sum += drawn, squares += drawn * drawn;
  }
  EXPECT_NEAR(sum / 20'000, 0, 0.0015);
  EXPECT_NEAR(std::sqrt(squares / 20'000), 0.06, 0.001);
}

}  // namespace
}  // namespace gapless::internal
