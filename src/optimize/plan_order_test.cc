// SPDX-License-Identifier: Apache-2.0
// Tests the order of candidates, the screening in blocks, and the hints for threads and workers.
#include "optimize/plan_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optimize/beside.h"
#include "optimize/candidates.h"
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

// A riskier class costs a candidate its place among equals, not a part of the number that people read.
TEST(PlanOrder, WhatIsExpectedIsThePredictionAndNotThePlaceInTheOrder) {
  Candidate predicted = Of("workers=2", 1.86);
  predicted.predicted = RatioInterval{.low = 1.6, .high = 2.1, .expected = 1.88};
  const Promise promise = PromiseOf(predicted, {}, 5, true);
  EXPECT_DOUBLE_EQ(promise.expected, 1.88);
  EXPECT_DOUBLE_EQ(promise.speedup, 1.86);
  ScreenedArms screened;
  screened.insert({"workers=2", Measured("workers=2", 1.3, 12)});
  EXPECT_NEAR(PromiseOf(predicted, screened, 5, true).expected, 1.3, 0.01) << "blocks have measured it since";
}

TEST(PlanOrder, ASlowStartTakesWhatTheFirstOneTook) {
  const Candidate compile = Of("compile=default", 1.3);
  EXPECT_DOUBLE_EQ(PromiseOf(compile, {}, 5, true, 90).min_trial_s, 5 + 90 + 5 + 45) << "half of it once it is cached";
  EXPECT_DOUBLE_EQ(PromiseOf(compile, {}, 5, true, 90).later_run_s, 50);
  EXPECT_DOUBLE_EQ(PromiseOf(Of("gc_freeze", 1.1), {}, 5, true, 90).min_trial_s, 10);
}

// A kernel that beats eager PyTorch may lose to the compiler: it is tried on top of what that gives.
TEST(PlanOrder, AKernelWaitsForTheCompiler) {
  const std::vector<Candidate> both = {Of("liger", 2), Of("compile=default", 1.1)};
  EXPECT_TRUE(MustWait(both, 0));
  EXPECT_FALSE(MustWait(both, 1));
  EXPECT_EQ(NextOf(both, {}, 5, true), 1U);
  const std::vector<Candidate> alone = {Of("liger", 1.1), Of("quack", 1.2)};
  EXPECT_EQ(NextOf(alone, {}, 5, true), 1U) << "the compiler is decided";
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
                                             Of("nosync=4", 1), Of("zero_grad", 1)};
  std::vector<std::string> items;
  for (const FixItem& item : ItemsToScreen(candidates, Safety::kStochastic)) items.push_back(item.ToString());
  EXPECT_EQ(items, (std::vector<std::string>{"gc_freeze", "workers=2", "zero_grad"}));
  EXPECT_TRUE(ItemsToScreen(std::vector<Candidate>{Of("gc_freeze", 1)}, Safety::kStochastic).empty());
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
  EXPECT_EQ(workers.trial.live.block_shape("2", 0, 200).settle, 4U) << "few of such steps pass while workers start";
  std::vector<BlockArm> arms = {BlockArm("workers=2", {}, workers.trial.live.block_shape("2", 0, 10)),
                                BlockArm("gc_freeze", {})};
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

double Hinted(std::string_view item, const FixContext& context, std::vector<Bottleneck> found = {}) {
  return HintFor(*ParseFixItem(item), context, found).speedup.value_or(0);
}
std::string RuledOut(std::string_view item, const FixContext& context) {
  return HintFor(*ParseFixItem(item), context, {}).why_not;
}

TEST(MachineHints, FewerWorkersAndThreadsWhereProcessorsAreShort) {
  const FixContext context{.cpus = 2, .loaders = 1, .loader_workers = 4};
  EXPECT_NEAR(Hinted("workers=0", context), 1.1, 0.01);
  EXPECT_NEAR(Hinted("threads=1", context), 1.1, 0.01);
  EXPECT_EQ(Hinted("threads=2", context), 0);
  EXPECT_EQ(Hinted("threads=1", {.cpus = 2}), 0) << "nothing was found";
  EXPECT_NEAR(Hinted("threads=1", {.cpus = 2}, {{.id = "host_operators"}}), 1.11, 0.01);
  EXPECT_EQ(Hinted("gc_freeze", context, {{.id = "host_operators"}}), 0);
}

