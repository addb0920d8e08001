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
  const std::vector<std::vector<int64_t>> steps = {{30, 10, 10, 10, 30, 10, 10, 10, 30, 10, 10, 10, 30, 10, 10, 10}};
  const auto [first, count] = FindTypical(steps, 3);
  int64_t sum = 0;
  for (size_t i = first; i < first + count; ++i) sum += steps[0][i];
  EXPECT_EQ(count % 4, 0U);
  EXPECT_EQ(sum * 4, static_cast<int64_t>(count) * 60);
}

TEST(FindTypical, LeavesTheFirstStepAndNeedsOneMoreThanItTakes) {
  const std::vector<std::vector<int64_t>> steps = {{10, 10, 10}};
  EXPECT_EQ(FindTypical(steps, 2).first, 1U);
  EXPECT_EQ(FindTypical(steps, 3).count, 0U);
  EXPECT_EQ(FindTypical(steps, 0).count, 0U);
  EXPECT_EQ(FindTypical({}, 1).count, 0U);
}

TEST(FindTypical, SharesAtMostHalfOfAnotherRow) {
  const std::vector<std::vector<int64_t>> steps{std::vector<int64_t>(40, 10)}, few{std::vector<int64_t>(10, 10)};
  const StepsInARow row = FindTypical(steps, 8), other = FindTypical(steps, 8, row);
  EXPECT_EQ(row.first, 1U);
  EXPECT_EQ(other.first, row.first + row.count / 2);
  EXPECT_EQ(FindTypical(few, 8, {1, 8}).count, 0U) << "there is no such row";
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
    const StepsInARow found = FindTypical({&steps, 1}, count);
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
// rank among others: a collective after that. In the first `late` steps the kernel begins late, for a reason that was
// not recorded, and ends when it would.
std::shared_ptr<const Trace> LongRecording(int64_t rank = kAbsent, int64_t late = 0) {
  HandMade made;
  if (rank != kAbsent) made.Rank(rank);
  int64_t at = 0;
  for (int64_t step = 0; step < kLongSteps; ++step) {
    const int64_t start = at;
    for (int64_t i = 0; i < kStepOperators; ++i, at += 2 * kUs) made.Operator("aten::add", at, at + 1500);
    const int64_t kernel = (step % 4 == 0 ? 12 : 4) * kMs;
    const int64_t begin = at + 10 * kUs + (step < late ? kernel * 3 / 4 : 0);
    made.Kernel("sgemm", {at, at + 5 * kUs, begin, at + 10 * kUs + kernel});
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, at + 6 * kUs, at + 15 * kUs + kernel);
    at += 20 * kUs + kernel;
    if (rank != kAbsent) {
      GpuOpDraft nccl;
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
  const auto some = Predictor::ForRun(run.tables()), all = Predictor::ForRun(run.tables(), BuiltInLedger(), true);
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
  const auto some = Predictor::ForRun(run.tables()), all = Predictor::ForRun(run.tables(), BuiltInLedger(), true);
  ASSERT_TRUE(some && all && some->check().accepted() && all->check().accepted());
  ASSERT_TRUE(some->typical_steps());
  EXPECT_EQ(some->job().ranks.size(), 2U);
  EXPECT_EQ(all->job().ranks.size(), 2U);
  EXPECT_NEAR(static_cast<double>(some->step_ns()) / static_cast<double>(all->step_ns()), 1, 0.005);
  EXPECT_NEAR(some->Predict(*ParseItems("host=0.5"))->share.expected,
              all->Predict(*ParseItems("host=0.5"))->share.expected, 0.01);
}

// A third of each step is missing from the replay, wherever one looks.
TEST(TypicalSteps, RefuseARecordingThatTwoRowsRefuse) {
  Analysed run({LongRecording(kAbsent, kLongSteps)});
  const auto some = Predictor::ForRun(run.tables()), all = Predictor::ForRun(run.tables(), BuiltInLedger(), true);
  ASSERT_TRUE(some && all && some->typical_steps());
  EXPECT_TRUE(all->check().refusal.starts_with("replaying the recording gives a step of"));
  EXPECT_TRUE(some->check().refusal.starts_with("replaying the recording gives a step of"));
  EXPECT_TRUE(some->check().refusal.ends_with(" of 60 steps)")) << some->check().refusal;
}

// The first row is refused and the second is not, so neither stands for all.
TEST(TypicalSteps, AreNotTakenIfTheyAloneAreRefused) {
  Analysed run({LongRecording(kAbsent, 8)});
  const auto some = Predictor::ForRun(run.tables()), all = Predictor::ForRun(run.tables(), BuiltInLedger(), true);
  ASSERT_TRUE(some && all && all->check().accepted());
  EXPECT_FALSE(some->typical_steps());
  EXPECT_TRUE(some->check().accepted());
  EXPECT_EQ(some->step_ns(), all->step_ns());
}

// Rows of the stretch are named as those of the whole are.
TEST(TypicalSteps, KeepTheIdsAndTimesOfTheRun) {
  Analysed run({LongRecording()});
  const auto predictor = Predictor::ForRun(run.tables());
  ASSERT_TRUE(predictor && predictor->typical_steps());
  const RunTrace &part = *predictor->main_rank().of, &whole = *run.tables().run().primary()[0];
  const int64_t id = part.Id(SliceId(5));
  EXPECT_EQ(part.trace->slices.ts_ns[5], whole.trace->slices.ts_ns[static_cast<size_t>(id)]);
}

// Rounds of 20 operators and a kernel that the host waits for, without steps. In the last `different` rounds, kernels
// take ten times as long.
std::shared_ptr<const Trace> WithoutSteps(int64_t rounds, int64_t different = 0) {
  HandMade made;
  int64_t at = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    for (int64_t i = 0; i < 20; ++i, at += 2 * kUs) made.Operator("aten::add", at, at + 1500);
    const int64_t kernel = (round < rounds - different ? 40 : 400) * kUs;
    made.Kernel("sgemm", {at, at + 5 * kUs, at + 10 * kUs, at + 10 * kUs + kernel});
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, at + 6 * kUs, at + 15 * kUs + kernel);
    at += 20 * kUs + kernel;
  }
  return made.Finish();
}

