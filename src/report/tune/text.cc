// SPDX-License-Identifier: Apache-2.0
// Prints the result of `gapless tune`: a table of settings with the conclusion, or the shares of compute, overhead and
// communication.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/optimize/report.h"
#include "report/text_table.h"
#include "report/tune/report.h"

namespace gapless::internal {
namespace {

constexpr size_t kBar = 40;

std::string TimeText(double ms) { return StrCat(FormatNumber(ms, ms < 10 ? 2 : 1), " ms"); }

// Returns the cells of a setting; the best one is marked. A setting that lost by its first run has no measured speedup.
std::vector<std::string> CellsOf(const TuneTable& table, size_t index) {
  const TuneRow& row = table.rows[index];
  const Stage stage = row.Typical();
  std::string speedup = "1.00×";
  if (index > 0) speedup = row.is_decided ? "far slower" : "not compared";  // by its first run alone
  if (row.against_first.size() > 0) speedup = SpeedupText(row.Speedup());
  return {StrCat(index == table.best && index > 0 ? "▸ " : "  ", index == 0 ? "as it is" : row.set.ToString()),
          stage.samples_per_second ? FormatNumber(*stage.samples_per_second, 1) : "", TimeText(stage.step_ms),
          stage.memory_bytes ? FormatBytes(static_cast<int64_t>(*stage.memory_bytes)) : "", speedup};
}

// Removes the columns that no row fills, except the first.
void DropEmpty(std::vector<std::string>& head, std::vector<std::vector<std::string>>& rows) {
  for (size_t column = head.size(); column-- > 1;) {
    if (!std::ranges::all_of(rows, [&](const auto& row) { return row[column].empty(); })) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    head.erase(head.begin() + at);
    for (auto& row : rows) row.erase(row.begin() + at);
  }
}

// Lists the settings that cannot be used, with the reasons.
std::string LeftOut(const TuneTable& table, int width) {
  size_t longest = 0;
  for (const TuneRow& row : table.rows)
    if (!row.why_not.empty()) longest = std::max(longest, row.set.ToString().size());
  std::string text;
  for (const TuneRow& row : table.rows)
    if (!row.why_not.empty())
      text += StrCat("  ", Padded(row.set.ToString(), longest, false), "  ", Wrapped(row.why_not, longest + 4, width),
                     "\n");
  return text.empty() ? "" : StrCat("\nleft out\n", text);
}

// States the best setting, or that none is significantly faster, and what limits the answer.
std::string Conclusion(const TuneView& view) {
  const TuneTable& table = view.table;
  const std::string rounds = StrCat(table.rounds, table.rounds == 1 ? " round" : " rounds");
  std::string text;
  if (table.best == 0) {
    text = StrCat("no setting is significantly faster, from ", rounds, ": the command stays unchanged\n");
  } else {
    const TuneRow& best = table.rows[table.best];
    text = StrCat(best.set.ToString(), " is best: ", SpeedupText(best.Speedup()), " from ", rounds, "\n");
  }
  if (table.was_short_of_time) text += "the budget was used up: --budget gives more\n";
  if (table.best > 0 && view.is_training)
    text += "larger batches are another training: the learning rate may have to follow\n";
  return text;
}

// Returns a bar for a share of the step; a part below zero, which is noise, has none.
std::string Bar(double share) {
  const auto size = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBar));
  std::string bar;
  for (size_t i = 0; i < size; ++i) bar += "█";
  return bar;
}

}  // namespace

// Prints the settings that can be used, the conclusion, and the command that proves the best one.
std::string TuneText(const TuneView& view, int width) {
  const TuneTable& table = view.table;
  std::vector<std::string> head = {"", "samples/s", "step", "memory", "speedup"};
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].IsUsable()) rows.push_back(CellsOf(table, i));
  DropEmpty(head, rows);
  std::string text = StrCat(ShellCommand(view.command), view.about.empty() ? "" : StrCat(" · ", view.about), "\n\n",
                            Aligned(head, rows, "speedup"), "\n", Conclusion(view), LeftOut(table, width));
  if (table.best > 0)
    text += StrCat("\n  prove it  gapless optimize --only ", Join(table.rows[table.best].set.Names(), ","),
                   view.is_training ? " --allow training" : "", " -- ", ShellCommand(view.command), "\n");
  return text;
}

// Prints the parts of a step. Where a rank alone does other work, overhead cannot be separated from compute.
std::string ExchangeText(const ExchangeCost& cost, int ranks, const std::vector<std::string>& command) {
  std::string text = StrCat(ShellCommand(command), " · ", ranks, " ranks\n\n");
  const auto part = [&](std::string_view name, std::optional<double> share) {
    if (share)
      text += StrCat("  ", Padded(name, 13, false), "  ", Padded(TimeText(*share * cost.step_ms), 10, true), "  ",
                     Padded(FormatPercent(*share), 7, true), "  ", Bar(*share), "\n");
  };
  part("compute", cost.Compute());
  part("overhead", cost.Overhead());
  if (!cost.same_work) part("compute", 1 - cost.Communication());
  part("communication", cost.Communication());
  text += StrCat("  ", Padded("step", 13, false), "  ", Padded(TimeText(cost.step_ms), 10, true), "\n\n");
  text += StrCat("without the exchange of gradients a step is ", SpeedupText(cost.speedup), " as fast, from ",
                 cost.rounds, cost.rounds == 1 ? " round" : " rounds",
                 cost.verdict == SpeedVerdict::kFaster ? "\n" : ", which is not significant\n");
  if (!cost.same_work)
    text += "a rank alone has other batches, so what ranks cost each other is part of compute here\n";
  else if (cost.samples_per_second == 0)
    text += "how many samples a step has is not known: a rank alone is taken to have as many as beside others\n";
  return text;
}

}  // namespace gapless::internal
