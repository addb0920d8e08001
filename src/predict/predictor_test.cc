// SPDX-License-Identifier: Apache-2.0
// Tests Predictor: single fixes, combinations, calibration by test data, and fixes without an effect.
#include "predict/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analyses/testing/hand_made.h"
#include "predict/advice.h"
#include "predict/sweep.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kPredictedSteps = 3;

// A step of 4 ms: 1 ms of loading, then a product of 2 ms and an addition of 0.8 ms on the device, for which the host
// waits.
std::shared_ptr<const Trace> Steps() {
  HandMade made;
  for (int64_t step = 0; step < kPredictedSteps; ++step) {
    const int64_t start = step * 4 * kMs;
    made.Loader(start, start + 1 * kMs);
    GpuOpDraft gemm, add;
    gemm.op_class = GpuOpClass::kGemm, add.op_class = GpuOpClass::kPointwise;
    const int64_t launch = start + 1 * kMs + 5 * kUs;
    made.Kernel("sgemm", {launch, launch + 5 * kUs, launch + 10 * kUs, launch + 10 * kUs + 2 * kMs}, gemm);
    made.Kernel(
        "add",
        {launch + 6 * kUs, launch + 9 * kUs, launch + 11 * kUs + 2 * kMs, launch + 11 * kUs + 2 * kMs + 800 * kUs},
        add);
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, launch + 20 * kUs, start + 3'900 * kUs);
    made.Step(step, start, start + 4 * kMs);
  }
  return made.Finish();
}

Prediction Predict(Tables& tables, std::string_view items, std::span<const AdviceRow> ledger = {}) {
  const auto predictor = Predictor::ForRun(tables, ledger);
  EXPECT_TRUE(predictor && predictor->check().accepted()) << (predictor ? predictor->check().refusal : "");
  auto prediction = predictor->Predict(*ParseItems(items));
  EXPECT_TRUE(prediction.has_value());
  return *prediction;
}

TEST(Predictor, GivesTheStepAfterAChange) {
  Analysed run({Steps()});
  EXPECT_NEAR(Predict(run.tables(), "kernels=0.5").share.expected, 1 - 1.4 / 4, 0.01);
  EXPECT_NEAR(Predict(run.tables(), "kernels:sgemm=0.5").share.expected, 1 - 1.0 / 4, 0.01);
  EXPECT_NEAR(Predict(run.tables(), "kernels=1").share.expected, 1, 1e-6);
}

// Neither the sum nor the product of what each buys alone: the whole is replayed.
TEST(Predictor, ReplaysACombinationAsAWhole) {
  Analysed run({Steps()});
  const double both = Predict(run.tables(), "kernels:sgemm=0.5,kernels:add=0.5").share.expected;
  EXPECT_DOUBLE_EQ(both, Predict(run.tables(), "kernels=0.5").share.expected);
}

// Six programs reached y of the predicted effect x: with the prior of two that reached all of it, (6 x y + 2 p²) / (6
// x² + 2 p²).
TEST(Predictor, TestsOfTheKindMoveTheAnswer) {
  Analysed run({Steps()});
  std::vector<AdviceRow> ledger(6, {.kind = "sync", .measured = 0.7, .model = {0.6, 0.6, 0.6}});
  for (size_t i = 0; i < ledger.size(); ++i) ledger[i].repository = std::to_string(i);
  const Prediction plain = Predict(run.tables(), "sync"), tested = Predict(run.tables(), "sync", ledger);
  EXPECT_EQ(plain.model.expected, tested.model.expected);
  const double x = std::log(0.6), y = std::log(0.7), prior = kPriorPrograms * kPriorEffect * kPriorEffect;
  EXPECT_NEAR(std::log(tested.share.expected) / std::log(plain.share.expected),
              (6 * x * y + prior) / (6 * x * x + prior), 1e-9);
}

