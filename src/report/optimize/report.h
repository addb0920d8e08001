// SPDX-License-Identifier: Apache-2.0
// The output of `gapless optimize`: a table with one row for each accepted fix, the rejected fixes with their reasons,
// and the next step. Text, Markdown and the page show the same rows; JSON has the numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/json_writer.h"
#include "gapless/bottleneck.h"
#include "optimize/patch.h"
#include "optimize/planner.h"

namespace gapless::internal {

// The content that all formats of the report show. The result outlives it.
struct OptimizeView {
  const Optimized& result;
  std::vector<std::string> command{};
  std::string about{};               // "2 processors · torch 2.15.0"
  std::string metric_name{};         // name of --metric; empty: none
  std::vector<std::string> found{};  // bottlenecks: a line each
  Patch patch{};
  std::string patch_root{};  // where it applies; empty: here
  // Paths as the user would type them; empty: none. A recipe is of what is proved, a candidate of what is not.
  std::string folder{}, recipe{}, candidate{}, patch_file{}, log{}, page{};
};

// A row as it is read. Empty cells were not measured.
struct StageRow {
  std::string what{}, step{}, throughput{}, speedup{}, memory{}, gpu{}, loss{}, metric{};
  double share = 1;  // its time of that of the command as it is, at most 1
};
std::vector<StageRow> RowsOf(const OptimizeView& view);
std::vector<std::string> HeadOf(const OptimizeView& view);  // heads of the columns that any row fills
std::vector<std::string> CellsOf(const StageRow& row, const std::vector<std::string>& head);

// Returns true if a fix was not tried because it does not fit the program or the machine, or nothing is to be gained.
bool IsInapplicable(const Decision& decision);
// A fix, and the sentence with the reason against it, without a full stop.
struct RefusedRow {
  std::string item{}, reason{};
  bool is_inapplicable = false;
};
// Returns the fixes that were tried and rejected; if `tried` is false, also the fixes that were never tried.
std::vector<RefusedRow> RefusedOf(const Optimized& result, bool tried);

// Returns the fixes that the budget left no time for, with their prediction: "expected 1.40×, its trial takes about 53
// s".
std::vector<RefusedRow> UntriedOf(const Optimized& result);
// One sentence on the budget, no full stop: that it was used, or that nothing is left to try. Empty: interrupted.
std::string BudgetText(const Optimized& result);
// The title of a bottleneck, and that its fix was measured without a gain, where it was.
std::string FoundText(const Bottleneck& found, const Optimized& result);

// "1.47x (1.41 to 1.53)", an end that is not known yet left out.
std::string SpeedupText(const RatioInterval& speedup);
// Returns in words if the training stays the same: "the same, bit for bit, over 20 steps".
std::string TrainingText(const std::optional<ParityReport>& training);

// "training", or "outputs" of a program that infers: what that sentence is about.
std::string_view NameOfCompared(const Optimized& result);

// Returns what became of the metric with all fixes together, in words without its name. Empty: none was compared.
std::string MetricText(const OptimizeView& view);

// Returns true if the table has a separate row for all fixes together: false if it would repeat the last fix's row.
bool HasRowOfAll(const Optimized& result);
// One sentence on all of them together, no full stop: how much faster, or why that is not known.
std::string ProofText(const Optimized& result);
// Changes that the patch does not hold: a sentence each, what to do or why not.
std::vector<std::string> ByHandOf(const Patch& patch);
// Command lines that use the result, the first one first: run it and apply the patch where it is proved, else measure
// the candidate again. Empty: nothing was kept.
std::vector<std::string> NextOf(const OptimizeView& view);
// Returns the next step for fixes that were kept without a proof of all together, without a full stop. Empty: proved,
// or no fix was kept.
std::string UnprovedText(const OptimizeView& view);

// The whole report: as text in lines of at most `width` columns, as Markdown, and as a page of HTML that loads nothing.
std::string OptimizeText(const OptimizeView& view, int width);
std::string OptimizeMarkdown(const OptimizeView& view);
std::string OptimizePage(const OptimizeView& view);
// The documents of --json.
extern const TypeInfo kOptimizeDocument;
std::string OptimizeJson(const OptimizeView& view);
void WriteOptimize(JsonWriter& json, const OptimizeView& view);

}  // namespace gapless::internal
