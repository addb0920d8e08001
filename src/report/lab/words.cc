// SPDX-License-Identifier: Apache-2.0
// Writes the other sections of the write-up, and puts all of them in order. A section whose numbers are missing says
// which command gives them.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/lab/parts.h"

namespace gapless::internal {
namespace {

using namespace lab;  // NOLINT(google-build-using-namespace): the parts of this document

// The stage of all fixes together: the last row.
const LabStage* LastOf(const LabOptimization& optimization) {
  return optimization.stages.size() < 2 ? nullptr : &optimization.stages.back();
}

// States a speedup only if it is proved; otherwise it states the conclusion of the search.
std::string ResultSentence(const LabOptimization& of) {
  const LabStage* last = LastOf(of);
  if (!of.proved || !of.speedup || last == nullptr)
    return StrCat("For the command ", of.command, " no speedup is proved: ", of.conclusion, ".");
  std::string text = StrCat("With the fixes below the command ", of.command, " is ", RatioText(*of.speedup),
                            " faster; the range is a 95 % interval over paired runs in random order.");
  const LabStage& first = of.stages.front();
  if (first.samples_per_second && last->samples_per_second)
    text += StrCat(" Throughput goes from ", RateText(first.samples_per_second), " to ",
                   RateText(last->samples_per_second), " samples a second.");
  if (first.step_ms && last->step_ms)
    text += StrCat(" A step takes ", StepText(last->step_ms), " instead of ", StepText(first.step_ms), ".");
  return text;
}

// The answer first: the proved speedup, the fastest stage, the recorded steps.
void AddSummary(const LabView& view, LabDocument& document) {
  LabSection section{.heading = "Result"};
  for (const LabOptimization& of : view.optimizations) section.blocks.push_back(Paragraph(ResultSentence(of)));
  if (view.stages.size() > 1) {
    const LabStage *best = &view.stages[0], *first = &view.stages[0];
    for (const LabStage& stage : view.stages)
      if (SpeedupOver(*first, stage).value_or(0) > SpeedupOver(*first, *best).value_or(0)) best = &stage;
    if (best != first)
      section.blocks.push_back(
          Paragraph(StrCat("Of ", view.stages.size(), " stages ", best->name, " is the fastest, at ",
                           FormatNumber(*SpeedupOver(*first, *best), 2), "× the throughput of ", first->name, ".")));
    else
      section.blocks.push_back(
          Paragraph(StrCat("None of ", view.stages.size(), " stages is faster than ", first->name, ".")));
  }
  const LabRecording *before = view.Before(), *after = view.After();
  if (before != nullptr && after != nullptr && before->step_ns && after->step_ns)
    section.blocks.push_back(Paragraph(StrCat(
        "The median step of the recordings is ", FormatMs(*before->step_ns), " in ", before->name, " and ",
        FormatMs(*after->step_ns), " in ", after->name,
        ". These are recorded steps, which recording lengthens, so they show where time went, and prove no speedup.")));
  if (!section.blocks.empty()) document.sections.push_back(std::move(section));
}

// Shows each fix with its prediction and its measurement, so that a reader sees how far predictions can be relied on.
void AddFixes(const LabOptimization& of, LabSection& section) {
  section.blocks.push_back(Paragraph(
      "Each row is the command with the fix of that row and all fixes above it. The prediction was made from the "
      "recording before the fix was tried. A measured factor is over the row above; that of the last row, if it is "
      "\"all\", is over the command as it is."));
  section.blocks.push_back(FixTable(of));
  for (const LabStage& stage : of.stages) {
    if (!stage.predicted || !stage.measured || !stage.predicted->low || !stage.predicted->high) continue;
    const bool inside =
        stage.measured->expected >= *stage.predicted->low && stage.measured->expected <= *stage.predicted->high;
    section.blocks.push_back(Paragraph(StrCat("For ", stage.name, " the prediction was ", RatioText(*stage.predicted),
                                              " and ", RatioText(*stage.measured), " was measured, which is ",
                                              inside ? "inside" : "outside", " the 80 % prediction interval.")));
  }
  if (!of.refused.empty()) {
    section.blocks.push_back(
        Paragraph(StrCat(FormatCounted(static_cast<int64_t>(of.refused.size()), "fix", "fixes"), " did not stay:")));
    std::vector<std::string> items;
    for (const LabReason& reason : of.refused) items.push_back(StrCat(reason.fix, ": ", reason.text));
    section.blocks.push_back(ListOf(std::move(items)));
  }
  for (const std::string& warning : of.warnings) section.blocks.push_back(Paragraph(StrCat("Warning: ", warning, ".")));
  if (of.took_s && of.budget_s)
    section.blocks.push_back(Paragraph(StrCat("The search took ", FormatNumber(*of.took_s, 0), " s of a budget of ",
                                              FormatNumber(*of.budget_s, 0), " s.")));
}

// Shows the fixes of each search, then the stages that the user measured, then settings that were tuned.
void AddWhatWasDone(const LabView& view, LabDocument& document) {
  LabSection section{.heading = "What was done"};
  for (const LabOptimization& of : view.optimizations) AddFixes(of, section);
  if (!view.stages.empty()) {
    section.blocks.push_back(StageTable(view.stages));
    section.blocks.push_back(Paragraph(
        "Speedup is the ratio of throughputs to the first row (of step times where no throughput is known). Each stage "
        "was measured by itself, so there is no interval: gapless compare -- A -- B runs two commands in pairs and "
        "gives "
        "one."));
    std::vector<std::string> noise;
    for (const LabStage& stage : view.stages)
      for (const std::string& seen : stage.noise)
        noise.push_back(StrCat("While ", stage.name, " was measured, ", seen, "."));
    if (!noise.empty()) section.blocks.push_back(ListOf(std::move(noise)));
  }
  for (const LabTuning& tuning : view.tunings) {
    section.blocks.push_back(Paragraph(StrCat("Settings that gapless tune measured (", tuning.name, "):")));
    section.blocks.push_back(StageTable(tuning.settings));
    if (tuning.best < tuning.settings.size())
      section.blocks.push_back(Paragraph(StrCat("The best setting is ", tuning.settings[tuning.best].name, ".")));
  }
  if (section.blocks.empty())
    section.blocks.push_back(Paragraph(
        "No result of fixes was given: gapless optimize -o optimized -- COMMAND tries them, and gapless report "
        "optimized has their table."));
  document.sections.push_back(std::move(section));
}

// Returns the first or the last finite loss; "" without a finite loss.
std::string Finite(const std::vector<double>& losses, bool first) {
  const auto found =
      first ? std::find_if(losses.begin(), losses.end(), [](double v) { return std::isfinite(v); }) : losses.end();
  if (first) return found == losses.end() ? "" : FormatDigits(*found, 4);
  for (auto at = losses.rbegin(); at != losses.rend(); ++at)
    if (std::isfinite(*at)) return FormatDigits(*at, 4);
  return "";
}

// Returns the losses of benchmarks; those of recordings, which are of few steps, only where there are no others.
std::vector<NamedSeries> LossesOf(const LabView& view) {
  std::vector<NamedSeries> series;
  const auto add = [&](const std::string& name, const std::vector<double>& losses) {
    if (std::ranges::any_of(losses, [](double value) { return std::isfinite(value); }))
      series.push_back({name, losses});
  };
  for (const LabOptimization& of : view.optimizations)
    for (const LabStage& stage : of.stages) add(stage.name, stage.losses);
  for (const LabStage& stage : view.stages) add(stage.name, stage.losses);
  if (series.empty())
    for (const LabRecording& of : view.recordings) add(of.name, of.losses);
  return series;
}

// Draws the losses and states the verdict on the training, which the curves alone do not prove.
void AddLosses(const LabView& view, LabDocument& document) {
  LabSection section{.heading = "Loss"};
  const std::vector<NamedSeries> series = LossesOf(view);
  if (const std::string svg = LossSvg(series); !svg.empty()) section.blocks.push_back(Picture("loss", svg));
  for (const NamedSeries& shown : series)
    section.blocks.push_back(Paragraph(StrCat("The loss of ", shown.name, " goes from ", Finite(shown.values, true),
                                              " to ", Finite(shown.values, false), " in ",
                                              FormatCounted(static_cast<int64_t>(shown.values.size()), "step"), ".")));
  for (const LabOptimization& of : view.optimizations)
    if (!of.training.empty())
      section.blocks.push_back(Paragraph(StrCat("Is it the same training? ", of.training, ".")));
  if (section.blocks.empty())
    section.blocks.push_back(Paragraph(
        "No losses were recorded: gapless profile and gapless optimize record them where the program computes one with "
        "PyTorch."));
  document.sections.push_back(std::move(section));
}

// Shows each scaling curve as a table and a picture, and its last point as a sentence.
void AddScaling(const LabView& view, LabDocument& document) {
  LabSection section{.heading = "Scaling"};
  for (const LabScaling& scaling : view.scalings) {
    std::vector<std::vector<std::string>> rows = {{"ranks", "step", "samples/s", "speedup", "efficiency"}};
    for (const LabScalingPoint& point : scaling.points)
      rows.push_back({StrCat(point.ranks), Cell(StepText(point.step_ms)), Cell(RateText(point.samples_per_second)),
                      StrCat(FormatNumber(point.speedup, 2), "×"), FormatPercent(point.efficiency)});
    section.blocks.push_back(TableOf(std::move(rows)));
    if (const std::string svg = ScalingSvg(scaling); !svg.empty()) section.blocks.push_back(Picture("scaling", svg));
    const LabScalingPoint& last = scaling.points.back();
    section.blocks.push_back(
        Paragraph(StrCat("With ", last.ranks, " ranks the throughput is ", FormatNumber(last.speedup, 2), "× that of ",
                         scaling.points.front().ranks, ", an efficiency of ", FormatPercent(last.efficiency),
                         scaling.kind == "weak"     ? ", where each rank has the same number of samples at any count."
                         : scaling.kind == "strong" ? ", where all ranks share the same samples."
                                                    : ".")));
  }
  if (section.blocks.empty())
    section.blocks.push_back(
        Paragraph("Scaling was not measured: gapless bench --scaling 1,2,4 --json=scaling.json -- COMMAND measures it, "
                  "and gapless "
                  "report scaling.json draws the curve."));
  document.sections.push_back(std::move(section));
}

// Takes over what `gapless trend` says about a history, its chart included.
void AddHistory(const LabView& view, LabDocument& document) {
  for (const LabHistory& history : view.histories) {
    LabSection section{.heading = "History"};
    section.blocks.push_back(Paragraph(StrCat(history.heading, ".")));
    if (!history.svg.empty()) section.blocks.push_back(Picture("history", history.svg));
    if (!history.sentences.empty()) section.blocks.push_back(ListOf(history.sentences));
    document.sections.push_back(std::move(section));
  }
}

}  // namespace

// The order is that of a lab report: result, baseline, what was done, evidence, conclusions.
LabDocument WriteLab(const LabView& view) {
  LabDocument document{.title = view.title.empty() ? "Performance report" : view.title};
  AddSummary(view, document);
  lab::AddBaseline(view, document);
  AddWhatWasDone(view, document);
  AddLosses(view, document);
  lab::AddStep(view, document);
  AddScaling(view, document);
  AddHistory(view, document);
  lab::AddConclusions(view, document);
  return document;
}

}  // namespace gapless::internal
