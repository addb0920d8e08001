// SPDX-License-Identifier: Apache-2.0
// Writes the sections of `gapless report` about the baseline, a step before and after, and the conclusions.
//
// A sentence is written only if all its numbers were measured; a section that has no sentence either says which command
// measures the numbers, or is left out.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/lab/parts.h"

namespace gapless::internal::lab {
namespace {

// Bottlenecks that the write-up describes; the report of `gapless analyze` has all of them.
constexpr size_t kMainBottlenecks = 3;

// Reports the utilisation of GPU and processors with its source, or how to record it.
std::string UtilizationSentence(const LabRecording& of) {
  std::string text;
  if (of.gpu_utilization)
    text = StrCat("The GPU is used ", UtilizationText(of.gpu_utilization), " of the time (", of.gpu_utilization_source,
                  ").");
  else if (of.device.empty())
    text = "No GPU works in this recording, so its utilisation is that of the processors.";
  if (of.cpu_utilization)
    text += StrCat(text.empty() ? "" : " ", "The processors of the host are busy ", UtilizationText(of.cpu_utilization),
                   " of the time, by telemetry; that includes other programs.");
  if (text.empty()) text = "Utilisation was not recorded: gapless profile -- COMMAND samples it beside the recording.";
  return text;
}

// Describes the steps of a recording, and what recording itself adds to them.
std::string StepSentence(const LabRecording& of) {
  if (!of.step_ns) return StrCat("The recording ", of.name, " holds no complete step.");
  std::string text =
      StrCat("The recording ", of.name, " holds ", FormatCounted(of.steps, "complete step"),
             of.device.empty() ? "" : StrCat(" on ", of.device), ", with a median of ", FormatMs(*of.step_ns));
  if (of.step_p95_ns) text += StrCat(" and a 95th percentile of ", FormatMs(*of.step_p95_ns));
  text += ".";
  if (of.added_share && *of.added_share > 0)
    text += StrCat(" Recording itself adds about ", FormatPercent(*of.added_share),
                   " of such a step, so times of a recording are longer than those of a benchmark.");
  return text;
}

// Returns the affected share and the expected gain, as far as they are known.
std::string PriceOf(const Bottleneck& found) {
  std::vector<std::string> parts;
  if (found.share_of_step) parts.push_back(StrCat(FormatPercent(*found.share_of_step), " of the step"));
  if (found.gain) parts.push_back(StrCat("fixing it is expected to give ", GainRatioText(*found.gain)));
  return Join(parts, "; ");
}

// A finding with what it costs and what to do about it.
std::string FindingText(const Bottleneck& found) {
  std::string text = StrCat(ToString(found.type), ": ", found.title);
  if (const std::string price = PriceOf(found); !price.empty()) text += StrCat(" (", price, ")");
  text += ". ";
  text += found.description;
  if (!found.recommendations.empty()) text += StrCat(" To do: ", found.recommendations.front().text, ".");
  return text;
}

// Returns the first three that no fix of another one removes; faults of the recording are no bottlenecks of the
// training.
std::vector<const Bottleneck*> MainBottlenecks(const LabRecording& of) {
  std::vector<const Bottleneck*> found;
  for (const Bottleneck& bottleneck : of.bottlenecks)
    if (found.size() < kMainBottlenecks && bottleneck.cured_by.empty() && bottleneck.type != BottleneckType::kRecording)
      found.push_back(&bottleneck);
  return found;
}

// Compares two counts per step; a change below half a percent counts as no change.
std::string ChangeText(std::string_view what, std::optional<double> before, std::optional<double> after) {
  if (!before || !after || *before <= 0) return "";
  const double share = *after / *before - 1;
  if (std::abs(share) < 0.005) return StrCat("A step still has ", FormatNumber(*after, 0), " ", what, ".");
  return StrCat("A step has ", FormatNumber(*after, 0), " ", what, " instead of ", FormatNumber(*before, 0), ", ",
                FormatPercent(std::abs(share)), share < 0 ? " fewer." : " more.");
}

// Names the operator whose self time changed the most, in either direction, among those that both recordings list.
std::string LargestChange(const LabRecording& before, const LabRecording& after) {
  const LabOperator* most = nullptr;
  double most_ns = 0, after_ns = 0;
  for (const LabOperator& of : before.top) {
    const auto found = std::ranges::find(after.top, of.name, &LabOperator::name);
    if (found == after.top.end() || std::abs(found->self_ns - of.self_ns) <= std::abs(most_ns)) continue;
    most = &of, most_ns = found->self_ns - of.self_ns, after_ns = found->self_ns;
  }
  if (most == nullptr) return "";
  return StrCat("Of the operators in both tables, ", most->name, " changed the most: from ",
                FormatMs(static_cast<int64_t>(most->self_ns)), " to ", FormatMs(static_cast<int64_t>(after_ns)),
                " a step.");
}

// "before, run 3"; "before" alone where the recording itself has that name.
std::string TitleOf(std::string_view when, const std::string& name) {
  return name == when ? name : StrCat(when, ", ", name);
}

// Draws the step before and after; without a second recording, the predicted step takes the place of the one after.
void AddPicture(const LabRecording& before, const LabRecording* after, LabSection& section) {
  std::vector<NamedStep> steps;
  if (!before.picture.lanes.empty()) steps.push_back({TitleOf("before", before.name), &before.picture});
  if (after != nullptr && !after->picture.lanes.empty())
    steps.push_back({TitleOf("after", after->name), &after->picture});
  if (after == nullptr && before.predicted)
    steps.push_back({"predicted, with the fixes that can be replayed", &*before.predicted});
  if (const std::string svg = StepsSvg(steps); !svg.empty()) {
    section.blocks.push_back(Paragraph(
        "The picture shows the complete step in the middle of each recording on one time axis, a lane for each thread "
        "of the host and each stream of the GPU."));
    section.blocks.push_back(Picture("step", svg));
  }
}

// The stage with the largest measured factor over the one above it; null without one above 1.
const LabStage* MostEffective(const LabOptimization& of) {
  const LabStage* most = nullptr;
  for (const LabStage& stage : of.stages)
    if (stage.measured && stage.name != "all" && stage.measured->expected > (most ? most->measured->expected : 1))
      most = &stage;
  return most;
}

// Names the fix, and the stage, with the largest factor over the one before it.
void AddEffects(const LabView& view, LabSection& section) {
  for (const LabOptimization& of : view.optimizations) {
    const LabStage* most = MostEffective(of);
    if (most == nullptr) continue;
    section.blocks.push_back(
        Paragraph(StrCat("The fix with the most effect is ", most->name, ": ", RatioText(*most->measured),
                         " by itself, over all "
                         "fixes before it.")));
  }
  if (view.stages.size() < 2) return;
  size_t most = 0;
  double factor = 1;
  for (size_t i = 1; i < view.stages.size(); ++i)
    if (const auto over = SpeedupOver(view.stages[i - 1], view.stages[i]); over && *over > factor)
      most = i, factor = *over;
  if (most > 0)
    section.blocks.push_back(Paragraph(StrCat("The stage with the most effect is ", view.stages[most].name, ": ",
                                              FormatNumber(factor, 2), "× over the stage before it.")));
}

// Lists what is left: fixes that the budget had no time for, the bottlenecks of the last recording, the next command.
void AddNext(const LabView& view, LabSection& section) {
  std::vector<std::string> items;
  for (const LabOptimization& of : view.optimizations)
    // Untried fixes come first: their gain is already predicted, and only time was missing.
    for (const LabReason& untried : of.untried)
      items.push_back(StrCat("Try ", untried.fix, ", for which the budget had no time: ", untried.text, "."));
  const LabRecording* last = view.recordings.empty() ? nullptr : &view.recordings.back();
  if (last != nullptr)
    for (const Bottleneck* found : MainBottlenecks(*last)) {
      const std::string price = PriceOf(*found);
      const std::string advice =
          found->recommendations.empty() ? "" : StrCat(": ", found->recommendations.front().text);
      items.push_back(
          StrCat("In ", last->name, ", ", found->title, price.empty() ? "" : StrCat(" (", price, ")"), advice, "."));
    }
  if (view.optimizations.empty() && view.stages.empty())
    items.emplace_back("gapless optimize -- COMMAND tries the fixes and proves their gain.");
  else if (view.After() == nullptr)
    items.emplace_back(
        "Record the optimised command, so that the step before and after can be compared: gapless profile -o after -- "
        "gapless run --recipe optimized/optimized.json -- COMMAND.");
  if (items.empty()) return;
  section.blocks.push_back(Paragraph("What to do next:"));
  section.blocks.push_back(ListOf(std::move(items)));
}

}  // namespace

// The first recording is the baseline, whatever its name.
void AddBaseline(const LabView& view, LabDocument& document) {
  LabSection section{.heading = "Baseline"};
  const LabRecording* before = view.Before();
  if (before == nullptr) {
    section.blocks.push_back(
        Paragraph("No recording of the baseline was given: gapless profile -o before -- COMMAND makes one, and gapless "
                  "report before reads it."));
    document.sections.push_back(std::move(section));
    return;
  }
  section.blocks.push_back(Paragraph(StrCat(StepSentence(*before), " ", UtilizationSentence(*before))));
  if (!before->run_class.empty() && before->run_class != "unknown")
    section.blocks.push_back(Paragraph(StrCat("The run is ", before->run_class, ": ", before->class_evidence, ".")));
  const auto found = MainBottlenecks(*before);
  if (found.empty()) {
    section.blocks.push_back(Paragraph("No rule reached its threshold in this recording."));
  } else {
    section.blocks.push_back(Paragraph(
        StrCat("The main ", found.size() == 1 ? "bottleneck is:" : "bottlenecks, ordered by expected gain, are:")));
    std::vector<std::string> items;
    for (const Bottleneck* bottleneck : found) items.push_back(FindingText(*bottleneck));
    section.blocks.push_back(ListOf(std::move(items)));
  }
  if (before->potential)
    section.blocks.push_back(Paragraph(
        StrCat("All fixes together are expected to make the step ", GainRatioText(*before->potential), " faster.")));
  document.sections.push_back(std::move(section));
}

// Compares the first recording with the last; with one recording it only describes its step.
void AddStep(const LabView& view, LabDocument& document) {
  const LabRecording *before = view.Before(), *after = view.After();
  if (before == nullptr) return;
  LabSection section{.heading = after != nullptr ? "A step before and after" : "A step"};
  section.blocks.push_back(RecordingTable(view.recordings));
  if (after != nullptr) {
    std::string text;
    for (const std::string& sentence :
         {ChangeText("operators", before->operators, after->operators),
          ChangeText("launches", before->launches, after->launches), LargestChange(*before, *after)})
      if (!sentence.empty()) text += StrCat(text.empty() ? "" : " ", sentence);
    if (!text.empty()) section.blocks.push_back(Paragraph(std::move(text)));
  }
  if (!before->top.empty()) {
    section.blocks.push_back(Paragraph(StrCat("The operators with the most self time on the ",
                                              before->is_device_time ? "GPU" : "host", " are these:")));
    section.blocks.push_back(OperatorTable(*before, after));
  }
  AddPicture(*before, after, section);
  document.sections.push_back(std::move(section));
}

void AddConclusions(const LabView& view, LabDocument& document) {
  LabSection section{.heading = "Conclusions"};
  AddEffects(view, section);
  AddNext(view, section);
  if (!section.blocks.empty()) document.sections.push_back(std::move(section));
}

}  // namespace gapless::internal::lab
