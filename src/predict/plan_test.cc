// SPDX-License-Identifier: Apache-2.0
// Tests the plan with estimates: limits on gains, parts of findings, order, and fixes without an effect.
#include "predict/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

Bottleneck Found(std::string id, BottleneckType type, double share, std::optional<double> gain,
                 std::vector<std::string> fixes = {}) {
  Bottleneck one;
  one.id = std::move(id), one.type = type, one.share_of_step = share, one.severity = SeverityOfShare(share);
  if (gain) one.gain = Gain{.low = 1, .expected = *gain, .high = *gain, .confidence = 0.5, .method = "amdahl"};
  for (std::string& fix : fixes) one.recommendations.push_back({"do it", std::move(fix), "", ""});
  return one;
}

std::string IdsOf(const std::vector<Bottleneck>& found) {
  std::string ids;
  for (const Bottleneck& bottleneck : found)
    ids += bottleneck.id + (bottleneck.cured_by.empty() ? " " : "<" + bottleneck.cured_by + " ");
  return ids;
}

// A device that is idle for 40 % of the time, and computes for the rest.
LedgerView Ledger() {
  LedgerView ledger;
  ledger.total = {.wall_ns = 100, .compute_ns = 60, .idle_ns = 40};
  return ledger;
}

TEST(Plan, EstimatesTakeNoMoreThanThereIs) {
  std::vector<Bottleneck> found = {Found("loading", BottleneckType::kDataLoading, 0.3, 1 / 0.7),
                                   Found("launching", BottleneckType::kLaunchBound, 0.3, 1 / 0.7),
                                   Found("kernels", BottleneckType::kKernelEfficiency, 0.2, 1 / 0.8)};
  const FixPlan plan = MakePlan(nullptr, Ledger(), found);
  EXPECT_EQ(IdsOf(found), "loading kernels launching ");
  ASSERT_TRUE(plan.together.has_value());
  EXPECT_NEAR(plan.together->gain.expected, 1 / (1 - 0.4 - 0.2), 1e-9) << "of 40 % idle time 60 % were asked for";
  EXPECT_EQ(plan.together->estimated.size(), 3U);
  double product = 1;
  for (const PlanStep& step : plan.steps) product *= step.gain.expected;
  EXPECT_NEAR(product, plan.together->gain.expected, 1e-9) << "each after those above it";
  EXPECT_NEAR(found[2].step_left, 1 - 0.3 - 0.2, 1e-9);
}

TEST(Plan, WhatIsPartOfAnotherFindingHangsUnderIt) {
  std::vector<Bottleneck> found = {Found("whole", BottleneckType::kLaunchBound, 0.2, 1.25),
                                   Found("part", BottleneckType::kLaunchBound, 0.1, 1 / 0.9)};
  found[1].part_of = "whole";
  const FixPlan plan = MakePlan(nullptr, Ledger(), found);
  EXPECT_EQ(IdsOf(found), "whole part<whole ");
  EXPECT_FALSE(found[1].gain.has_value());
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_EQ(plan.steps[0].cures, std::vector<std::string>{"part"});
}

TEST(Plan, AWholeAfterItsPartBringsTheRest) {
  std::vector<Bottleneck> found = {Found("part", BottleneckType::kLaunchBound, 0.25, 1 / 0.75),
                                   Found("whole", BottleneckType::kLaunchBound, 0.3, 1 / 0.8)};
  found[0].part_of = "whole";
  const FixPlan plan = MakePlan(nullptr, Ledger(), found);
  EXPECT_EQ(plan.steps.size(), 1U) << "the part took more than the whole would";
  EXPECT_NEAR(plan.together->gain.expected, 1 / 0.75, 1e-9);
}

TEST(Plan, NothingPromisesMoreThanItsStake) {
  std::vector<Bottleneck> found = {Found("small", BottleneckType::kLaunchBound, 0.1, 1.4)};
  MakePlan(nullptr, Ledger(), found);
  EXPECT_NEAR(found[0].gain->expected, 1 / 0.9, 1e-9);
}

TEST(Plan, WhatBuysNothingIsLastAndNoMoreThanMinor) {
  std::vector<Bottleneck> found = {Found("nothing", BottleneckType::kKernelEfficiency, 0.5, 1.001),
                                   Found("unknown", BottleneckType::kIo, 0.2, {}),
                                   Found("worth", BottleneckType::kDataLoading, 0.1, 1.1)};
  MakePlan(nullptr, Ledger(), found);
  EXPECT_EQ(IdsOf(found), "worth unknown nothing ");
  EXPECT_LT(found[2].severity, kWarningSeverity);
  EXPECT_EQ(found[1].severity, SeverityOfShare(0.2)) << "nobody knows what it buys";
}

Bottleneck WithEffort(Bottleneck found, std::string effort) {
  found.recommendations.push_back({"do it", "", "", std::move(effort)});
  return found;
}

TEST(Plan, OfAlikeSeverityTheWorkThatAFixTakesCounts) {
  std::vector<Bottleneck> found = {
      WithEffort(Found("rewrite", BottleneckType::kDataLoading, 0.3, 1.25), "days"),
      WithEffort(Found("argument", BottleneckType::kKernelEfficiency, 0.25, 1.2), "minutes")};
  MakePlan(nullptr, Ledger(), found);
  EXPECT_EQ(IdsOf(found), "argument rewrite ");
  EXPECT_EQ(found[0].why_first, "takes minutes");
  EXPECT_EQ(found[1].why_first, "");
}

