// SPDX-License-Identifier: Apache-2.0
// Tests the windows of steps and of traces: cut-off steps, gaps between steps, warm-up, and traces without steps or
// devices.
#include "analyses/window.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

std::vector<Interval> StepSpans(const Window& window) {
  std::vector<Interval> spans;
  for (const StepWindow& step : window.steps) spans.push_back(step.span);
  return spans;
}

TEST(Window, AStepLastsUntilTheDeviceIsDoneWithItAndTheNextBeginsThere) {
  HandMade trace;
  trace.Step(0, 0, 1000).Kernel("a", {100, 110, 200, 1300});
  trace.Step(1, 1000, 2000).Kernel("b", {1100, 1110, 1300, 2100});
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(StepSpans(window), (std::vector<Interval>{{0, 1300}, {1300, 2100}}));
  EXPECT_EQ(window.span, (Interval{0, 2100}));
  EXPECT_EQ(window.host, (Interval{0, 2000}));
}

TEST(Window, StepsThatWereCutOffAreLeftOut) {
  HandMade trace;
  trace.Step(0, 0, 1000, false).Step(1, 1000, 2000).Step(2, 2000, 2500, false);
  EXPECT_EQ(StepSpans(AnalysedWindow(*trace.Finish())), (std::vector<Interval>{{1000, 2000}}));
}

TEST(Window, TheFirstStepBeginsWhenTheDeviceIsDoneWithWhatCameBefore) {
  HandMade trace;
  trace.Step(0, 0, 1000, false).Kernel("before", {900, 910, 950, 1400});
  trace.Step(1, 1000, 2000).Kernel("own", {1100, 1110, 1450, 2000});
  EXPECT_EQ(AnalysedWindow(*trace.Finish()).span, (Interval{1400, 2000}));
}

TEST(Window, TimeBetweenStepsThatAreApartBelongsToNoStep) {
  HandMade trace;
  trace.Step(0, 0, 1000).Step(1, 1009, 2000).Step(2, 2500, 3500);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(StepSpans(window), (std::vector<Interval>{{0, 1000}, {1000, 2000}, {2500, 3500}}))
      << "9 ns apart is adjacent, 500 is not";
  EXPECT_EQ(window.span, (Interval{0, 3500}));
}

TEST(Window, WorkOfAStepThatOutlastsALaterStepDoesNotOverlapIt) {
  HandMade trace;
  trace.Step(0, 0, 1000).Kernel("long", {100, 110, 200, 2600}, {.stream = 9});
  trace.Step(1, 1000, 2000).Kernel("short", {1100, 1110, 1300, 2100});
  EXPECT_EQ(StepSpans(AnalysedWindow(*trace.Finish())), (std::vector<Interval>{{0, 2100}, {2100, 2100}}));
}

TEST(Window, WithoutStepsItGoesFromTheFirstLaunchToTheEndOfTheDevicesWork) {
  HandMade trace;
  trace.Operator("aten::rand", 0, 100).Kernel("a", {150, 160, 200, 300}).Operator("aten::cpu", 400, 900);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(window.span, (Interval{150, 300}));
  EXPECT_TRUE(window.steps.empty());
}

TEST(Window, WithoutADeviceItIsTheHostsSpan) {
  HandMade trace;
  trace.Operator("aten::rand", 0, 100).Operator("aten::cpu", 400, 900);
  EXPECT_EQ(AnalysedWindow(*trace.Finish()).span, (Interval{0, 900}));
}

// `count` launches and kernels without a gap, from `start`.
void SteadyWork(HandMade& trace, int64_t start, int count) {
  for (int i = 0; i < count; ++i) {
    const int64_t at = start + i * kMs;
    trace.Kernel("gemm", {at - 1000, at - 500, at, at + kMs});
  }
}

TEST(Window, AnEdgeWithoutSteadyWorkIsSetAsideAndTimed) {
  HandMade trace;
  trace.Kernel("warm", {0, 10, 20, 1000});
  SteadyWork(trace, 493 * kMs, 100);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(window.span, (Interval{493 * kMs, 593 * kMs}));
  EXPECT_EQ(window.host, window.span);
  ASSERT_EQ(window.set_aside.size(), 1U);
  EXPECT_EQ(window.set_aside[0].kind, AsideKind::kBefore);
  EXPECT_EQ(window.set_aside[0].span, (Interval{0, 493 * kMs}));
  EXPECT_EQ(window.set_aside[0].busy_ns, 980);
}

