// SPDX-License-Identifier: Apache-2.0
// Writes `why` as a document for Markdown and HTML: the sentence, a picture of the steps from A to B, a table of
// causes, a table of rows for each.
#include <algorithm>
#include <cmath>

#include "report/lab/parts.h"
#include "report/svg.h"
#include "report/why/words.h"

namespace gapless::internal {
namespace {

constexpr double kWhyWidth = 900, kWhyLeft = 330, kWhyRight = 80, kWhyRow = 30, kWhyTop = 10;
constexpr size_t kMostBars = 12;
constexpr std::string_view kWhyStyle =
    ".gl .more{fill:#c2410c}.gl .less{fill:#15803d}.gl .whole{fill:#64748b}"
    "@media(prefers-color-scheme:dark){.gl .more{fill:#fb923c}.gl .less{fill:#4ade80}.gl .whole{fill:#94a3b8}}";

// A step of A, what each cause adds or takes, a step of B: each bar begins where the one before ends.
std::string Waterfall(const WhyView& view) {
  const StepDifference& difference = view.difference;
  const size_t bars = std::min(difference.causes.size(), kMostBars);
  int64_t low = std::min(difference.a_ns, difference.b_ns), high = std::max(difference.a_ns, difference.b_ns);
  int64_t at = difference.a_ns;
  for (size_t i = 0; i < bars; ++i) {
    at += difference.causes[i].ns;
    low = std::min(low, at), high = std::max(high, at);
  }
  // If the changes are small beside the steps, the axis begins close below them.
  const double from = static_cast<double>(low) > 2.0 * static_cast<double>(high - low)
                          ? static_cast<double>(low) - 0.5 * static_cast<double>(high - low)
                          : 0;
  const Scale scale{from, std::max(static_cast<double>(high), from + 1), kWhyLeft, kWhyWidth - kWhyRight};
  Svg svg({.width = kWhyWidth,
           .height = kWhyTop + kWhyRow * static_cast<double>(bars + 2) + 10,
           .kind = "why",
           .label = "From the step of A to the step of B",
           .details = WhySentence(view),
           .style = kWhyStyle});
  double y = kWhyTop;
  const auto bar = [&](std::string_view kind, std::string_view name, int64_t first, int64_t last,
                       std::string_view text) {
    const double x1 = scale.At(static_cast<double>(std::min(first, last)));
    const double x2 = scale.At(static_cast<double>(std::max(first, last)));
    svg.Text("s", "end", kWhyLeft - 10, y + 19, name);
    svg.Rect(kind, x1, y + 5, std::max(1.0, x2 - x1), kWhyRow - 10);
    svg.Text("s", "start", x2 + 6, y + 19, text);
    y += kWhyRow;
  };
  const auto start = static_cast<int64_t>(from);
  bar("whole", "step of A", start, difference.a_ns, FormatDuration(difference.a_ns));
  at = difference.a_ns;
  for (size_t i = 0; i < bars; ++i) {
    const Cause& cause = difference.causes[i];
    bar(cause.ns > 0 ? "more" : "less", TitleOf(cause), at, at + cause.ns, SignedTime(cause.ns));
    at += cause.ns;
  }
  bar("whole", "step of B", start, difference.b_ns, FormatDuration(difference.b_ns));
  return svg.Done();
}

LabBlock CauseTable(const StepDifference& difference) {
  std::vector<std::vector<std::string>> rows{{"cause", "B − A"}};
  for (const Cause& cause : difference.causes) rows.push_back({std::string(TitleOf(cause)), SignedTime(cause.ns)});
  rows.push_back({"sum", SignedTime(difference.ns())});
  return lab::TableOf(std::move(rows));
}

LabBlock RowTable(const Cause& cause, size_t most) {
  std::vector<std::vector<std::string>> rows{{"what", "line", "calls A", "calls B", "A", "B", "B − A"}};
  int64_t left = cause.ns;
  for (size_t i = 0; i < std::min(most, cause.rows.size()); ++i) {
    const CauseRow& row = cause.rows[i];
    rows.push_back({NameOfRow(cause.kind, row), lab::Cell(row.line), CallsText(row.a_calls), CallsText(row.b_calls),
                    FormatDuration(row.a_ns), FormatDuration(row.b_ns), SignedTime(row.ns)});
    left -= row.ns;
  }
  if (most < cause.rows.size())
    rows.push_back(
        {FormatCounted(static_cast<int64_t>(cause.rows.size() - most), "other"), "", "", "", "", "", SignedTime(left)});
  return lab::TableOf(std::move(rows));
}

}  // namespace

LabDocument WhyPage(const WhyView& view, size_t rows) {
  LabDocument document{.title = "Why the step changed"};
  LabSection answer{.heading = "Answer"};
  answer.blocks.push_back(lab::Paragraph(WhySentence(view)));
  answer.blocks.push_back(lab::ListOf({StrCat("A: ", view.a_name), StrCat("B: ", view.b_name)}));
  if (const auto notes = WhyNotes(view); !notes.empty()) answer.blocks.push_back(lab::ListOf(notes));
  if (!view.difference.causes.empty()) {
    answer.blocks.push_back(lab::Picture("why", Waterfall(view)));
    answer.blocks.push_back(CauseTable(view.difference));
  }
  document.sections.push_back(std::move(answer));
  for (const Cause& cause : view.difference.causes)
    document.sections.push_back({StrCat(TitleOf(cause), " (", SignedTime(cause.ns), ")"), {RowTable(cause, rows)}});
  return document;
}

}  // namespace gapless::internal