// Tiny operators are helped by one thread, not by two; large ones by two, not by one.
TEST(MachineHints, ThreadsHaveTheGainOfTheirDirection) {
  const FixContext tiny{.cpus = 2, .threads = 2, .shares = {.small_operators = 0.8, .large_operators = 0.0}};
  EXPECT_NEAR(Hinted("threads=1", tiny), 1 / (1 - 0.11 * 0.8), 1e-9);
  EXPECT_EQ(RuledOut("threads=2", tiny), "operators use that many threads already");
  const FixContext one{.cpus = 2, .threads = 1, .shares = {.small_operators = 0.1, .large_operators = 0.8}};
  EXPECT_NEAR(Hinted("threads=2", one), 1 / (1 - 0.85 * 0.8 / 2), 1e-9);
  const FixContext large{.cpus = 2, .threads = 2, .shares = {.small_operators = 0.1, .large_operators = 0.8}};
  EXPECT_EQ(RuledOut("threads=1", large), "operators that are large enough to be split take 80.0 % of a step");
  const FixContext small{.cpus = 2, .threads = 1, .shares = {.small_operators = 0.8, .large_operators = 0.0}};
  EXPECT_EQ(RuledOut("threads=2", small), "no operator is large enough to be split over more threads");
  FixContext shared = one;
  shared.loaders = 1, shared.loader_workers = 1;
  EXPECT_EQ(RuledOut("threads=2", shared), "loader workers use the other processors");
}

TEST(MachineHints, ALayoutHelpsAsMuchAsThereAreLayersOfImages) {
  EXPECT_NEAR(Hinted("channels_last", {.shares = {.image_layers = 0.5}}), 1.25, 1e-9);
  EXPECT_EQ(Hinted("channels_last", {.shares = {.image_layers = 0.05}}), 0);
  EXPECT_EQ(Hinted("channels_last", {.gpu = true, .shares = {.image_layers = 0.5}}), 0) << "its kernels are predicted";
}

// Without workers 60 % of a step is loading: two workers hide 85 % of what they can, one hides less.
TEST(MachineHints, WorkersHaveTheGainOfTheWaitsThatTheySave) {
  FixContext context{.cpus = 4, .loaders = 1, .shares = {.loader_wait = 0.6}};
  EXPECT_NEAR(Hinted("workers=2", context), 1 / (1 - 0.85 * 0.6), 1e-9);
  EXPECT_NEAR(Hinted("workers=1", context), 1 / (1 - 0.85 * 0.4), 1e-9);
  EXPECT_EQ(RuledOut("workers=0", context), "the program loads with 0 workers already");
  context.loader_workers = 2;
  EXPECT_NEAR(Hinted("workers=4", context), 1 / (1 - 0.85 * 0.5), 1e-9) << "batches come twice as fast";
  EXPECT_EQ(RuledOut("workers=1", context), "steps wait for batches of 2 workers already");
  context.shares.loader_wait = 0.001;
  EXPECT_EQ(RuledOut("workers=4", context), "steps do not wait for batches");
  EXPECT_GT(Hinted("workers=0", context), 1);
}