TEST(Plan, ACriticalFindingComesBeforeAWarningThatSavesMore) {
  std::vector<Bottleneck> found = {Found("warning", BottleneckType::kKernelEfficiency, 0.15, 1.17),
                                   Found("critical", BottleneckType::kDataLoading, 0.3, 1.1)};
  MakePlan(nullptr, Ledger(), found);
  EXPECT_EQ(IdsOf(found), "critical warning ");
  EXPECT_EQ(found[0].why_first, "it costs most");
}

// Steps of loading, then of a product in float32, for which the host waits.
std::shared_ptr<const Trace> LoadingAndProduct(int64_t loading, int64_t product) {
  HandMade made;
  for (int64_t step = 0; step < 32; ++step) {
    const int64_t start = step * (loading + product), launch = start + loading, end = launch + product;
    made.Loader(start, launch);
    made.Kernel("sgemm", {launch, launch + 5 * kUs, launch + 10 * kUs, end - 50 * kUs},
                {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo});
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, launch + 20 * kUs, end - 20 * kUs);
    made.Step(step, start, end);
  }
  return made.Finish();
}

class Replayed : public ::testing::Test {
 protected:
  FixPlan Make(std::vector<Bottleneck>& found) {
    EXPECT_TRUE(predictor && predictor->check().accepted()) << predictor->check().refusal;
    return MakePlan(&*predictor, ReadLedger(run.tables()), found);
  }
  Analysed run{std::vector{LoadingAndProduct(3 * kMs, kMs)}};
  std::optional<Predictor> predictor = Predictor::ForRun(run.tables(), {});
};

TEST_F(Replayed, EachFixStandsOnce) {
  std::vector<Bottleneck> found = {Found("loader", BottleneckType::kDataLoading, 0.5, 1.9, {"workers=4"}),
                                   Found("idle", BottleneckType::kHostBound, 0.45, 1.5, {"workers=2"}),
                                   Found("units", BottleneckType::kKernelEfficiency, 0.48, 1.4, {"tf32"})};
  const FixPlan plan = Make(found);
  EXPECT_EQ(IdsOf(found), "loader idle<loader units ");
  ASSERT_EQ(plan.steps.size(), 2U);
  const auto all = predictor->Predict(*ParseItems(plan.steps[0].fix + "," + plan.steps[1].fix));
  EXPECT_NEAR(plan.together->gain.expected, 1 / all->share.expected, 1e-9);
  EXPECT_NEAR(plan.steps[0].gain.expected * plan.steps[1].gain.expected, plan.together->gain.expected, 1e-9);
  EXPECT_EQ(found[0].gain->tested_programs, 0) << "of this ledger";
  EXPECT_EQ(plan.together->untested, (std::vector<std::string>{"workers", "tf32"}));
}

TEST_F(Replayed, WhatAFixDoesBesideItsStakeIsSaid) {
  std::vector<Bottleneck> found = {Found("loader", BottleneckType::kDataLoading, 0.1, 1.1, {"workers=4"})};
  Make(found);
  EXPECT_GT(found[0].gain->expected, 1.5);
  EXPECT_NE(found[0].also.find("of the host's work"), std::string::npos) << found[0].also;
}

// Once the host does not wait, it loads the next batch while the device works: workers bring nothing more.
TEST(Plan, WhatAnotherFixLeavesNothingOfHangsUnderIt) {
  Analysed run{std::vector{LoadingAndProduct(4 * kMs, 36 * kMs)}};
  const std::optional<Predictor> predictor = Predictor::ForRun(run.tables(), {});
  std::vector<Bottleneck> found = {Found("loader", BottleneckType::kDataLoading, 0.25, 1.2, {"workers=4"}),
                                   Found("waits", BottleneckType::kCpuGpuSync, 0.25, 1.3, {"sync"})};
  found[0].recommendations.front().effort = "days";
  ASSERT_GT(1 / predictor->Predict(*ParseItems("workers=4"))->share.expected, 1.02) << "alone it would save something";
  MakePlan(&*predictor, ReadLedger(run.tables()), found);
  EXPECT_EQ(IdsOf(found), "waits loader<waits ");
}

// No waste stands behind it: where others leave it nothing there is nothing to say.
TEST_F(Replayed, APredictedFixIsListedOnlyForWhatItStillSaves) {
  std::vector<Bottleneck> nothing = {Found("predicted_fix", BottleneckType::kCpuGpuSync, 0.4, 1.5, {"pin"})};
  Make(nothing);
  EXPECT_EQ(IdsOf(nothing), "");
  std::vector<Bottleneck> something = {Found("predicted_fix", BottleneckType::kDataLoading, 0.4, 1.5, {"workers=4"})};
  Make(something);
  EXPECT_EQ(IdsOf(something), "predicted_fix ");
}

TEST(Plan, APredictedFixIsNotSaidToBeCuredByAnother) {
  Analysed run{std::vector{LoadingAndProduct(4 * kMs, 36 * kMs)}};
  const std::optional<Predictor> predictor = Predictor::ForRun(run.tables(), {});
  std::vector<Bottleneck> found = {Found("predicted_fix", BottleneckType::kDataLoading, 0.25, 1.2, {"workers=4"}),
                                   Found("waits", BottleneckType::kCpuGpuSync, 0.25, 1.3, {"sync"})};
  found[0].recommendations.front().effort = "days";
  MakePlan(&*predictor, ReadLedger(run.tables()), found);
  EXPECT_EQ(IdsOf(found), "waits ");
}

TEST_F(Replayed, AFixWithoutAnEffectIsNoFix) {
  std::vector<Bottleneck> found = {Found("copies", BottleneckType::kCpuGpuSync, 0.4, 1.5, {"pin"})};
  const FixPlan plan = Make(found);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_FALSE(plan.together.has_value());
  EXPECT_EQ(found[0].gain->expected, 1);
  EXPECT_LT(found[0].severity, kWarningSeverity);
}

}  // namespace
}  // namespace gapless::internal