// The change is given: what is left is a replay, whose errors have no direction.
TEST(Predictor, TestsOfTheReplayWidenTheAnswerAndDoNotMoveIt) {
  Analysed run({Steps()});
  std::vector<AdviceRow> ledger(6, {.kind = "kernels", .measured = 0.7, .model = {0.6, 0.6, 0.6}});
  for (size_t i = 0; i < ledger.size(); ++i) ledger[i].repository = std::to_string(i);
  const StepShares share = Predict(run.tables(), "kernels=0.5", ledger).share;
  EXPECT_DOUBLE_EQ(share.expected, Predict(run.tables(), "kernels=0.5").share.expected);
  EXPECT_NEAR(share.low, share.expected * 0.6 / 0.7, 1e-9);
  EXPECT_NEAR(share.high, share.expected * 0.7 / 0.6, 1e-9);
}

TEST(Predictor, EffectsOfOneAfterTheOtherAddUpToTheWhole) {
  Analysed run({Steps()});
  const Prediction both = Predict(run.tables(), "kernels:sgemm=0.5,kernels:add=0.5");
  ASSERT_EQ(both.effects.size(), 2U);
  EXPECT_NEAR(both.effects[0].expected + both.effects[1].expected, std::log(both.share.expected), 1e-12);
  EXPECT_NEAR(both.effects[0].expected, std::log(Predict(run.tables(), "kernels:sgemm=0.5").share.expected), 1e-12);
}

// Checks that a fix without effect is exactly 1.00, regardless of tests of its kind.
TEST(Predictor, WhatHasNoEffectIsExactlyOne) {
  Analysed run({Steps()});
  const std::vector<AdviceRow> ledger(6, {.kind = "pin", .measured = 0.7, .model = {0.9, 0.9, 0.9}});
  const Prediction pin = Predict(run.tables(), "pin", ledger);
  EXPECT_FALSE(pin.no_effect.empty());
  EXPECT_EQ(pin.share.expected, 1);
  EXPECT_EQ(Predict(run.tables(), "kernels=0.5,pin").share.expected,
            Predict(run.tables(), "kernels=0.5").share.expected);
}

TEST(Predictor, OfNothingIsAbsent) {
  HandMade made;
  Analysed run(made);
  EXPECT_FALSE(Predictor::ForRun(run.tables()).has_value());
}

// Half of the product is 1 of 4 ms: no test of others' makes a prediction promise more than its part of the step.
TEST(Predictor, PromisesNoMoreThanWhatAFixTakesAway) {
  Analysed run({Steps()});
  std::vector<AdviceRow> ledger(6, {.kind = "workers", .measured = 0.3, .model = {0.6, 0.6, 0.6}});
  for (size_t i = 0; i < ledger.size(); ++i) ledger[i].repository = std::to_string(i);
  const StepShares share = Predict(run.tables(), "workers=8", ledger).share;
  EXPECT_GE(share.expected, 0.745) << "loading is a quarter";
  EXPECT_LE(share.low, share.expected);
}

// The host's launches go, and a step takes as long: it is said why.
TEST(Predictor, WhatIsHiddenSaysWhy) {
  HandMade made;
  for (int64_t step = 0; step < kPredictedSteps; ++step) {
    const int64_t start = step * 4 * kMs;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t call = start + i * 20 * kUs, begin = start + 10 * kUs + i * 950 * kUs;
      made.OperatorOn("aten::mm", call, call + 15 * kUs, {});
      made.Kernel("gemm", {call + 5 * kUs, call + 10 * kUs, begin, begin + 949 * kUs});
    }
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, start + 90 * kUs, start + 3'990 * kUs);
    made.Step(step, start, start + 4 * kMs);
  }
  Analysed run({made.Finish()});
  const Prediction graph = Predict(run.tables(), "cudagraph");
  EXPECT_EQ(graph.share.expected, 1);
  ASSERT_EQ(graph.no_effect.size(), 1U);
  EXPECT_NE(graph.no_effect[0].find("out of a step, which waits for other work meanwhile"), std::string::npos)
      << graph.no_effect[0];
}

