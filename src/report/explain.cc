// SPDX-License-Identifier: Apache-2.0
// Writes `gapless analyze --explain RULE`: the rule's definition, its evidence with the query that lists the rows,
// severity, gain and recommendations; or its inputs, if it was not reported.
//
// The derivations repeat the formulas of diagnose with the numbers put in, so that a reader can check them by hand.
//
//   reported here
//     rank 1 is late: the others wait 40.0 µs of every step
//     severity 0.23, minor: 1 − exp(−0.040 / 0.15), for 4.0 % of the time that is affected
#include "report/explain.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "predict/plan.h"
#include "report/about.h"
#include "report/amounts.h"
#include "report/renderers/terminal/paint.h"

namespace gapless::internal {
namespace {

// Appends wrapped lines; those after the first are indented by the width of the lead.
void AppendWrapped(std::string& out, std::string_view text, const Paint& paint, std::string_view lead = "  ") {
  bool first = true;
  for (const std::string& line : WrapCut(Printable(text), paint.width() - DisplayWidth(lead))) {
    out += (first ? std::string(lead) : std::string(static_cast<size_t>(DisplayWidth(lead)), ' ')) + line + "\n";
    first = false;
  }
}

// Returns the percentage of the step that the speedup removes; below 0 the step would take longer.
double RemovedPercent(double speedup) { return 100 * (1 - 1 / speedup); }

std::string SeverityFormula(double share) { return StrCat("1 − exp(−", FormatNumber(share, 3), " / 0.15)"); }

// Writes the severity with the formula that gives it, or without if the rule sets it by itself: that of the affected
// time, or where the fix saves less, that of the most it usually saves (predict/plan.h); and never more than that of
// what is listed above.
std::string SeverityLine(const Bottleneck& found) {
  constexpr double kShown = 0.005;  // two decimals are
  const auto is = [&](double severity) { return std::abs(found.severity - severity) < kShown; };
  std::string line = StrCat("severity ", FormatNumber(found.severity, 2), ", ", SeverityWord(found.severity));
  if (!found.share_of_step) return line;
  const double share = *found.share_of_step, of_share = SeverityOfShare(share);
  const std::string affected = StrCat(SeverityFormula(share), ", for ", FormatPercent(share), " of the time");
  if (is(of_share)) return StrCat(line, ": ", affected, " that is affected");
  const std::string instead =
      StrCat(" (by the affected time it would be ", FormatNumber(of_share, 2), " = ", SeverityFormula(share), ")");
  if (!found.gain || !is(MostSevere(found.gain->expected)))
    return StrCat(line, ", as what is listed above it has no more", instead);
  if (is(kMinor)) return StrCat(line, ", as its fix saves little", instead);
  const double saved = kUsualHigh * (1 - 1 / found.gain->expected);
  return StrCat(line, ": ", SeverityFormula(saved), ", for the ", FormatPercent(saved),
                " of the time that its fix usually saves at most", instead);
}

// States the share of the step that goes away, as expected and at each end of the interval.
std::string GainLine(const Gain& gain) {
  const auto removed = [](double speedup) { return FormatNumber(RemovedPercent(speedup), 1); };
  return StrCat("gain ", GainText(gain), ", after what is listed above it: of the step then ", removed(gain.low),
                " %, ", removed(gain.expected), " % or ", removed(gain.high),
                " % would go away (low, expected and high end of the 80 % prediction interval); confidence ",
                FormatNumber(gain.confidence, 1), ", method ", gain.method);
}

// "SELECT * FROM idle WHERE id IN (3, 4)", when the rows can be asked for.
std::string QueryOf(const Evidence& evidence, const Report& report) {
  if (evidence.table.empty()) return {};
  std::string sql = StrCat("SELECT * FROM ", evidence.table);
  if (!evidence.rows.empty()) {
    std::vector<std::string> ids;
    for (const int64_t row : evidence.rows) ids.push_back(StrCat(row));
    sql += StrCat(" WHERE id IN (", Join(ids, ", "), ")");
  }
  return StrCat("gapless query ", PathToType(report.run), " \"", sql, "\"");
}

// Numbers the sentences; each has the query that lists its rows, ready to be pasted.
void AppendAllEvidence(std::string& out, const Bottleneck& found, const Report& report, const Paint& paint) {
  for (size_t i = 0; i < found.evidence.size(); ++i) {
    const Evidence& evidence = found.evidence[i];
    AppendWrapped(out, evidence.text, paint, StrCat("  ", i + 1, "  "));
    if (!evidence.source.empty()) out += StrCat("     in ", Printable(evidence.source), "\n");
    if (const std::string query = QueryOf(evidence, report); !query.empty())
      out += "     " + paint.In(Tone::kAction, query) + "\n";
  }
}

void AppendAllAdvice(std::string& out, const Bottleneck& found, const Paint& paint) {
  for (const Recommendation& advice : found.recommendations) {
    AppendWrapped(out, StrCat(advice.text, advice.effort.empty() ? "" : StrCat(" (", advice.effort, ")")), paint,
                  "  → ");
    for (const std::string_view line : Split(advice.code, '\n'))
      if (!line.empty()) out += StrCat("      ", Printable(line), "\n");
  }
}

// A rule may report several bottlenecks; each gets its own part.
void AppendFound(std::string& out, const Bottleneck& found, const Report& report, const Paint& paint) {
  out += "\n" + paint.In(Tone::kBold, "reported here") + "\n";
  AppendWrapped(out, found.title, paint);
  AppendWrapped(out, found.description, paint);
  AppendWrapped(out, SeverityLine(found), paint);
  if (found.gain) AppendWrapped(out, GainLine(*found.gain), paint);
  if (!found.part_of.empty())
    AppendWrapped(out, StrCat("its time is also in ", found.part_of, ", so the two gains are not added"), paint);
  if (!found.cured_by.empty())
    AppendWrapped(out, StrCat("the fix of ", found.cured_by, " cures it too, and its gain is counted there"), paint);
  if (!found.also.empty()) AppendWrapped(out, found.also, paint);
  out += "\n" + paint.In(Tone::kBold, "because") + "\n";
  AppendAllEvidence(out, found, report, paint);
  out += "\n" + paint.In(Tone::kBold, "what to do") + "\n";
  AppendAllAdvice(out, found, paint);
}

// Appends the rule's inputs when the rule was not reported.
void AppendSilence(std::string& out, const Report& report, const Rule& rule, const Paint& paint) {
  out += "\n" + paint.In(Tone::kBold, "not reported here") + "\n";
  AppendWrapped(out, "The inputs of the rule are below its threshold, or were not recorded. It read:", paint);
  for (const std::string_view need : rule.needs) {
    const size_t rows = report.tables.Get(need).rows();
    const Error* error = report.tables.ErrorOf(need);
    out += StrCat("  ", PadRight(need, 20), FormatCount(static_cast<int64_t>(rows)), rows == 1 ? " row" : " rows",
                  error == nullptr ? "" : StrCat(": ", Printable(error->message)), "\n");
  }
}

}  // namespace

std::string ExplainText(const Report& report, const Rule& rule, const RenderOptions& options) {
  const Paint paint(options);
  std::string out = StrCat(paint.In(Tone::kBold, rule.id), "  ", ToString(rule.type), "  ", rule.title, "\n");
  out += "\n" + paint.In(Tone::kBold, "what it looks at") + "\n";
  AppendWrapped(out, rule.why, paint);
  bool fires = false;
  for (const Bottleneck& found : report.diagnosis.bottlenecks) {
    if (found.id != rule.id) continue;
    AppendFound(out, found, report, paint);
    fires = true;
  }
  if (!fires) AppendSilence(out, report, rule, paint);
  return options.utf8 ? out : ToAscii(out);
}

}  // namespace gapless::internal
