// SPDX-License-Identifier: Apache-2.0
// Tests which fixes become a finding that no rule made, and which do not.
#include "predict/unasked_fixes.h"

#include <gtest/gtest.h>

#include <string_view>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Six steps of 10 ms, each of twenty operators of that name on the host.
void OnTheHost(std::string_view name, HandMade& made) {
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t start = step * 10 * kMs;
    for (int64_t number = 0; number < 20; ++number)
      made.Operator(name, start + number * 495 * kUs, start + number * 495 * kUs + 490 * kUs);
    made.Step(step, start, start + 10 * kMs);
  }
}

std::optional<Bottleneck> Unasked(std::string_view name, const std::vector<Bottleneck>& found) {
  HandMade made;
  OnTheHost(name, made);
  Analysed run(made);
  const auto predictor = Predictor::ForRun(run.tables());
  EXPECT_TRUE(predictor && predictor->check().accepted());
  return UnaskedFixes(run.tables().run(), *predictor, found);
}

// Six steps of 10 ms, of which an optimiser takes 8, in 40 operators.
std::optional<Bottleneck> UnaskedOfUpdates() {
  HandMade made;
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t start = step * 10 * kMs;
    made.Step(step, start, start + 10 * kMs);
    made.Operator("Optimizer.step#AdamW.step", start + kMs, start + 9 * kMs);
    for (int64_t number = 0; number < 40; ++number)
      made.Operator("aten::mul_", start + kMs + number * 200 * kUs, start + kMs + (number * 200 + 190) * kUs);
  }
  Analysed run(made);
  const auto predictor = Predictor::ForRun(run.tables());
  EXPECT_TRUE(predictor && predictor->check().accepted());
  return UnaskedFixes(run.tables().run(), *predictor, {});
}

TEST(UnaskedFixes, OneThatBringsSomethingIsAFinding) {
  const auto found = UnaskedOfUpdates();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->recommendations.front().fix, "fused_optimizer");
  EXPECT_LE(found->severity, kCriticalSeverity) << "no waste was measured";
  EXPECT_FALSE(found->share_of_step.has_value());
}

TEST(UnaskedFixes, ACompilersSmallGainOnTheHostIsNone) { EXPECT_FALSE(Unasked("aten::add", {})); }

TEST(UnaskedFixes, ProductsStayAsTheyAre) { EXPECT_FALSE(Unasked("aten::mm", {})); }

TEST(UnaskedFixes, WhatIsAskedForOrJudgedIsNotSaidAgain) {
  Bottleneck asks, judges, recording;
  asks.id = "python_loop", asks.recommendations.push_back({"compile it", "compile", "", "minutes"});
  judges.id = "host_operators";  // a waste that compiling cures
  recording.id = "warm_up";
  EXPECT_FALSE(Unasked("aten::add", {asks}));
  EXPECT_FALSE(Unasked("aten::add", {judges}));
  EXPECT_FALSE(Unasked("aten::add", {recording})) << "it does not stand for the program";
}

}  // namespace
}  // namespace gapless::internal
