// SPDX-License-Identifier: Apache-2.0
#include "predict/typical_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyses/testing/hand_made.h"
#include "predict/predictor.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(FindTypical, TakesStepsOfEachKindInTheirShare) {
  // Every fourth step is long, so four steps hold one.
  const std::vector<int64_t> steps = {30, 10, 10, 10, 30, 10, 10, 10, 30, 10, 10, 10, 30, 10, 10, 10};
  const auto [first, count] = FindTypical(steps, 3);
  int64_t sum = 0;
  for (size_t i = first; i < first + count; ++i) sum += steps[i];
  EXPECT_EQ(count % 4, 0U);
  EXPECT_EQ(sum * 4, static_cast<int64_t>(count) * 60);
}

TEST(FindTypical, LeavesTheFirstStepAndNeedsOneMoreThanItTakes) {
  const std::vector<int64_t> steps = {10, 10, 10};
  EXPECT_EQ(FindTypical(steps, 2).first, 1U);
  EXPECT_EQ(FindTypical(steps, 3).count, 0U);
  EXPECT_EQ(FindTypical(steps, 0).count, 0U);
  EXPECT_EQ(FindTypical({}, 1).count, 0U);
}

// The same by brute force, over random steps.
TEST(FindTypical, IsTheRowClosestInMeanAndSpread) {
  std::mt19937_64 random(7);
  const auto distance_of = [](std::span<const int64_t> row, double mean, double spread) {
    double sum = 0, squares = 0;
    for (const int64_t ns : row) sum += static_cast<double>(ns);
    const double its = sum / static_cast<double>(row.size());
    for (const int64_t ns : row) squares += (static_cast<double>(ns) - its) * (static_cast<double>(ns) - its);
    const double off = std::sqrt(squares / static_cast<double>(row.size()));
    return std::pair(std::abs(its - mean) + std::abs(off - spread) / 2, off);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> steps(20 + random() % 60);
    double mean = 0;
    for (int64_t& ns : steps)
      ns = 1'000'000'000 + static_cast<int64_t>(random() % 100'000'000), mean += static_cast<double>(ns);
    mean /= static_cast<double>(steps.size());
    const double spread = distance_of(steps, mean, 0).second;
    const size_t count = 2 + random() % 8;
    const StepsInARow found = FindTypical(steps, count);
    ASSERT_GE(found.first, 1U);
    const auto distance = [&](StepsInARow row) {
      return distance_of(std::span<const int64_t>(steps).subspan(row.first, row.count), mean, spread).first;
    };
    double least = INFINITY;
    for (size_t of = count; of <= count + kMoreSteps; ++of)
      for (size_t first = 1; first + of <= steps.size(); ++first) least = std::min(least, distance({first, of}));
    EXPECT_NEAR(distance(found), least, 1);  // ns of 10⁹
  }
}

constexpr int64_t kLongSteps = 60, kStepOperators = 4000;

// Steps of 4,000 operators of the host; every fourth has a longer kernel at its end, for which the host waits. Of a
// rank among others: a collective after that.
std::shared_ptr<const Trace> LongRecording(int64_t rank = kAbsent) {
  HandMade made;
  if (rank != kAbsent) made.Rank(rank);
  int64_t at = 0;
  for (int64_t step = 0; step < kLongSteps; ++step) {
    const int64_t start = at;
    for (int64_t i = 0; i < kStepOperators; ++i, at += 2 * kUs) made.Operator("aten::add", at, at + 1500);
    const int64_t kernel = (step % 4 == 0 ? 12 : 4) * kMs;
    made.Kernel("sgemm", {at, at + 5 * kUs, at + 10 * kUs, at + 10 * kUs + kernel});
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, at + 6 * kUs, at + 15 * kUs + kernel);
    at += 20 * kUs + kernel;
    if (rank != kAbsent) {
      GpuOpRow nccl;
      nccl.stream = 20, nccl.op_class = GpuOpClass::kCommunication;
      made.Kernel("ncclDevKernel_AllReduce", {at, at + 5 * kUs, at + 10 * kUs, at + 310 * kUs}, nccl);
      made.Collective("all_reduce", at + 10 * kUs, at + 310 * kUs, 1000 + step);
      made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, at + 6 * kUs, at + 315 * kUs);
      at += 320 * kUs;
    }
    made.Step(step, start, at);
  }
  return made.Finish();
}

TEST(TypicalSteps, GiveWhatAllStepsGive) {
  Analysed run({LongRecording()});
  const auto some = Predictor::Make(run.tables()), all = Predictor::Make(run.tables(), BuiltInLedger(), true);
  ASSERT_TRUE(some && all && some->check().accepted() && all->check().accepted());
  ASSERT_TRUE(some->typical_steps());
  EXPECT_FALSE(all->typical_steps());
  EXPECT_EQ(some->typical_steps()->all_steps, static_cast<size_t>(kLongSteps));
  EXPECT_LT(some->job().ranks[0].graph.size(), all->job().ranks[0].graph.size() / 2 + 1000);
  EXPECT_NEAR(static_cast<double>(some->step_ns()) / static_cast<double>(all->step_ns()), 1, 0.005);
  for (const std::string_view items : {"kernels=0.5", "host=0.5", "sync"}) {
    const auto quick = some->Predict(*ParseItems(items)), slow = all->Predict(*ParseItems(items));
    ASSERT_TRUE(quick && slow);
    EXPECT_NEAR(quick->share.expected, slow->share.expected, 0.01) << items;
    EXPECT_LE(quick->share.low, slow->share.expected) << items;
    EXPECT_GE(quick->share.high, slow->share.expected) << items;
  }
}

TEST(TypicalSteps, OfRanksAreTheSameStepsOfEach) {
  Analysed run(std::vector{LongRecording(0), LongRecording(1)});
  const auto some = Predictor::Make(run.tables()), all = Predictor::Make(run.tables(), BuiltInLedger(), true);
  ASSERT_TRUE(some && all && some->check().accepted() && all->check().accepted());
  ASSERT_TRUE(some->typical_steps());
  EXPECT_EQ(some->job().ranks.size(), 2U);
  EXPECT_EQ(all->job().ranks.size(), 2U);
  EXPECT_NEAR(some->Predict(*ParseItems("host=0.5"))->share.expected,
              all->Predict(*ParseItems("host=0.5"))->share.expected, 0.01);
}

// Rows of the stretch are named as those of the whole are.
TEST(TypicalSteps, KeepTheIdsAndTimesOfTheRun) {
  Analysed run({LongRecording()});
  const auto predictor = Predictor::Make(run.tables());
  ASSERT_TRUE(predictor && predictor->typical_steps());
  const RunTrace &part = *predictor->main_rank().of, &whole = *run.tables().run().primary()[0];
  const int64_t id = part.Id(SliceId(5));
  EXPECT_EQ(part.trace->slices.ts_ns[5], whole.trace->slices.ts_ns[static_cast<size_t>(id)]);
}

TEST(TypicalSteps, AreNotTakenOfShortRecordings) {
  HandMade made;
  for (int64_t step = 0; step < 40; ++step) {
    made.Operator("aten::add", step * kMs, step * kMs + 900 * kUs);
    made.Step(step, step * kMs, (step + 1) * kMs);
  }
  Analysed run(made);
  const auto predictor = Predictor::Make(run.tables());
  ASSERT_TRUE(predictor);
  EXPECT_FALSE(predictor->typical_steps());
}

}  // namespace
}  // namespace gapless::internal