// A recorder of stacks may have made up 1.6 µs or 7.7 of launches 20 µs apart: the less, the more a graph saves.
TEST(Predictor, RecordingThatTookLessLeavesMoreToGain) {
  HandMade made;
  made.Format("kineto");
  for (int64_t step = 0; step < kPredictedSteps; ++step) {
    const int64_t start = step * 2 * kMs;
    for (int64_t i = 0; i < 100; ++i) {
      const int64_t call = start + i * 20 * kUs;
      made.Python("forward", call, call + 18 * kUs, "train.py:1");
      made.OperatorOn("aten::mm", call + kUs, call + 16 * kUs, {});
      made.Kernel("gemm", {call + 5 * kUs, call + 10 * kUs, call + 11 * kUs, call + 21 * kUs});
    }
    made.Step(step, start, start + 2 * kMs);
  }
  Analysed run({made.Finish()});
  const StepShares share = Predict(run.tables(), "cudagraph").share;
  EXPECT_LT(share.low, 0.77 * share.expected);
  EXPECT_GT(share.low, 0.2) << "the device works for that long";
}

TEST(Sweep, ShowsWhatEachKernelIsWorth) {
  Analysed run({Steps()});
  const auto predictor = Predictor::ForRun(run.tables());
  const auto parts = Sweep(*predictor, SweepBy::kKernel, 5);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "sgemm");
  EXPECT_NEAR(static_cast<double>(parts[0].time_ns), 2e6, 1e4);
  EXPECT_DOUBLE_EQ(parts[0].shares.front(), 1);
  EXPECT_NEAR(parts[0].shares.back(), 0.5, 0.01);
  EXPECT_NEAR(parts[1].shares.back(), 0.8, 0.01);
  for (const SweptPart& part : parts)
    for (size_t i = 1; i < part.shares.size(); ++i) EXPECT_LE(part.shares[i], part.shares[i - 1]);
  EXPECT_EQ(Sweep(*predictor, SweepBy::kKernel, 1).size(), 1U);
}

TEST(Advice, PricesAreThoseOfTheReplay) {
  Analysed run({Steps()});
  const Advice advice(run.tables());
  ASSERT_TRUE(advice.predictor() && advice.predictor()->check().accepted());
  const Findings findings = advice.Conclude({});
  const RunSummary& summary = findings.summary;
  ASSERT_FALSE(summary.plan.empty());
  ASSERT_TRUE(summary.together && summary.together->replayed);
  EXPECT_EQ(summary.estimated_speedup->expected, summary.together->gain.expected);
  std::string items;
  for (const std::string& fix : summary.together->fixes) items += (items.empty() ? "" : ",") + fix;
  const auto same = advice.predictor()->Predict(*ParseItems(items));
  EXPECT_NEAR(summary.together->replayed->expected, 1 / same->share.expected, 1e-9) << "predict says the same";
  EXPECT_NEAR(summary.together->replayed->low, 1 / same->share.high, 1e-9);
}

// 100 short kernels a step, one operator each, and a host that needs 40 µs for each of them.
std::shared_ptr<const Trace> ManyLaunches() {
  HandMade made;
  for (int64_t step = 0; step < kPredictedSteps; ++step) {
    const int64_t start = step * 4 * kMs;
    for (int64_t i = 0; i < 100; ++i) {
      const int64_t begin = start + i * 40 * kUs;
      made.Kernel("k", {begin + 20 * kUs, begin + 25 * kUs, begin + 26 * kUs, begin + 30 * kUs});
      made.OperatorOn("aten::add", begin, begin + 38 * kUs, {});
    }
    made.Step(step, start, start + 4 * kMs);
  }
  return made.Finish();
}

TEST(Advice, WhatBuysMostIsRecommendedFirst) {
  Analysed run({ManyLaunches()});
  const Advice advice(run.tables());
  const auto& all = advice.diagnosis().bottlenecks;
  const auto found = std::ranges::find(all, "launch_bound", &Bottleneck::id);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->recommendations.at(0).fix, "cudagraph") << "the rule puts compile first";
  const double graph = advice.predictor()->Predict(*ParseItems("cudagraph"))->share.expected;
  EXPECT_LT(graph, advice.predictor()->Predict(*ParseItems("compile"))->share.expected);
  EXPECT_DOUBLE_EQ(found->gain->expected, 1 / graph);
}

}  // namespace
}  // namespace gapless::internal
