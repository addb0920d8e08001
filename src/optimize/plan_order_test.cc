// SPDX-License-Identifier: Apache-2.0
#include "optimize/plan_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optimize/beside.h"
#include "optimize/machine_hints.h"
#include "optimize/screening.h"

namespace gapless::internal {
namespace {

Candidate Of(std::string_view item, double score) { return {.item = *ParseFixItem(item), .score = score}; }

BlockArm Measured(const std::string& item, double speedup, size_t pairs) {
  BlockArm arm(item, {});
  for (size_t i = 0; i < pairs; ++i) arm.sequence.Add(-std::log(speedup) + (i % 2 == 0 ? 0.004 : -0.004));
  return arm;
}

TEST(PlanOrder, MostGainPerSecondIsFirst) {
  // Ten pairs of runs, two runs, and two runs that start slowly.
  const std::vector<Candidate> candidates = {Of("pin", 1.3), Of("gc_freeze", 1.1), Of("compile=default", 1.3)};
  EXPECT_EQ(NextOf(candidates, {}, 5, true), 1U);
  const std::vector<Candidate> large = {Of("pin", 3), Of("gc_freeze", 1.03), Of("compile=default", 1.3)};
  EXPECT_EQ(NextOf(large, {}, 5, true), 0U);
}

TEST(PlanOrder, WhatBlocksMeasuredTakesThePlaceOfThePrediction) {
  const std::vector<Candidate> candidates = {Of("gc_freeze", 1.2), Of("zero_grad", 1.01)};
  EXPECT_EQ(NextOf(candidates, {}, 5, true), 0U);
  ScreenedArms screened;
  screened.insert({"gc_freeze", Measured("gc_freeze", 1.02, 12)});
  screened.insert({"zero_grad", Measured("zero_grad", 1.1, 12)});
  EXPECT_EQ(NextOf(candidates, screened, 5, true), 1U);
  const Promise promise = PromiseOf(candidates[1], screened, 5, true);
  EXPECT_NEAR(promise.speedup, 1.1, 0.01);
  EXPECT_DOUBLE_EQ(promise.trial_s, 5) << "its blocks are clear: one run is left";
}

TEST(PlanOrder, TheUsersOwnFileIsFirst) {
  const Fix own{.name = "mine", .help = "", .own_file = "/mine.py"};
  const std::vector<Candidate> candidates = {Of("workers=2", 3), {.item = {.fix = &own}}};
  EXPECT_EQ(NextOf(candidates, {}, 5, true), 1U);
}

TEST(Screening, ItRejectsAndNeverAccepts) {
  EXPECT_TRUE(NotWorthARun(Measured("gc_freeze", 0.8, 12), {}));
  EXPECT_TRUE(NotWorthARun(Measured("gc_freeze", 1.0, 12), {}));
  EXPECT_FALSE(NotWorthARun(Measured("gc_freeze", 1.3, 12), {}));
  BlockArm refused = Measured("gc_freeze", 0.8, 12);
  refused.refusal = "it cannot be switched";
  EXPECT_FALSE(NotWorthARun(refused, {}));
}

TEST(Screening, OnlyWhatCanBeSwitchedAndIsAllowedSharesTheRun) {
  const std::vector<Candidate> candidates = {Of("gc_freeze", 1), Of("workers=2", 1), Of("compile=default", 1),
                                             Of("amp=fp16", 1), Of("zero_grad", 1)};
  std::vector<std::string> items;
  for (const FixItem& item : ItemsToScreen(candidates, FixClass::kStochastic)) items.push_back(item.ToString());
  EXPECT_EQ(items, (std::vector<std::string>{"gc_freeze", "workers=2", "zero_grad"}));
  EXPECT_TRUE(ItemsToScreen(std::vector<Candidate>{Of("gc_freeze", 1)}, FixClass::kStochastic).empty());
}

// Two arms that are switched in one process, simulated: each has pairs of its own.
TEST(Screening, ArmsOfOneProcessAreToldApart) {
  std::vector<BlockArm> arms = {BlockArm("gc_freeze", {}), BlockArm("zero_grad", {})};
  BlockDriver driver({.warmup = 3, .block_steps = 3, .seed = 5}, arms);
  for (int64_t step = 0; step < 2000 && !driver.IsDone(); ++step) {
    const auto arm = driver.ArmAt(step);
    const int64_t noise = 1000 * (step * 7919 % 101);
    driver.AddStep(step, (!arm ? 10'000'000 : *arm == 0 ? 8'000'000 : 11'000'000) + noise);
  }
  EXPECT_TRUE(driver.IsDone());
  EXPECT_NEAR(arms[0].sequence.Interval().expected, 0.8, 0.01);
  EXPECT_NEAR(arms[1].sequence.Interval().expected, 1.1, 0.01);
}

TEST(Screening, OneValueOfAFixGoesOn) {
  std::vector<BlockArm> arms = {Measured("workers=1", 1.07, 12), Measured("workers=0", 1.15, 12),
                                Measured("threads=1", 1.05, 12), Measured("threads=2", 1.1, 2)};
  const auto quicker = QuickerValues(arms);
  ASSERT_EQ(quicker.size(), 1U);
  EXPECT_EQ(quicker.at("workers=1"),
            "another value was quicker in blocks of one run: workers=0 1.15x as fast as without, this one 1.07x");
}

// Two new workers: the first step waits for both, batches come two at a time. The blocks without them are steady at
// once.
TEST(Screening, StepsUntilNewWorkersAreSteadyDoNotCount) {
  const Fix& workers = *FindFix("workers");
  EXPECT_EQ(workers.block_shape("2", 0, 200).settle, 4U) << "few of such steps pass while workers start";
  std::vector<BlockArm> arms = {BlockArm("workers=2", {}, workers.block_shape("2", 0, 10)), BlockArm("gc_freeze", {})};
  EXPECT_EQ(arms[0].shape.settle, 9U) << "two workers with four batches ahead each";
  EXPECT_EQ(arms[0].BlockSteps(3), 19U) << "nine counted steps become five rounds";
  EXPECT_EQ(arms[0].BlockSteps(20), 21U) << "eleven counted steps become six rounds";
  EXPECT_EQ(arms[1].BlockSteps(8), 8U);
  BlockDriver driver({.warmup = 3, .block_steps = 8, .seed = 5}, arms);
  std::optional<size_t> before;
  for (int64_t step = 0, since = 0; step < 4000 && !driver.IsDone(); ++step, ++since) {
    const auto arm = driver.ArmAt(step);
    since = arm == before ? since : 0;
    before = arm;
    const bool are_new = arm == size_t{0}, is_waiting = since % 2 == 1;
    const int64_t new_ms = since == 0 ? 300 : since < 9 ? 1 : is_waiting ? 12 : 4;
    driver.AddStep(step, (are_new ? new_ms : 10) * 1'000'000 + 1000 * (step * 7919 % 101));
  }
  EXPECT_NEAR(arms[0].sequence.Interval().expected, 0.8, 0.01);
  EXPECT_NEAR(arms[1].sequence.Interval().expected, 1.0, 0.01);
}

TEST(MachineHints, FewerWorkersAndThreadsWhereProcessorsAreShort) {
  const FixContext context{.cpus = 2, .loaders = 1, .loader_workers = 4};
  EXPECT_GT(HintedSpeedup(*ParseFixItem("workers=0"), context, {}).value_or(1), 1.1);
  EXPECT_GT(HintedSpeedup(*ParseFixItem("threads=1"), context, {}).value_or(1), 1.05);
  EXPECT_FALSE(HintedSpeedup(*ParseFixItem("threads=2"), context, {}));
  EXPECT_FALSE(HintedSpeedup(*ParseFixItem("threads=1"), {.cpus = 2}, {})) << "nothing was found";
  const std::vector<Bottleneck> tiny = {{.id = "host_operators"}};
  EXPECT_TRUE(HintedSpeedup(*ParseFixItem("threads=1"), {.cpus = 2}, tiny));
  EXPECT_FALSE(HintedSpeedup(*ParseFixItem("gc_freeze"), context, tiny));
}

TEST(MachineHints, AFixWithoutItsOperatorsIsRuledOut) {
  const Fix& fix = *FindFix("channels_last");
  EXPECT_EQ(WhyNothingToChange(fix, {.operators = {"aten::mm"}}), "the recorded steps have no convolution");
  EXPECT_EQ(WhyNothingToChange(fix, {.operators = {"aten::mm", "aten::conv2d"}}), "");
  EXPECT_EQ(WhyNothingToChange(fix, {}), "") << "operators were not recorded";
}

TEST(Beside, ABusyMachineIsNamedAndNotTheFix) {
  const Stage before{.step_ms = 10}, slow{.step_ms = 20};
  const Beside busy = CompareSlowRun(slow, before, {.step_ms = 19}, 1.15);
  EXPECT_TRUE(busy.machine_is_busy);
  EXPECT_FALSE(busy.fix_is_slow);
  const Beside fix = CompareSlowRun(slow, before, {.step_ms = 10}, 1.15);
  EXPECT_FALSE(fix.machine_is_busy);
  EXPECT_TRUE(fix.fix_is_slow);
  MachineWatch watch;
  for (int i = 0; i < 8; ++i) watch.Add(10, 10);
  EXPECT_EQ(watch.Warning(), "");
  watch.Add(14, 10);
  EXPECT_EQ(watch.Warning(), "") << "once, by little";
  watch.Add(30, 10);
  EXPECT_NE(watch.Warning().find("in 2 of 10 measurements"), std::string::npos) << watch.Warning();
}

}  // namespace
}  // namespace gapless::internal
