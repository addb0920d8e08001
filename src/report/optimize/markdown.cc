// SPDX-License-Identifier: Apache-2.0
// Writes the result of `gapless optimize` as Markdown: the table of fixes, the rejected fixes with their reasons, the
// patch, and the log of all decisions. The log is the only output that has every decision with its evidence in
// sentences.
#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/markdown_text.h"
#include "report/optimize/report.h"

namespace gapless::internal {
namespace {

// Returns a line of a table.
std::string TableLine(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += StrCat(" ", MarkdownCell(cell), " |");
  return line + "\n";
}

// Adds a table of fixes with the reasons against them; nothing without rows.
void AddRefusedTable(std::string_view title, const std::vector<RefusedRow>& rows, std::string& text) {
  if (rows.empty()) return;
  text += StrCat("\n## ", title, "\n\n| fix | why |\n|---|---|\n");
  for (const RefusedRow& row : rows)
    text += StrCat("| `", MarkdownCell(row.item), "` | ", MarkdownEscaped(row.reason), " |\n");
}

// Every decision, with what it rests on.
void AddLog(const Optimized& result, std::string& text) {
  const std::string_view compared = result.inference ? " Outputs: " : " Training: ";
  text += "\n## The decisions, in their order\n\n";
  for (const Decision& decision : result.decisions) {
    text += StrCat("- **", MarkdownEscaped(decision.item.ToString()), "**: ", ToString(decision.outcome), ", ",
                   MarkdownEscaped(decision.reason), ".");
    if (decision.predicted) text += StrCat(" Predicted ", SpeedupText(*decision.predicted), ".");
    if (decision.measured)
      text += StrCat(" Measured ", SpeedupText(*decision.measured), " in ", decision.pairs, " pairs of ",
                     decision.live ? "blocks of steps" : "runs", ".");
    if (decision.detectable)
      text += StrCat(" This number of pairs can detect a change of ", FormatPercent(*decision.detectable), ".");
    if (decision.training) text += StrCat(compared, TrainingText(decision.training), ".");
    if (decision.metric) text += StrCat(" The metric is ", MetricWords(*decision.metric), ".");
    if (decision.took_s > 0) text += StrCat(" Took ", FormatNumber(decision.took_s, 0), " s.");
    text += "\n";
    for (const Change& change : decision.changes) text += StrCat("  - ", MarkdownEscaped(change.what), "\n");
  }
}

}  // namespace

// Puts the table and the result first; the log of decisions, which is long, comes last.
std::string OptimizeMarkdown(const OptimizeView& view) {
  const Optimized& result = view.result;
  std::string text = StrCat("# `", ShellCommand(view.command), "`\n\n", view.about, "\n\n");
  const std::vector<std::string> head = HeadOf(view);
  text += TableLine(head);
  text += "|";
  for (size_t i = 0; i < head.size(); ++i) text += i == 0 ? "---|" : "---:|";
  text += "\n";
  for (const StageRow& row : RowsOf(view)) text += TableLine(CellsOf(row, head));
  text += StrCat("\n**Result:** ", ProofText(result), ".");
  if (result.speedup)
    text += text += StrCat(result.inference ? " Outputs: " : " Training: ", TrainingText(result.training), ".");
  if (const std::string metric = MetricText(view); !metric.empty())
    text += StrCat(" ", MarkdownEscaped(view.metric_name), ": ", metric, ".");
  text += "\n";
  if (const std::string unproved = UnprovedText(view); !unproved.empty())
    text += StrCat("\nThe command stays as it is: ", unproved, ".\n");
  if (const std::string budget = BudgetText(result); !budget.empty()) text += StrCat("\nBudget: ", budget, ".\n");
  for (const std::string& warning : result.warnings) text += StrCat("\nWarning: ", MarkdownEscaped(warning), ".\n");
  AddRefusedTable("Tried, and not kept", RefusedOf(result, true), text);
  AddRefusedTable("Not tried", RefusedOf(result, false), text);
  AddRefusedTable("No time was left for", UntriedOf(result), text);
  if (!view.patch.diff.empty()) text += StrCat("\n## The patch\n\n```diff\n", view.patch.diff, "```\n");
  if (!view.patch.tested.empty()) text += StrCat("\nTested ", MarkdownEscaped(view.patch.tested), ".\n");
  for (const std::string& change : ByHandOf(view.patch)) text += StrCat("\nBy hand: ", MarkdownEscaped(change), ".\n");
  AddLog(result, text);
  return text;
}

}  // namespace gapless::internal
