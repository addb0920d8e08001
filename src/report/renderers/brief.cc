// SPDX-License-Identifier: Apache-2.0
// The report as a short text to be pasted to a colleague or an assistant: for each finding what it is, where in the
// code, what to try, what that brings, and how to prove it. Never more than kMaxFindings findings and a few lines for
// each, so that it stays below some 2,000 words whatever the recording holds.
#include <algorithm>

#include "base/strings.h"
#include "report/about.h"
#include "report/amounts.h"
#include "report/renderer.h"

namespace gapless::internal::brief_renderer {
namespace {

constexpr size_t kMaxFindings = 8, kMaxLines = 3, kMaxLength = 240;

// A text of the recording on one line, and not endless.
std::string Line(std::string_view text) { return Ellipsize(Printable(text), kMaxLength); }

void AppendField(std::string& out, std::string_view name, std::string_view text) {
  if (!text.empty())
    out += StrCat("   ", name, std::string(std::max<size_t>(name.size(), 8) - name.size(), ' '), text, "\n");
}

// The places in the user's code that evidence names, each once.
std::string SourcesOf(const Bottleneck& found) {
  std::vector<std::string> places;
  for (const Evidence& evidence : found.evidence)
    if (!evidence.source.empty() && places.size() < kMaxLines &&
        std::ranges::find(places, Line(evidence.source)) == places.end())
      places.push_back(Line(evidence.source));
  return places.empty() ? "not recorded" : Join(places, ", ");
}

std::string GainOf(const Report& report, const Bottleneck& found) {
  if (!found.cured_by.empty()) return StrCat("part of the gain of ", found.cured_by);
  if (!found.gain) return "not known";
  const std::string untested = UntestedText(report.summary, *found.gain);
  return StrCat(GainText(*found.gain), " of a step, after what stands above it",
                untested.empty() ? "" : StrCat("; ", untested));
}

// `number`: its place in the list of what to fix; 0: another one's fix removes it.
void AppendFinding(std::string& out, int number, const Bottleneck& found, const Report& report) {
  out += StrCat("\n", number > 0 ? StrCat(number, ". ") : "-  ", Line(found.title), "  [", found.id, ", ",
                SeverityWord(found), "]\n");
  AppendField(out, "where", SourcesOf(found));
  for (size_t i = 0; i < std::min(found.evidence.size(), kMaxLines); ++i)
    AppendField(out, i == 0 ? "shown" : "", Line(found.evidence[i].text));
  for (size_t i = 0; i < std::min(found.recommendations.size(), kMaxLines); ++i) {
    const Recommendation& advice = found.recommendations[i];
    AppendField(out, i == 0 ? "try" : "", Line(advice.text));
    for (const std::string_view line : Split(advice.code, '\n'))
      if (!line.empty()) AppendField(out, "", StrCat("    ", Line(line)));
  }
  AppendField(out, "speedup", GainOf(report, found));
  if (found.apart) AppendField(out, "", ApartText(report.summary));
}

// The fixes that `gapless optimize` knows by name, in the order of the findings.
std::string FixesOf(const Report& report) {
  std::vector<std::string> fixes;
  for (const Bottleneck& found : report.diagnosis.bottlenecks)
    for (const Recommendation& advice : found.recommendations)
      if (!found.apart && !advice.fix.empty() && std::ranges::find(fixes, advice.fix) == fixes.end())
        fixes.push_back(advice.fix);
  return Join(fixes, ",");
}

void AppendProof(std::string& out, const Report& report) {
  const std::string fixes = FixesOf(report);
  out += "\nHow to prove a change (each prints a verdict with its error, and says it by its exit status)\n";
  out += "   faster?            gapless compare -- COMMAND_BEFORE -- COMMAND_AFTER\n";
  out += "   the same training? gapless same -- COMMAND_BEFORE -- COMMAND_AFTER\n";
  if (!fixes.empty())
    out += StrCat("   all of it at once  gapless optimize --only ", ShellWord(fixes), " -- COMMAND\n");
  out += StrCat("   ask for more       gapless query ", PathToType(report.run), " \"SELECT …\"; gapless analyze ",
                PathToType(report.run), " --explain RULE\n");
}

std::string Render(const Report& report, const RenderOptions&) {
  const RunSummary& summary = report.summary;
  std::string out = StrCat("gapless brief of ", SubjectOf(report.run), "\n", Join(FactsOf(report), " · "), "\n");
  if (!summary.run_class.empty()) out += StrCat(VerdictText(summary), ": ", Line(summary.class_evidence), "\n");
  for (const Error& error : report.failures) out += StrCat("not read: ", Line(error.ToString()), "\n");
  const auto& found = report.diagnosis.bottlenecks;
  if (found.empty()) out += "\nNo bottleneck was found.\n";
  const std::vector<int> places = PlacesOf(found);
  for (size_t i = 0; i < std::min(found.size(), kMaxFindings); ++i) AppendFinding(out, places[i], found[i], report);
  if (found.size() > kMaxFindings)
    out += StrCat("\n", FormatCounted(static_cast<int64_t>(found.size() - kMaxFindings), "smaller finding"),
                  " left out; `gapless analyze` lists all.\n");
  if (summary.estimated_speedup)
    out += StrCat("\nTogether: ", GainText(*summary.estimated_speedup), " by ", TogetherText(summary, found), "\n");
  AppendProof(out, report);
  return out;
}

}  // namespace

RENDERER(brief) = {.name = "brief",
                   .help = "A short text to paste: what, where, what to try, how to prove it",
                   .extension = ".brief.txt",
                   .render = Render};

}  // namespace gapless::internal::brief_renderer
