// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "report/amounts.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostNotes = 6;

// The last part of a path; of an archive's member, the member's.
std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "2 × Tesla V100", one item per kind of device.
std::string Devices(const RunSummary& summary) {
  std::map<std::string, int> counts;
  for (const DeviceBreakdown& device : summary.breakdown) ++counts[device.device_name];
  std::string text;
  for (const auto& [name, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += name.empty() ? StrCat(count, count == 1 ? " GPU" : " GPUs") : StrCat(count, " × ", Printable(name));
  }
  return text.empty() ? "no GPU work" : text;
}

std::vector<std::string> Facts(const RunSummary& summary) {
  std::vector<std::string> facts;
  if (summary.ranks.size() > 1) facts.push_back(StrCat(summary.ranks.size(), " ranks"));
  facts.push_back(Devices(summary));
  if (summary.steps > 0)
    facts.push_back(StrCat(summary.steps, summary.steps == 1 ? " complete step" : " complete steps"));
  if (summary.step_ns) {
    const std::string median = FormatDuration(summary.step_ns->median), slow = FormatDuration(summary.step_ns->p95);
    facts.push_back(StrCat("median step ", median, slow == median ? "" : StrCat(" (p95 ", slow, ")")));
  }
  if (summary.steps == 0) facts.emplace_back("no training steps marked");
  if (summary.gpu_busy_share) facts.push_back(StrCat("GPU busy ", FormatPercent(*summary.gpu_busy_share)));
  for (const std::string& fact : {MfuText(summary), ScalingText(summary)})
    if (!fact.empty()) facts.push_back(fact);
  return facts;
}

void AddReadStats(const Run& run, std::vector<std::pair<Severity, std::string>>& notes) {
  for (const RunTrace& trace : run.traces()) {
    const ReadStatsTable& stats = trace.trace->read_stats;
    for (size_t row = 0; row < stats.size(); ++row) {
      if (stats.severity[row] == Severity::kInfo) continue;
      std::string text = run.traces().size() > 1 ? StrCat(BaseName(trace.trace->info.path), ": ") : "";
      text += trace.trace->Text(stats.text[row]);
      std::vector<std::string> details;
      if (stats.count[row] > 1) details.push_back(StrCat(FormatCount(stats.count[row]), " times"));
      if (stats.first_offset[row] != kAbsent) {
        details.push_back(StrCat(details.empty() ? "" : "first ", "at byte ", FormatCount(stats.first_offset[row])));
      }
      if (!details.empty()) text += StrCat(" (", Join(details, ", "), ")");
      notes.emplace_back(stats.severity[row], std::move(text));
    }
  }
}

void AddOtherExecutions(const Run& run, std::vector<std::pair<Severity, std::string>>& notes) {
  std::vector<std::string> paths;
  for (const RunTrace& trace : run.traces()) {
    if (trace.execution != 0) paths.emplace_back(BaseName(trace.trace->info.path));
  }
  if (paths.empty()) return;
  const std::string which = paths.size() == 1 ? paths[0] : StrCat(paths[0], " and ", paths.size() - 1, " more");
  notes.emplace_back(Severity::kLoss,
                     StrCat("recorded in another run of the program, so not in these numbers: ", which));
}

}  // namespace

std::string SubjectOf(const Run& run) {
  const auto traces = run.primary();
  if (traces.empty()) return "nothing";
  const std::string_view path = traces[0]->trace->info.path;
  if (traces.size() == 1) return Printable(BaseName(path));
  const size_t member = path.find("!/");
  const size_t slash = path.find_last_of('/');
  const std::string_view parent = member != std::string_view::npos  ? path.substr(0, member)
                                  : slash == std::string_view::npos ? std::string_view()
                                                                    : path.substr(0, slash);
  if (parent.empty()) return StrCat(traces.size(), " recordings");
  return StrCat(Printable(BaseName(parent)), " (", traces.size(), " recordings)");
}

std::string HeaderSection(const Report& report, const Paint& paint) {
  const std::string subject = Ellipsize(SubjectOf(report.run), paint.width());
  const std::vector<std::string> facts = Facts(report.summary);
  std::vector<std::string> items = facts;
  items.insert(items.begin(), subject);
  std::vector<std::string> lines = WrapItems(items, paint.width());
  if (lines.size() > 1) {  // not on one line: the subject has its own
    lines = WrapItems(facts, paint.width());
    lines.insert(lines.begin(), subject);
  }
  lines[0] = paint.In(Tone::kBold, subject) + lines[0].substr(subject.size());
  return Join(lines, "\n") + "\n";
}

std::string NotesSection(const Report& report, const Paint& paint) {
  std::vector<std::pair<Severity, std::string>> notes;
  for (const Error& error : report.failures)
    notes.emplace_back(Severity::kError, StrCat("not read: ", error.ToString()));
  AddReadStats(report.run, notes);
  AddOtherExecutions(report.run, notes);
  for (const Diagnosis::Failure& failure : report.diagnosis.failures) {
    notes.emplace_back(Severity::kError, StrCat("rule ", failure.rule, " could not run: ", failure.error.message));
  }
  const size_t shown = paint.verbose() ? notes.size() : std::min(notes.size(), kMostNotes);
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const Tone tone = notes[i].first == Severity::kError ? Tone::kCritical : Tone::kWarning;
    const std::vector<std::string> lines = WrapWords(Printable(notes[i].second), paint.width() - 2);
    for (size_t line = 0; line < lines.size(); ++line)
      out += (line == 0 ? paint.In(tone, "!") + " " : "  ") + lines[line] + "\n";
  }
  if (shown < notes.size()) out += StrCat("  and ", notes.size() - shown, " more notes (-v shows them)\n");
  return out;
}

}  // namespace gapless::internal
