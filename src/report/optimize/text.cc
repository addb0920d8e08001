// SPDX-License-Identifier: Apache-2.0
// Prints the result of `gapless optimize` on a terminal: the table, the proof, what was refused, and the next commands,
// ready to be pasted. Reasons are wrapped under themselves, beside the names of their fixes.
#include <algorithm>

#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/optimize/report.h"
#include "report/text_table.h"

namespace gapless::internal {
namespace {

// Returns a titled list in two columns; "" if there are no rows.
std::string List(std::string_view title, const std::vector<RefusedRow>& rows, int width) {
  if (rows.empty()) return "";
  size_t longest = 0;
  for (const RefusedRow& row : rows) longest = std::max(longest, row.item.size());
  std::string text = StrCat("\n", title, "\n");
  for (const RefusedRow& row : rows)
    text += StrCat("  ", Padded(row.item, longest, false), "  ", Wrapped(row.reason, longest + 4, width), "\n");
  return text;
}

// The fixes that were not tried: a person can do something about those that are listed; of the others the number.
std::string NotTried(const OptimizeView& view, int width) {
  std::vector<RefusedRow> rows = RefusedOf(view.result, false);
  const auto others = std::erase_if(rows, [](const RefusedRow& row) { return row.is_inapplicable; });
  std::string text = List("not tried", rows, width);
  if (others > 0)
    text += StrCat("\n", FormatCounted(static_cast<int64_t>(others), "fix", "fixes"),
                   " of GPUs, of several ranks or without a gain here", view.log.empty() ? "" : StrCat(": ", view.log),
                   "\n");
  return text;
}

// States the speedup, and the verdict on the training only if all fixes together were measured.
std::string Verdict(const OptimizeView& view, int width) {
  const Optimized& result = view.result;
  std::string text = StrCat(Wrapped(ProofText(result), 0, width), "\n");
  const std::string_view compared = NameOfCompared(result);
  if (result.speedup)
    text += StrCat(compared, ": ", Wrapped(TrainingText(result.training), compared.size() + 2, width), "\n");
  if (const std::string metric = MetricText(view); !metric.empty())
    text += StrCat(view.metric_name, ": ", Wrapped(metric, view.metric_name.size() + 2, width), "\n");
  return text;
}

// Lists what to do next; edits that a patch cannot express are to be made by hand.
std::string Steps(const OptimizeView& view, int width) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& how) {
    if (!how.empty()) text += StrCat("  ", Padded(what, 8, false), Wrapped(how, 10, width), "\n");
  };
  const std::vector<std::string> next = NextOf(view);
  if (!view.recipe.empty()) line("run it", next.front());
  if (!view.patch_file.empty()) line("patch", next[view.recipe.empty() ? 0 : 1]);
  line("tested", view.patch.tested);
  for (const std::string& change : ByHandOf(view.patch)) line("by hand", change);
  line("next", UnprovedText(view));
  line("page", view.page);
  line("log", view.log);
  return text.empty() ? "" : "\n" + text;
}

// Reports accepted fixes that lengthen the start by a second or more, and after how many steps that is paid back.
std::string Startup(const Optimized& result) {
  std::string text;
  for (const Decision& decision : result.decisions) {
    const auto steps = BreakEvenSteps(decision, result.before);
    if (decision.outcome == FixOutcome::kAccepted && steps && *decision.startup_s >= 1)
      text += StrCat(decision.item.ToString(), " takes ", FormatNumber(*decision.startup_s, 1),
                     " s longer to start: paid back after ", FormatCount(*steps),
                     result.inference ? " requests\n" : " steps\n");
  }
  return text;
}

}  // namespace

// Puts the table first, then the proof, and at the end, where the eye is, what to do next.
std::string OptimizeText(const OptimizeView& view, int width) {
  std::string text = StrCat(ShellCommand(view.command), view.about.empty() ? "" : StrCat(" · ", view.about), "\n\n");
  const std::vector<std::string> head = HeadOf(view);
  std::vector<std::vector<std::string>> rows;
  for (const StageRow& row : RowsOf(view)) rows.push_back(CellsOf(row, head));
  text += StrCat(Aligned(head, rows, "speedup"), "\n", Verdict(view, width), Startup(view.result));
  if (const std::string budget = BudgetText(view.result); !budget.empty())
    text += StrCat(Wrapped(budget, 0, width), "\n");
  for (const std::string& warning : view.result.warnings) text += StrCat("warning: ", Wrapped(warning, 9, width), "\n");
  text += List("tried, and not kept", RefusedOf(view.result, true), width);
  text += NotTried(view, width);
  text += List("no time was left for", UntriedOf(view.result), width);
  return text + Steps(view, width);
}

}  // namespace gapless::internal
