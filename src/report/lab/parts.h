// SPDX-License-Identifier: Apache-2.0
// Parts of the write-up (lab.h): tables, pictures, and the sections that are made of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/lab/lab.h"

namespace gapless::internal::lab {

inline constexpr std::string_view kAbsentCell = "–";

LabBlock Paragraph(std::string text);
LabBlock Picture(std::string name, std::string svg);
LabBlock TableOf(std::vector<std::vector<std::string>> rows);
LabBlock ListOf(std::vector<std::string> items);

// Cells of tables. The functions that take an absent value give an empty text, which tables show as "–".
std::string Cell(std::string text);  // "–" for an empty text
std::string StepText(std::optional<double> ms);
std::string RateText(std::optional<double> samples_per_second);
std::string UtilizationText(std::optional<double> percent);
// "1.42× (1.31–1.53)".
std::string RatioText(const LabRatio& ratio);
std::string GainRatioText(const Gain& gain);
// Returns the factor by which `stage` is faster than `first`: of their throughputs if both are known, else of their
// steps; absent where neither is.
std::optional<double> SpeedupOver(const LabStage& first, const LabStage& stage);

// Tables, with a row for each stage, recording or operator. `after` may be null.
LabBlock FixTable(const LabOptimization& optimization);
LabBlock StageTable(const std::vector<LabStage>& stages);
LabBlock RecordingTable(const std::vector<LabRecording>& recordings);
LabBlock OperatorTable(const LabRecording& before, const LabRecording* after);

struct NamedSeries {
  std::string name{};
  std::vector<double> values{};  // NaN: a gap
};
// Draws the series over each other, from the first step on; empty where no series has two finite values.
std::string LossSvg(const std::vector<NamedSeries>& series);
struct NamedStep {
  std::string name{};
  const StepPicture* picture = nullptr;
};
// Steps below each other on one time axis; empty without lanes.
std::string StepsSvg(const std::vector<NamedStep>& steps);
std::string ScalingSvg(const LabScaling& scaling);

// Sections that are made from recordings, and the end.
// The baseline: utilisation, the three main bottlenecks with their prices, and what fixing them promises.
void AddBaseline(const LabView& view, LabDocument& document);
// Operators and launches of a step, and its timeline, before and after.
void AddStep(const LabView& view, LabDocument& document);
// The fix with the most effect, and what is left to do.
void AddConclusions(const LabView& view, LabDocument& document);

}  // namespace gapless::internal::lab
