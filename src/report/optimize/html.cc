// SPDX-License-Identifier: Apache-2.0
// The page of `gapless optimize`: no script, nothing loaded from anywhere, colours by the reader's preference. All
// texts are escaped.
#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/optimize/report.h"

namespace gapless::internal {
namespace {

// Colours are custom properties with a second set for dark viewers, so that rules name a colour once.
constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--ink:#1c2330;--quiet:#667085;--line:#e3e7ee;--good:#1a7f4b;--bar:#3b6fd4;--page:#fff;--soft:#f6f8fb}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--quiet:#98a2b3;--line:#2b3240;--good:#57c98a;--bar:#7aa2ff;--page:#141820;--soft:#1b212c}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:2.5rem auto;max-width:62rem;padding:0 1.5rem}
h1{font-size:1.25rem;margin:0}h1 code{font-weight:600}h2{font-size:1rem;margin:2.2rem 0 .6rem}
.about{color:var(--quiet);margin:.2rem 0 1.6rem}.gain{font-size:2.6rem;font-weight:650;letter-spacing:-.02em;color:var(--good);margin:0}
.gain small{font-size:1rem;font-weight:400;color:var(--quiet);letter-spacing:0}
table{border-collapse:collapse;width:100%}th,td{padding:.45rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums}
th{font-weight:500;color:var(--quiet)}th:first-child,td:first-child{text-align:left}tr:last-child td{border-bottom:0}
td.why{white-space:normal;text-align:left}.bar{display:block;height:.35rem;border-radius:.2rem;background:var(--bar);margin-top:.2rem}
pre{background:var(--soft);padding:1rem;border-radius:.5rem;overflow:auto;font-size:13px}ins{color:var(--good);text-decoration:none}del{color:#c4432b;text-decoration:none}
)";

std::string Cells(const std::vector<std::string>& cells, std::string_view tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += StrCat("<", tag, ">", XmlEscaped(cell), "</", tag, ">");
  return row + "</tr>\n";
}

// Returns the table of stages. The time of each stage is a bar below its name, against that of the first.
std::string StageTable(const OptimizeView& view) {
  const Optimized& result = view.result;
  std::vector<const Stage*> stages = {&result.before};
  for (const Decision& decision : result.decisions)
    if (decision.outcome == FixOutcome::kAccepted && decision.stage) stages.push_back(&*decision.stage);
  if (HasRowOfAll(result)) stages.push_back(&*result.after);
  const std::vector<std::string> head = HeadOf(view);
  std::string text = StrCat("<table>\n", Cells(head, "th"));
  const std::vector<StageRow> rows = RowsOf(view);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string row = Cells(CellsOf(rows[i], head), "td");
    const double share = std::min(1.0, TimeRatio(result.before, *stages[i]));
    // The bar goes into the first cell, below the name.
    row.insert(row.find("</td>"),
               StrCat("<span class=\"bar\" style=\"width:", FormatNumber(100 * share, 1), "%\"></span>"));
    text += row;
  }
  return text + "</table>\n";
}

// Adds a table of fixes with the reasons against them; nothing without rows.
void AddRefusedMarkup(std::string_view title, const std::vector<RefusedRow>& rows, std::string& page) {
  if (rows.empty()) return;
  page += StrCat("<h2>", title, "</h2>\n<table>\n");
  for (const RefusedRow& row : rows)
    page += StrCat("<tr><td><code>", XmlEscaped(row.item), "</code></td><td class=\"why\">", XmlEscaped(row.reason),
                   "</td></tr>\n");
  page += "</table>\n";
}

// Marks the lines of the patch as added or removed.
std::string Diff(const std::string& diff) {
  std::string text = "<pre>";
  for (const std::string_view line : Split(diff, '\n')) {
    const std::string_view tag = line.starts_with('+') ? "ins" : line.starts_with('-') ? "del" : "span";
    text += StrCat("<", tag, ">", XmlEscaped(line), "</", tag, ">\n");
  }
  return text + "</pre>\n";
}

}  // namespace

// Puts the proved factor first and large; without a proof there is no number at that place.
std::string OptimizePage(const OptimizeView& view) {
  const Optimized& result = view.result;
  const std::string name = XmlEscaped(ShellCommand(view.command));
  std::string page = StrCat("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", name,
                            "</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>", kPageStyle,
                            "</style></head><body>\n<h1><code>", name, "</code></h1>\n<p class=\"about\">",
                            XmlEscaped(view.about), "</p>\n");
  page +=
      IsProved(result) ? StrCat("<p class=\"gain\">", FormatNumber(result.speedup->expected, 2), "× <small>") : "<p>";
  page += XmlEscaped(ProofText(result));
  if (result.speedup) page += StrCat("; training: ", XmlEscaped(TrainingText(result.training)));
  if (const std::string metric = MetricText(view); !metric.empty())
    page += StrCat("; ", XmlEscaped(view.metric_name), ": ", XmlEscaped(metric));
  page += IsProved(result) ? "</small></p>\n" : "</p>\n";
  if (const std::string unproved = UnprovedText(view); !unproved.empty())
    page += StrCat("<p>The command stays as it is: ", XmlEscaped(unproved), ".</p>\n");
  page += StageTable(view);
  if (const std::string budget = BudgetText(result); !budget.empty())
    page += StrCat("<p>", XmlEscaped(budget), ".</p>\n");
  for (const std::string& warning : result.warnings) page += StrCat("<p>Warning: ", XmlEscaped(warning), ".</p>\n");
  AddRefusedMarkup("Tried, and not kept", RefusedOf(result, true), page);
  AddRefusedMarkup("Not tried", RefusedOf(result, false), page);
  AddRefusedMarkup("No time was left for", UntriedOf(result), page);
  if (!view.found.empty()) {
    page += "<h2>What the recording showed</h2>\n<ol>\n";
    for (const std::string& line : view.found) page += StrCat("<li>", XmlEscaped(line), "</li>\n");
    page += "</ol>\n";
  }
  if (!view.recipe.empty())
    page += StrCat("<h2>Run it</h2>\n<pre>gapless run --recipe ", XmlEscaped(view.recipe), " -- ", name, "</pre>\n");
  if (!view.patch.diff.empty()) page += StrCat("<h2>The patch</h2>\n", Diff(view.patch.diff));
  if (!view.patch.tested.empty()) page += StrCat("<p>Tested ", XmlEscaped(view.patch.tested), ".</p>\n");
  for (const std::string& change : ByHandOf(view.patch)) page += StrCat("<p>By hand: ", XmlEscaped(change), ".</p>\n");
  return page + "</body></html>\n";
}

}  // namespace gapless::internal
