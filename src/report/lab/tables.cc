// SPDX-License-Identifier: Apache-2.0
// Builds the tables of `gapless report`: fixes, stages, recordings and operators. Cells are texts; an absent value is
// an en dash. The column of the command's own metric is left out if no row fills it.
#include <algorithm>

#include "base/strings.h"
#include "report/amounts.h"
#include "report/lab/parts.h"

namespace gapless::internal::lab {
namespace {

std::string Number(std::optional<double> value, int digits) { return value ? FormatDigits(*value, digits) : ""; }

std::string Bytes(std::optional<double> bytes) { return bytes ? FormatBytes(static_cast<int64_t>(*bytes)) : ""; }

// Returns the last loss of a stage with five digits; "" if none was seen.
std::string LossText(const LabStage& stage) { return Number(stage.loss, 5); }

using Row = std::vector<std::string>;

// Keeps the columns that some row fills, and the first `always` ones in any case. The first row is the head.
std::vector<Row> WithoutEmptyColumns(std::vector<Row> rows, size_t always) {
  std::vector<Row> kept(rows.size());
  for (size_t column = 0; column < rows[0].size(); ++column) {
    const bool filled = std::any_of(rows.begin() + 1, rows.end(), [&](const Row& row) { return !row[column].empty(); });
    if (!filled && column >= always) continue;
    for (size_t i = 0; i < rows.size(); ++i) kept[i].push_back(Cell(rows[i][column]));
  }
  return kept;
}

}  // namespace

LabBlock Paragraph(std::string text) { return {.kind = LabBlock::Kind::kParagraph, .text = std::move(text)}; }
LabBlock Picture(std::string name, std::string svg) {
  return {.kind = LabBlock::Kind::kPicture, .text = std::move(name), .svg = std::move(svg)};
}
LabBlock TableOf(std::vector<Row> rows) {
  LabBlock block{.kind = LabBlock::Kind::kTable};
  block.rows = std::move(rows);
  return block;
}
LabBlock ListOf(std::vector<std::string> items) {
  LabBlock block{.kind = LabBlock::Kind::kList};
  for (std::string& item : items) block.rows.push_back({std::move(item)});
  return block;
}

std::string Cell(std::string text) { return text.empty() ? std::string(kAbsentCell) : text; }
std::string StepText(std::optional<double> ms) { return ms ? StrCat(FormatNumber(*ms, *ms < 10 ? 2 : 1), " ms") : ""; }
std::string RateText(std::optional<double> samples_per_second) {
  return samples_per_second ? FormatNumber(*samples_per_second, 1) : "";
}
std::string UtilizationText(std::optional<double> percent) {
  return percent ? StrCat(FormatNumber(*percent, 1), " %") : "";
}
// An interval without an upper end is shown by its lower end; without a lower end it proves nothing and is left out.
std::string RatioText(const LabRatio& ratio) {
  std::string text = StrCat(FormatNumber(ratio.expected, 2), "×");
  if (ratio.low && ratio.high)
    text += StrCat(" (", FormatNumber(*ratio.low, 2), "–", FormatNumber(*ratio.high, 2), ")");
  else if (ratio.low)
    text += StrCat(" (at least ", FormatNumber(*ratio.low, 2), ")");
  return text;
}
std::string GainRatioText(const Gain& gain) {
  return RatioText({.low = gain.low, .high = gain.high, .expected = gain.expected});
}

// Throughput comes first, because stages may differ in their batch size.
std::optional<double> SpeedupOver(const LabStage& first, const LabStage& stage) {
  if (first.samples_per_second && stage.samples_per_second && *first.samples_per_second > 0)
    return *stage.samples_per_second / *first.samples_per_second;
  if (first.step_ms && stage.step_ms && *stage.step_ms > 0) return *first.step_ms / *stage.step_ms;
  return std::nullopt;
}

// The result is the last column; it stays if the user named a metric, also when no run printed it.
LabBlock FixTable(const LabOptimization& optimization) {
  std::vector<Row> rows = {{"fix", "predicted", "measured (95 % interval)", "step", "samples/s", "memory",
                            "GPU utilisation", "last loss",
                            optimization.metric_name.empty() ? "result" : optimization.metric_name}};
  for (const LabStage& stage : optimization.stages)
    rows.push_back({stage.name, stage.predicted ? RatioText(*stage.predicted) : "",
                    stage.measured ? RatioText(*stage.measured) : "", StepText(stage.step_ms),
                    RateText(stage.samples_per_second), Bytes(stage.memory_bytes),
                    UtilizationText(stage.gpu_utilization), LossText(stage), Number(stage.metric, 5)});
  return TableOf(WithoutEmptyColumns(std::move(rows), optimization.metric_name.empty() ? 8 : 9));
}

// All factors are over the first stage, the user's baseline.
LabBlock StageTable(const std::vector<LabStage>& stages) {
  std::vector<Row> rows = {{"stage", "step", "samples/s", "speedup", "memory", "GPU utilisation", "last loss"}};
  for (const LabStage& stage : stages) {
    const auto speedup = SpeedupOver(stages.front(), stage);
    rows.push_back({stage.name, Cell(StepText(stage.step_ms)), Cell(RateText(stage.samples_per_second)),
                    Cell(speedup ? StrCat(FormatNumber(*speedup, 2), "×") : ""), Cell(Bytes(stage.memory_bytes)),
                    Cell(UtilizationText(stage.gpu_utilization)), Cell(LossText(stage))});
  }
  return TableOf(std::move(rows));
}

// All values are medians or means of recorded steps, in the order in which the recordings were given.
LabBlock RecordingTable(const std::vector<LabRecording>& recordings) {
  std::vector<Row> rows = {{"recording", "steps", "median step", "95th percentile", "GPU utilisation",
                            "CPU utilisation", "operators a step", "launches a step"}};
  for (const LabRecording& of : recordings)
    rows.push_back({of.name, of.steps > 0 ? FormatCount(of.steps) : "", of.step_ns ? FormatMs(*of.step_ns) : "",
                    of.step_p95_ns ? FormatMs(*of.step_p95_ns) : "", UtilizationText(of.gpu_utilization),
                    UtilizationText(of.cpu_utilization), of.operators ? FormatNumber(*of.operators, 0) : "",
                    of.launches ? FormatNumber(*of.launches, 0) : ""});
  for (Row& row : rows)
    for (std::string& cell : row) cell = Cell(std::move(cell));
  return TableOf(std::move(rows));
}

// Shows the union of both lists' first eight, in the order of the first, so that what vanished and what is new both
// appear.
LabBlock OperatorTable(const LabRecording& before, const LabRecording* after) {
  std::vector<Row> rows = {{"operator", "calls a step", "self time a step"}};
  if (after != nullptr) rows[0].insert(rows[0].end(), {"calls a step, after", "self time a step, after"});
  const auto add = [](const LabOperator* of, Row& row) {
    row.push_back(of != nullptr ? FormatNumber(of->calls, of->calls < 10 ? 1 : 0) : std::string(kAbsentCell));
    row.push_back(of != nullptr ? FormatMs(static_cast<int64_t>(of->self_ns)) : std::string(kAbsentCell));
  };
  const auto find = [](const LabRecording& in, const std::string& name) -> const LabOperator* {
    const auto found = std::ranges::find(in.top, name, &LabOperator::name);
    return found == in.top.end() ? nullptr : &*found;
  };
  constexpr size_t kShown = 8;
  std::vector<std::string> names;
  for (const LabRecording* of : {&before, after})
    for (size_t i = 0; of != nullptr && i < of->top.size() && i < kShown; ++i)
      if (std::ranges::find(names, of->top[i].name) == names.end()) names.push_back(of->top[i].name);
  for (const std::string& name : names) {
    Row row = {Ellipsize(name, 60)};
    add(find(before, name), row);
    if (after != nullptr) add(find(*after, name), row);
    rows.push_back(std::move(row));
  }
  return TableOf(std::move(rows));
}

}  // namespace gapless::internal::lab