constexpr int64_t kManyRounds = 10'000;  // 230,000 slices and GPU operations

TEST(TypicalSteps, ArePartsOfARecordingWithoutSteps) {
  Analysed run({WithoutSteps(kManyRounds)});
  const auto some = Predictor::ForRun(run.tables()), all = Predictor::ForRun(run.tables(), BuiltInLedger(), true);
  ASSERT_TRUE(some && all && some->check().accepted() && all->check().accepted());
  ASSERT_TRUE(some->typical_steps());
  EXPECT_EQ(some->typical_steps()->all_steps, 0U);
  EXPECT_LT(some->job().ranks[0].graph.size(), all->job().ranks[0].graph.size() / 2);
  EXPECT_EQ(some->step_ns(), all->step_ns()) << "a step is all of the recording";
  EXPECT_EQ(some->typical_steps()->mean_step_ns, all->step_ns());
  for (const std::string_view items : {"kernels=0.5", "host=0.5", "sync"}) {
    const auto quick = some->Predict(*ParseItems(items)), slow = all->Predict(*ParseItems(items));
    ASSERT_TRUE(quick && slow);
    EXPECT_NEAR(quick->share.expected, slow->share.expected, 0.001) << items;
  }
  const auto removed_by = [](const Predictor& predictor) {
    Predictor::Progress progress = predictor.Start();
    EXPECT_TRUE(predictor.Add((*ParseItems("kernels=0.5"))[0], progress));
    return static_cast<double>(predictor.RemovedBy(predictor.Unfixed(), progress.expected).device_ns);
  };
  EXPECT_NEAR(removed_by(*some) / removed_by(*all), 1, 0.01) << "of all of the recording as well";
}

// A third of the time is of another kind.
TEST(TypicalSteps, AreNotTakenWhereTheTimeIsOfTwoKinds) {
  Analysed run({WithoutSteps(kManyRounds, kManyRounds / 8)});
  const auto predictor = Predictor::ForRun(run.tables());
  ASSERT_TRUE(predictor && predictor->check().accepted());
  EXPECT_FALSE(predictor->typical_steps());
}

// Every seventh step takes many times as long as the others: ten steps say too little about their mean.
TEST(TypicalSteps, AreNotTakenOfStepsThatDifferTooMuch) {
  HandMade made;
  int64_t at = 0;
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t start = at;
    for (int64_t i = 0; i < 10'000; ++i, at += 2 * kUs) made.Operator("aten::add", at, at + 1500);
    made.Operator("aten::mm", at, at + (step % 7 == 3 ? 400 : 1) * kMs);
    at += (step % 7 == 3 ? 401 : 2) * kMs;
    made.Step(step, start, at);
  }
  Analysed run(made);
  const auto predictor = Predictor::ForRun(run.tables());
  ASSERT_TRUE(predictor && predictor->check().accepted());
  EXPECT_FALSE(predictor->typical_steps());
}

// The steps that stand for 20; each second one has `more` operators more than 20,000.
size_t StepsFor(int64_t more) {
  HandMade made;
  int64_t at = 0;
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t start = at;
    for (int64_t i = 0; i < 20'000 + step % 2 * more; ++i, at += 2 * kUs) made.Operator("aten::add", at, at + 1500);
    made.Step(step, start, at);
  }
  Analysed run(made);
  const auto predictor = Predictor::ForRun(run.tables());
  return predictor && predictor->typical_steps() ? predictor->typical_steps()->row.count : 0;
}

TEST(TypicalSteps, AreFewerOfStepsThatAreAlike) {
  EXPECT_EQ(StepsFor(0), 5U) << "100,000 operators and marks of steps";
  EXPECT_GE(StepsFor(10'000), kMinTypicalSteps);
}

TEST(TypicalSteps, AreNotTakenOfShortRecordings) {
  HandMade made;
  for (int64_t step = 0; step < 40; ++step) {
    made.Operator("aten::add", step * kMs, step * kMs + 900 * kUs);
    made.Step(step, step * kMs, (step + 1) * kMs);
  }
  Analysed run(made);
  const auto predictor = Predictor::ForRun(run.tables());
  ASSERT_TRUE(predictor);
  EXPECT_FALSE(predictor->typical_steps());
}

}  // namespace
}  // namespace gapless::internal