TEST(Window, AColdStartIsLookedAtWhole) {
  HandMade trace;
  trace.Kernel("gemm", {0, 1300 * kMs, 1300 * kMs, 1300 * kMs + 10});
  SteadyWork(trace, 1301 * kMs, 100);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(window.span, (Interval{0, 1401 * kMs}));
  EXPECT_TRUE(window.set_aside.empty());
  EXPECT_EQ(window.one_off_idle_ns, 1300 * kMs);
  EXPECT_TRUE(window.IsColdStart());
}

// Twenty times two kernels behind a long first launch.
void RepeatBehindAStart(HandMade& trace) {
  trace.Kernel("start", {0, 1300 * kMs, 1300 * kMs, 1300 * kMs + 10});
  for (int i = 0; i < 20; ++i) {
    const int64_t at = (1301 + 2 * i) * kMs;
    trace.Kernel("gemm", {at - 1000, at - 500, at, at + kMs});
    trace.Kernel("add", {at, at + 500, at + kMs, at + 2 * kMs - 100});
  }
}

TEST(Window, ManyRepetitionsBehindAColdStartAreWhatIsAnalysed) {
  HandMade trace;
  RepeatBehindAStart(trace);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(window.span.start, 1301 * kMs);
  ASSERT_EQ(window.set_aside.size(), 1U);
  EXPECT_FALSE(window.IsColdStart());
}

TEST(Window, LayersBehindTheOnlyBatchOfALoaderAreNoRepetitions) {
  HandMade trace;
  trace.Loader(-900 * kMs, -100 * kMs);
  RepeatBehindAStart(trace);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_TRUE(window.set_aside.empty());
  EXPECT_TRUE(window.IsColdStart());
}

// On the host alone nothing explains a slow first step but its length.
TEST(Window, ASlowFirstStepOfTheHostIsWarmUp) {
  HandMade trace;
  for (const int64_t start : {0, 130, 170, 210})
    trace.Step(start, start * kMs, (start + (start == 0 ? 130 : 40)) * kMs);
  trace.Operator("aten::mm", 0, 250 * kMs);
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(window.steps.size(), 3U);
  EXPECT_EQ(window.span, (Interval{130 * kMs, 250 * kMs}));
}

TEST(Window, StepsOfTheHostThatGetShorterAreNoStart) {
  HandMade trace;
  int64_t at = 0;
  for (const int64_t length : {160, 80, 40, 20, 10, 5}) trace.Step(at, at * kMs, (at + length) * kMs), at += length;
  trace.Operator("aten::mm", 0, at * kMs);
  EXPECT_EQ(AnalysedWindow(*trace.Finish()).steps.size(), 3U);
}

TEST(Window, FirstStepsThatCompileAreWarmUp) {
  HandMade trace;
  trace.Step(0, 0, 1000 * kMs).Annotation("compile (dynamo_timed)", 10 * kMs, 950 * kMs);
  SteadyWork(trace, 960 * kMs, 10);
  for (int step = 1; step < 4; ++step) {
    const int64_t start = (900 + 100 * step) * kMs;
    trace.Step(step, start, start + 100 * kMs);
    SteadyWork(trace, start + kMs, 90);
  }
  const Window window = AnalysedWindow(*trace.Finish());
  EXPECT_EQ(window.steps.size(), 3U);
  EXPECT_EQ(window.span, (Interval{1000 * kMs, 1300 * kMs}));
  ASSERT_EQ(window.set_aside.size(), 1U);
  EXPECT_EQ(window.set_aside[0].kind, AsideKind::kWarmUpSteps);
  EXPECT_EQ(window.set_aside[0].steps, 1);
  EXPECT_FALSE(window.IsColdStart());
}

TEST(Window, ALongFirstStepWithoutACauseStays) {
  HandMade trace;
  trace.Step(0, 0, 1000 * kMs);
  SteadyWork(trace, 900 * kMs, 90);
  trace.Step(1, 1000 * kMs, 1100 * kMs);
  SteadyWork(trace, 1001 * kMs, 90);
  EXPECT_EQ(AnalysedWindow(*trace.Finish()).steps.size(), 2U);
}

TEST(Window, AnEmptyTraceHasNone) {
  HandMade trace;
  EXPECT_EQ(AnalysedWindow(*trace.Finish()).span, (Interval{0, 0}));
}

}  // namespace
}  // namespace gapless::internal
