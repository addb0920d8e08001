// SPDX-License-Identifier: Apache-2.0
// The last lines: commands that lead on from this report, ready to be pasted.
#include <algorithm>

#include "analyses/rows/exemplars.h"
#include "base/strings.h"
#include "report/about.h"
#include "report/renderers/terminal/sections.h"
#include "trace/reading_note.h"

namespace gapless::internal {
namespace {

// A run of summaries of which no recording was opened.
bool IsOfClosedSummaries(const Report& report) {
  if (!report.tables.of_summaries()) return false;
  return std::ranges::none_of(report.run.traces(), [](const RunTrace& of) {
    return std::ranges::any_of(of.trace->read_stats.kind,
                               [&](StringId kind) { return of.trace->Text(kind) == kOpenedNote; });
  });
}

}  // namespace

std::string NextSection(const Report& report, const Paint& paint) {
  const Next next = NextOf(report);
  std::string out;
  if (!next.advice.empty())
    for (const std::string& line : WrapCut(next.advice, paint.width() - 6))
      out += StrCat(out.empty() ? "next: " : "      ", line, "\n");
  const std::string_view lead = out.empty() ? "next: " : "      ";
  out += StrCat(lead, paint.In(Tone::kAction, next.query), "\n");
  if (paint.verbose()) out += StrCat("      ", paint.In(Tone::kAction, next.sql), "\n");
  if (const auto exemplars = report.tables.Get<ExemplarsRows>(); IsOfClosedSummaries(report) && exemplars.rows() > 0) {
    std::vector<std::string> ranks;
    for (size_t row = 0; row < exemplars.rows(); ++row)
      if (!exemplars.IsNull(row, "rank")) ranks.push_back(StrCat(exemplars.Int(row, "rank")));
    out += StrCat("      --drill opens recordings for their events",
                  ranks.empty() ? "" : StrCat(": ranks ", Join(ranks, ", ")), " (table exemplars)\n");
  }
  if (!paint.verbose()) out += "      -v shows all evidence, code and a query; -o report.html writes a page\n";
  return out;
}

}  // namespace gapless::internal
