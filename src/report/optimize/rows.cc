// SPDX-License-Identifier: Apache-2.0
// Builds the table of `gapless optimize`, which text, Markdown and page share: one row for each accepted fix, and one
// for all together. Also has the sentences that these formats have in common, so that they cannot differ.
//
// The sentence of a proof: "1.12× (1.02–1.20) faster with compile=default, from 15 pairs of runs".
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/optimize/report.h"

namespace gapless::internal {
namespace {

// Heads of the columns, in the order of StageRow; the user's metric comes after them under its own name.
constexpr std::string_view kStep = "step", kRequest = "request";  // of a program that infers
constexpr std::string_view kStageHeads[] = {"", kStep, "samples/s", "speedup", "memory", "GPU", "loss"};

// Formats a state of the command; what was not measured stays empty.
StageRow RowOf(std::string what, const Stage& before, const Stage& stage, std::string speedup) {
  StageRow row{.what = std::move(what),
               .step = StrCat(FormatNumber(stage.step_ms, stage.step_ms < 10 ? 2 : 1), " ms"),
               .speedup = std::move(speedup),
               .share = std::min(1.0, TimeRatio(before, stage))};
  if (stage.samples_per_second) row.throughput = FormatNumber(*stage.samples_per_second, 1);
  if (stage.memory_bytes) row.memory = FormatBytes(static_cast<int64_t>(*stage.memory_bytes));
  if (stage.gpu_utilization) row.gpu = FormatPercent(*stage.gpu_utilization);
  if (stage.last_loss) row.loss = FormatDigits(*stage.last_loss, 5);
  if (stage.metric) row.metric = FormatDigits(*stage.metric, 5);
  return row;
}

std::string Seconds(double seconds) { return StrCat(FormatNumber(seconds, 0), " s"); }

// Returns true if the fix is listed among those that the budget had no time for, which the tables show apart.
bool IsUntried(const Decision& decision, const Optimized& result) {
  return decision.outcome == FixOutcome::kNoTime && std::ranges::any_of(result.untried, [&](const Untried& untried) {
           return untried.item.ToString() == decision.item.ToString();
         });
}

// Returns true if the fix ran. One that does not apply ran only if the program had to be started to see that.
bool WasTried(const Decision& decision) {
  switch (decision.outcome) {
    case FixOutcome::kNoTime: return decision.pairs > 0;
    case FixOutcome::kNothingToGain:
    case FixOutcome::kNotAllowed:
    case FixOutcome::kConflict: return false;
    case FixOutcome::kDoesNotApply: return decision.took_s > 0;
    default: return true;
  }
}

}  // namespace

std::vector<RefusedRow> UntriedOf(const Optimized& result) {
  std::vector<RefusedRow> rows;
  for (const Untried& untried : result.untried)
    rows.push_back({untried.item.ToString(), StrCat("expected ", FormatNumber(untried.promise, 2),
                                                    "×, its trial takes about ", Seconds(untried.needs_s))});
  return rows;
}

// Without untried fixes a larger budget would find nothing more, and the sentence says so.
std::string BudgetText(const Optimized& result) {
  if (result.interrupted || result.budget_s <= 0) return "";
  const std::string used =
      StrCat(Seconds(result.took_s), " of the ", Seconds(result.budget_s), " of --budget were used");
  if (result.untried.empty()) return StrCat(used, "; nothing that promises more is left to try");
  return StrCat(used, "; ", result.untried.size(), result.untried.size() == 1 ? " fix had" : " fixes had",
                " too little time left, a larger --budget tries ", result.untried.size() == 1 ? "it" : "them");
}

// A fix belongs to a bottleneck if it names it among its cures, or if the bottleneck recommends the fix. An accepted
// one explains itself; only measured failures are worth a remark.
std::string FoundText(const Bottleneck& found, const Optimized& result) {
  std::string measured;
  for (const Decision& decision : result.decisions) {
    const Fix& fix = *decision.item.fix;
    bool cures = std::ranges::find(fix.trial.choice.cures, found.id) != fix.trial.choice.cures.end();
    for (const Recommendation& recommendation : found.recommendations)
      cures = cures || recommendation.fix.substr(0, recommendation.fix.find('=')) == fix.name;
    if (!cures) continue;
    if (decision.outcome == FixOutcome::kAccepted) return found.title;
    if (decision.outcome == FixOutcome::kTooSmall || decision.outcome == FixOutcome::kSlower)
      measured += StrCat(measured.empty() ? "" : ", ", decision.item.ToString());
  }
  return measured.empty() ? found.title : StrCat(found.title, " (measured without a gain: ", measured, ")");
}

std::string SpeedupText(const RatioInterval& speedup) {
  std::string text = StrCat(FormatNumber(speedup.expected, 2), "×");
  if (speedup.low && speedup.high)
    text += StrCat(" (", FormatNumber(*speedup.low, 2), "–", FormatNumber(*speedup.high, 2), ")");
  else if (speedup.low)
    text += StrCat(" (at least ", FormatNumber(*speedup.low, 2), ")");
  return text;
}

std::string TrainingText(const std::optional<ParityReport>& training) {
  return training ? training->reason : "it was not compared";
}

std::string_view NameOfCompared(const Optimized& result) { return result.inference ? "outputs" : "training"; }

std::string MetricText(const OptimizeView& view) {
  const auto& metric = view.result.metric;
  if (!metric || !view.result.speedup) return "";
  return StrCat(metric->changed ? "it is another result: " : "it stays: ", MetricWords(*metric));
}

// Distinguishes why nothing is proved: no fix stayed, a reason against all of them, no time left, too few pairs, or an
// interval that includes 1.
std::string ProofText(const Optimized& result) {
  if (result.accepted.empty() && !result.ahead.empty()) {
    const Untried& first = result.ahead.front();
    return StrCat("cannot decide here: ", first.item.ToString(), " was ahead, ", FormatNumber(first.promise, 2),
                  "×, but the pairs that there was time for do not prove it; about ", Seconds(first.needs_s),
                  " more would: --budget ", FormatNumber(std::ceil((result.budget_s + first.needs_s) / 10) * 10, 0),
                  "s");
  }
  if (result.accepted.empty())
    return result.interrupted ? "interrupted before a fix was found that stays"
                              : "no fix made the command significantly faster: it stays unchanged";
  if (!result.speedup && !result.against.empty()) return StrCat(result.accepted.ToString(), ": ", result.against);
  if (!result.speedup) return "no time was left to prove all of them together: --budget gives more";
  const std::string what = StrCat(" with ", result.accepted.ToString(), ", from ", result.pairs,
                                  result.pairs == 1 ? " pair" : " pairs", " of runs");
  if (IsProved(result)) return StrCat(SpeedupText(*result.speedup), " faster", what);
  return StrCat(SpeedupText(*result.speedup), what, ": ",
                !result.against.empty() ? result.against
                : result.speedup->low   ? "all together are not significantly faster"
                                        : "too few to be sure of all together, --budget gives more");
}

// Names the command that measures a candidate again, ready to be pasted.
std::vector<std::string> ByHandOf(const Patch& patch) {
  std::vector<std::string> all = patch.advice;
  all.insert(all.end(), patch.left_out.begin(), patch.left_out.end());
  return all;
}

std::vector<std::string> NextOf(const OptimizeView& view) {
  const std::string command = ShellCommand(view.command);
  std::vector<std::string> lines;
  if (!view.recipe.empty()) lines.push_back(StrCat("gapless run --recipe ", view.recipe, " -- ", command));
  if (!view.patch_file.empty())
    lines.push_back(StrCat("patch -p1 ", view.patch_root.empty() ? "" : StrCat("-d ", ShellWord(view.patch_root), " "),
                           "< ", view.patch_file));
  if (!view.candidate.empty())
    lines.push_back(
        StrCat("gapless validate -- ", command, " -- gapless run --recipe ", view.candidate, " -- ", command));
  return lines;
}

std::string UnprovedText(const OptimizeView& view) {
  if ((view.result.accepted.empty() && view.result.ahead.empty()) || IsProved(view.result)) return "";
  if (view.candidate.empty())
    return "nothing is proved, so there is no recipe and no patch; --keep-candidate leaves candidate.json, to go on "
           "from";
  return StrCat(view.candidate, " has them, unproved: ", NextOf(view).back(), " measures it again");
}

// A single fix that is proved was measured against the command as it is already.
bool HasRowOfAll(const Optimized& result) {
  return result.after && result.speedup && (result.accepted.items().size() > 1 || !IsProved(result));
}

// Each fix is measured over the row above it; only "all" is measured over the command as it is.
std::vector<StageRow> RowsOf(const OptimizeView& view) {
  const Optimized& result = view.result;
  std::vector<StageRow> rows = {RowOf("as it is", result.before, result.before, "1.00×")};
  for (const Decision& decision : result.decisions)
    if (decision.outcome == FixOutcome::kAccepted && decision.stage)
      rows.push_back(RowOf(StrCat("+ ", decision.item.ToString(), IsProved(result) ? "" : ", unproved"), result.before,
                           *decision.stage, decision.measured ? SpeedupText(*decision.measured) : ""));
  if (HasRowOfAll(result))
    rows.push_back(RowOf("all, over as it is", result.before, *result.after, SpeedupText(*result.speedup)));
  return rows;
}

std::vector<std::string> CellsOf(const StageRow& row, const std::vector<std::string>& head) {
  const std::vector<std::string> all = {row.what, row.step, row.throughput, row.speedup, row.memory, row.gpu, row.loss};
  std::vector<std::string> cells;
  for (const std::string& name : head) {
    const auto* const column = std::ranges::find(kStageHeads, name == kRequest ? kStep : std::string_view(name));
    cells.push_back(column == std::end(kStageHeads) ? row.metric : all[static_cast<size_t>(column - kStageHeads)]);
  }
  return cells;
}

// Keeps the columns that some row fills, by asking each row for the cell under that head.
std::vector<std::string> HeadOf(const OptimizeView& view) {
  std::vector<std::string> all(std::begin(kStageHeads), std::end(kStageHeads));
  if (!view.metric_name.empty()) all.push_back(view.metric_name);
  const std::vector<StageRow> rows = RowsOf(view);
  std::vector<std::string> head;
  for (const std::string& name : all)
    if (std::ranges::any_of(rows, [&](const StageRow& row) { return !CellsOf(row, {name})[0].empty(); }))
      head.push_back(view.result.inference && name == kStep ? std::string(kRequest) : name);
  return head;
}

// Fixes that the budget had no time for are in a list of their own, so that they are in neither of the two.
bool IsInapplicable(const Decision& decision) {
  const bool outcome = decision.outcome == FixOutcome::kNothingToGain || decision.outcome == FixOutcome::kDoesNotApply;
  return outcome && !WasTried(decision);
}

std::vector<RefusedRow> RefusedOf(const Optimized& result, bool tried) {
  std::vector<RefusedRow> rows;
  for (const Decision& decision : result.decisions)
    if (decision.outcome != FixOutcome::kAccepted && WasTried(decision) == tried && !IsUntried(decision, result))
      rows.push_back({decision.item.ToString(), decision.reason, IsInapplicable(decision)});
  return rows;
}

}  // namespace gapless::internal
