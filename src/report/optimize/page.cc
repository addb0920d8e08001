// SPDX-License-Identifier: Apache-2.0
// The page of `gapless optimize`: the document of --json, and the words that text and Markdown have, too, in a page of
// web/. How the page reads it: web/src/optimize/data.ts. It has no charts, so it is in the page without their code: the
// page with it would be a hundred times as large as what there is to say.
#include "report/page.h"

#include "base/described_json.h"
#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/optimize/report.h"

namespace gapless::internal {

template <>
struct Described<RefusedRow> {
  static constexpr FieldInfo kFields[] = {
      Field<&RefusedRow::item>("fix", "", "fix and its value"),
      Field<&RefusedRow::reason>("reason", "", "the reason against it, as a sentence"),
      Hidden<&RefusedRow::is_inapplicable>(),
  };
};

namespace {

std::vector<std::vector<std::string>> CellRows(const OptimizeView& view) {
  std::vector<std::vector<std::string>> cells;
  for (const StageRow& row : RowsOf(view)) cells.push_back(CellsOf(row, HeadOf(view)));
  return cells;
}

std::string DataOf(const OptimizeView& view) {
  std::vector<double> shares;
  for (const StageRow& row : RowsOf(view)) shares.push_back(row.share);
  std::string out;
  JsonWriter json(out);
  const auto field = [&](std::string_view key, const auto& value) {
    json.Key(key);
    WriteJson(json, value);
  };
  json.BeginObject();
  json.Key("optimize");
  WriteOptimize(json, view);
  json.Key("page");
  json.BeginObject();
  field("head", HeadOf(view));
  field("rows", CellRows(view));
  field("shares", shares);
  if (view.result.speedup) field("training", TrainingText(view.result.training));
  field("metric", MetricText(view));
  field("unproved", UnprovedText(view));
  field("tried", RefusedOf(view.result, true));
  field("not_tried", RefusedOf(view.result, false));
  field("no_time", UntriedOf(view.result));
  field("found", view.found);
  if (!view.recipe.empty()) field("run", NextOf(view).front());
  field("diff", view.patch.diff);
  json.EndObject();
  json.EndObject();
  return out;
}

std::string MarkupRow(const std::vector<std::string>& cells, std::string_view tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += StrCat("<", tag, ">", XmlEscaped(cell), "</", tag, ">");
  return row + "</tr>\n";
}

// Returns the result and the table as plain markup, for readers without scripts.
std::string WithoutScript(const OptimizeView& view) {
  std::string out = StrCat("<main class=\"wrap\">\n<h1>", XmlEscaped(ShellCommand(view.command)), "</h1>\n<p>",
                           XmlEscaped(ProofText(view.result)), ".</p>\n<table>\n", MarkupRow(HeadOf(view), "th"));
  for (const std::vector<std::string>& cells : CellRows(view)) out += MarkupRow(cells, "td");
  out += "</table>\n";
  if (const std::string unproved = UnprovedText(view); !unproved.empty())
    out += StrCat("<p>The command stays as it is: ", XmlEscaped(unproved), ".</p>\n");
  return out + "<p>A script in this file draws the rest, which is also in report.md beside it.</p>\n</main>";
}

}  // namespace

std::string OptimizePage(const OptimizeView& view) {
  return FilledPage(PageWithoutCharts(), DataOf(view), WithoutScript(view));
}

}  // namespace gapless::internal
