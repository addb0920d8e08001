// SPDX-License-Identifier: Apache-2.0
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

TEST(Window, AnEmptyTraceHasNone) {
  HandMade trace;
  EXPECT_EQ(AnalysedWindow(*trace.Finish()).span, (Interval{0, 0}));
}

}  // namespace
}  // namespace gapless::internal
