// SPDX-License-Identifier: Apache-2.0
// Writes `why` for a terminal: the sentence, then a table of causes, whose last column adds up to the difference.
#include <algorithm>
#include <cmath>

#include "report/text_table.h"
#include "report/why/words.h"

namespace gapless::internal {
namespace {

constexpr size_t kTimeColumns = 10;  // columns of a time
// Causes and rows below this share of the largest are added up in a line of their own.
constexpr double kShown = 0.01;

class WhyWriter {
 public:
  explicit WhyWriter(int width) : name_(static_cast<size_t>(std::max(width, 72)) - 3 * kTimeColumns) {}

  void Line(std::string_view name, std::string_view a, std::string_view b, std::string_view change) {
    std::string line =
        StrCat(Padded(Ellipsize(Printable(name), static_cast<int>(name_) - 1), name_, false),
               Padded(a, kTimeColumns, true), Padded(b, kTimeColumns, true), Padded(change, kTimeColumns, true));
    out += StrCat(line.substr(0, line.find_last_not_of(' ') + 1), "\n");
  }

  void Add(const Cause& cause, size_t rows) {
    Line(TitleOf(cause), "", "", SignedTime(cause.ns));
    int64_t left = cause.ns;
    size_t shown = 0;
    for (const CauseRow& row : cause.rows) {
      if (shown == rows ||
          std::abs(row.ns) < static_cast<int64_t>(0.05 * std::abs(static_cast<double>(cause.rows[0].ns))))
        break;
      Line(StrCat("  ", SubjectOf(cause.kind, row)), FormatDuration(row.a_ns), FormatDuration(row.b_ns),
           SignedTime(row.ns));
      left -= row.ns, ++shown;
    }
    if (shown < cause.rows.size())
      Line(StrCat("  ", FormatCounted(static_cast<int64_t>(cause.rows.size() - shown), "other")), "", "",
           SignedTime(left));
  }

  std::string out;

 private:
  size_t name_;
};

std::string AboutRun(const StepLedger& ledger) {
  std::string text;
  if (ledger.steps > 0) text = FormatCounted(ledger.steps, "step");
  if (!ledger.device_name.empty()) text += StrCat(text.empty() ? "" : " · ", ledger.devices, " × ", ledger.device_name);
  if (ledger.clock_hz) text += StrCat(" · ", FormatNumber(*ledger.clock_hz / 1e6, 0), " MHz");
  return text;
}

}  // namespace

std::string WhyText(const WhyView& view, int width, size_t rows) {
  const StepDifference& difference = view.difference;
  WhyWriter writer(width);
  for (const auto& [letter, name, ledger] :
       {std::tuple("A  ", &view.a_name, &view.a), std::tuple("B  ", &view.b_name, &view.b)}) {
    const std::string about = AboutRun(*ledger);
    writer.out += StrCat(letter, Printable(*name), about.empty() ? "" : StrCat(" · ", about), "\n");
  }
  writer.out += StrCat("\n", Wrapped(WhySentence(view), 0, width), "\n");
  for (const std::string& note : WhyNotes(view)) writer.out += StrCat(Wrapped(StrCat("Note: ", note), 0, width), "\n");
  writer.out += "\n";
  writer.Line(difference.of_steps ? "mean step" : "all that was recorded, mean of its devices", "A", "B", "B − A");
  int64_t left = difference.ns();
  size_t shown = 0;
  for (const Cause& cause : difference.causes) {
    if (static_cast<double>(std::abs(cause.ns)) < kShown * std::abs(static_cast<double>(difference.causes[0].ns)))
      break;
    writer.Add(cause, rows);
    left -= cause.ns, ++shown;
  }
  if (const size_t more = difference.causes.size() - shown; more > 0)
    writer.Line(FormatCounted(static_cast<int64_t>(more), "smaller cause"), "", "", SignedTime(left));
  writer.Line("sum", FormatDuration(difference.a_ns), FormatDuration(difference.b_ns), SignedTime(difference.ns()));
  return std::move(writer.out);
}

}  // namespace gapless::internal