// Steps wait 90 % of their time, and the job keeps 0.19 processors busy: loading a batch takes a tenth of one, so that
// two processors serve 20 workers. A job that keeps a processor busy computes while it loads.
TEST(MachineHints, LoadingThatWaitsGetsMoreWorkersThanProcessors) {
  FixContext context{.cpus = 2, .loaders = 1, .busy = 0.19, .shares = {.loader_wait = 0.9}};
  EXPECT_NEAR(CpusOfLoading(context), 0.1, 1e-9);
  EXPECT_EQ(LoadersPerRank(context), 20U);
  EXPECT_NEAR(Hinted("workers=8", context), 1 / (1 - 0.85 * (0.9 - (0.9 / 8 - 0.1))), 1e-9);
  const auto values = [&] { return FindFix("workers")->trial.values(context).values; };
  EXPECT_EQ(values(), (std::vector<std::string>{"8", "16", "2", "4"})) << "nine would hide all of it";
  context.shares.loader_wait = 0.7, context.busy = 0.35;
  EXPECT_EQ(values().front(), "4") << "0.7 of a step is loaded in 0.3 of it by three";
  context.loader_workers = 4;
  EXPECT_EQ(values().front(), "8") << "steps wait for four workers that wait themselves";
  context.loader_workers = 0, context.busy = 1;
  EXPECT_EQ(CpusOfLoading(context), 1);
  EXPECT_EQ(LoadersPerRank(context), 2U);
  EXPECT_EQ(values(), (std::vector<std::string>{"2"}));
  context.busy.reset();
  EXPECT_EQ(LoadersPerRank(context), 2U) << "not known";
}

// The gain of curing tiny operators is that of compiling, which more threads do not bring.
TEST(MachineHints, NoValueInheritsTheGainOfABottleneck) {
  const FixContext context{.cpus = 2, .loaders = 0, .threads = 2};
  const std::vector<Bottleneck> tiny = {
      {.id = "host_operators", .gain = Gain{.low = 1.2, .expected = 1.73, .high = 2}}};
  for (const Candidate& candidate : FindCandidates(context, tiny, nullptr, {})) {
    if (candidate.item.fix->name != "threads") continue;
    EXPECT_LT(candidate.score, 1.15) << candidate.item.ToString();
    EXPECT_EQ(candidate.skip.empty(), candidate.item.value == "1") << candidate.item.ToString();
  }
}

TEST(MachineHints, AValueThatIsRuledOutIsRunOnlyWhereItIsAskedFor) {
  const FixContext context{.cpus = 2, .loaders = 0, .threads = 2};
  const auto skipped = [&](const FixItem& only) {
    for (const Candidate& candidate : FindCandidates(context, {}, nullptr, {.only = {only}}))
      if (candidate.item.value == "2") return candidate.skip;
    return std::string("it is no candidate");
  };
  EXPECT_EQ(skipped({.fix = FindFix("threads")}), "operators use that many threads already");
  EXPECT_EQ(skipped(*ParseFixItem("threads=2")), "");
}

TEST(MachineHints, AFixWithoutItsOperatorsIsRuledOut) {
  const Fix& fix = *FindFix("channels_last");
  EXPECT_EQ(WhyNothingToChange(fix, {.operators = {"aten::mm"}}), "the recorded steps have no convolution");
  EXPECT_EQ(WhyNothingToChange(fix, {.operators = {"aten::mm", "aten::conv2d"}}), "");
  EXPECT_EQ(WhyNothingToChange(fix, {}), "") << "operators were not recorded";
}

TEST(MachineHints, APackageThatCannotBeImportedIsNamedWithItsCommand) {
  const Fix& fix = *FindFix("quack");
  FixContext context{.gpu = true, .compute_major = 9, .compute_minor = 0};
  EXPECT_EQ(WhyNothingToChange(fix, context), "") << "it is not known which packages there are";
  context.packages.emplace();
  EXPECT_EQ(WhyNothingToChange(fix, context), "quack-kernels is not installed: pip install quack-kernels");
  context.packages->emplace("quack-kernels", "0.1.9");
  EXPECT_EQ(WhyNothingToChange(fix, context), "quack-kernels 0.1.9 is older than 0.2: pip install quack-kernels");
  for (const char* enough : {"0.2.0", "?"}) {
    (*context.packages)["quack-kernels"] = enough;
    EXPECT_EQ(WhyNothingToChange(fix, context), "") << enough;
  }
  context.compute_major = 8;
  EXPECT_EQ(WhyNothingToChange(fix, context), "quack-kernels is for GPUs from compute capability 9.0 on");
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
