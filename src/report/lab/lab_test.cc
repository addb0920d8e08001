// SPDX-License-Identifier: Apache-2.0
// Tests the document of `gapless report`: sentences follow from numbers, absent values are dashes, and names are
// escaped.
#include "report/lab/lab.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/lab/parts.h"

namespace gapless::internal {
namespace {

LabOptimization Optimised() {
  LabOptimization of{.name = "optimized", .command = "python train.py", .training = "the same, bit for bit"};
  of.proved = true;
  of.speedup = LabRatio{.low = 1.8, .high = 2.2, .expected = 2.0};
  LabStage before{.name = "baseline", .step_ms = 100, .samples_per_second = 80, .loss = 1.5};
  before.losses = {3.0, 2.0, 1.5};
  LabStage workers{.name = "workers=4", .step_ms = 60, .samples_per_second = 133.3, .loss = 1.5};
  workers.predicted = LabRatio{.low = 1.4, .high = 1.8, .expected = 1.6};
  workers.measured = LabRatio{.low = 1.6, .high = 1.74, .expected = 1.67};
  LabStage all{.name = "all", .step_ms = 50, .samples_per_second = 160, .loss = 1.5};
  all.measured = of.speedup;
  all.losses = {3.0, std::nan(""), 1.5};
  of.stages = {before, workers, all};
  of.untried = {{"compile", "expected 1.10×, its trial takes about 70 s"}};
  return of;
}

bool Holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string TextOf(const LabView& view) { return LabMarkdown(WriteLab(view), "pictures"); }

TEST(Lab, SentencesFollowFromTheNumbers) {
  LabView view;
  view.optimizations.push_back(Optimised());
  const std::string text = TextOf(view);
  EXPECT_TRUE(Holds(text, "python train.py is 2.00× (1.80–2.20) faster"));
  EXPECT_TRUE(
      Holds(text, "Throughput goes from 80.0 to 160.0 samples a second. A step takes 50.0 ms instead of 100.0 ms."));
  EXPECT_TRUE(Holds(text, "the prediction was 1.60× (1.40–1.80) and 1.67× (1.60–1.74) was measured, which is inside"));
  EXPECT_TRUE(Holds(text, "The fix with the most effect is workers=4: 1.67× (1.60–1.74)"));
  EXPECT_TRUE(Holds(text, "Try compile, for which the budget had no time: expected 1.10×"));
  EXPECT_TRUE(Holds(text, "The loss of baseline goes from 3 to 1.5 in 3 steps."));
}

TEST(Lab, AbsentValuesAreDashesAndNoSentence) {
  LabView view;
  view.optimizations.push_back(Optimised());
  const std::string text = TextOf(view);
  EXPECT_TRUE(Holds(text, "| baseline | – | – | 100.0 ms | 80.0 | – | – | 1.5 |")) << text;
  EXPECT_FALSE(Holds(text, "GPU is used"));
  EXPECT_FALSE(Holds(text, " 0 %"));
}

// A command that is not proved is not called faster, though a mean may be above 1.
TEST(Lab, UnprovedStaysAsItIs) {
  LabView view;
  view.optimizations.push_back(Optimised());
  view.optimizations[0].proved = false;
  view.optimizations[0].conclusion = "no fix made the command significantly faster";
  view.optimizations[0].warnings = {"the machine was busy"};
  const std::string text = TextOf(view);
  EXPECT_TRUE(
      Holds(text, "the command python train.py no speedup is proved: no fix made the command significantly faster."));
  EXPECT_TRUE(Holds(text, "Warning: the machine was busy."));
  EXPECT_FALSE(Holds(text, "(1.80–2.20) faster"));
}

TEST(Lab, MissingPartsNameTheirCommand) {
  const std::string text = TextOf({});
  EXPECT_TRUE(Holds(text, "gapless profile -o before -- COMMAND"));
  EXPECT_TRUE(Holds(text, "gapless optimize -o optimized -- COMMAND"));
  EXPECT_TRUE(Holds(text, "gapless bench --scaling 1,2,4"));
}

LabRecording RecordedView(std::string name, int64_t step_ns, double operators, double self_ns) {
  LabRecording of{.name = std::move(name), .steps = 6, .step_ns = step_ns};
  of.operators = operators;
  of.top = {{.name = "aten::mul_", .calls = 140, .self_ns = self_ns}};
  of.picture = {.dur_ns = step_ns, .lanes = {{.name = "thread 1", .spans = {{.start_ns = 0, .dur_ns = step_ns / 2}}}}};
  return of;
}

TEST(Lab, StepBeforeAndAfter) {
  LabView view;
  view.recordings = {RecordedView("before", 100'000'000, 300, 20e6), RecordedView("after", 80'000'000, 150, 5e6)};
  const std::string text = TextOf(view);
  EXPECT_TRUE(Holds(text, "A step has 150 operators instead of 300, 50.0 % fewer."));
  EXPECT_TRUE(Holds(text, "aten::mul\\_ changed the most: from 20.0 ms to 5.00 ms a step.")) << text;
  EXPECT_TRUE(Holds(text, "![step](pictures/step.svg)"));
  EXPECT_TRUE(Holds(LabPage(WriteLab(view)), "<svg"));
}

TEST(Lab, StagesAreComparedWithTheFirst) {
  LabView view;
  view.stages = {{.name = "baseline", .samples_per_second = 10},
                 {.name = "loader", .samples_per_second = 25},
                 {.name = "all", .samples_per_second = 30}};
  const std::string text = TextOf(view);
  EXPECT_TRUE(Holds(text, "| loader | – | 25.0 | 2.50× | – | – | – |")) << text;
  EXPECT_TRUE(Holds(text, "all is the fastest, at 3.00× the throughput of baseline."));
  EXPECT_TRUE(Holds(text, "The stage with the most effect is loader: 2.50× over the stage before it."));
}

// Names come from files and recordings: none of them can put markup into the document.
TEST(Lab, NamesAreEscaped) {
  LabView view;
  view.stages = {{.name = "<script>|*a*", .samples_per_second = 1}, {.name = "b", .samples_per_second = 2}};
  EXPECT_TRUE(Holds(TextOf(view), "\\<script\\>\\|\\*a\\*"));
  EXPECT_FALSE(Holds(LabPage(WriteLab(view)), "<script>"));
}

TEST(LabPictures, GapsAndEmptySeries) {
  const double nan = std::nan("");
  EXPECT_EQ(lab::LossSvg({{"a", {nan, nan}}}), "");
  const std::string svg = lab::LossSvg({{"a", {3, nan, 1, 0.5}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("<polyline"), std::string::npos);
}

TEST(LabPictures, ScalingHasAnIdealLine) {
  LabScaling scaling{
      .points = {{.ranks = 1, .speedup = 1, .efficiency = 1}, {.ranks = 4, .speedup = 3, .efficiency = 0.75}}};
  EXPECT_NE(lab::ScalingSvg(scaling).find("class=\"c1 d\""), std::string::npos);
  EXPECT_EQ(lab::ScalingSvg({.points = {{.ranks = 1, .speedup = 1, .efficiency = 1}}}), "");
}

}  // namespace
}  // namespace gapless::internal
