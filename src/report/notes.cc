// SPDX-License-Identifier: Apache-2.0
// Writes the notes of a report. Their texts are not made printable, because Markdown and HTML escape them in other
// ways.
#include "report/notes.h"

#include <optional>

#include "analyses/rows/python_functions.h"
#include "analyses/rows/python_lines.h"
#include "analyses/rows/recording_cost.h"
#include "analyses/rows/set_aside.h"
#include "analyses/rows/whole_run.h"
#include "base/strings.h"
#include "report/about.h"
#include "report/amounts.h"
#include "trace/reading_note.h"

namespace gapless::internal {
namespace {

constexpr double kMinRecordingCost = 0.01;  // share of a recorded step; less is lost in the variation between steps
constexpr double kMinBackground = 0.03;     // share of the steps' time, as of work that steps wait for
constexpr size_t kTopFunctions = 3;

// Adds a note for each kind of loss or error that a reader counted, with its count and first place.
void AddReadStats(const Run& run, std::vector<Note>& notes) {
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
      notes.push_back({stats.severity[row], std::move(text)});
    }
  }
}

// Adds a note with the recordings that were opened in place of their summaries.
void AddOpened(const Run& run, std::vector<Note>& notes) {
  std::vector<std::string> opened;
  for (const RunTrace& of : run.traces()) {
    const ReadStatsTable& stats = of.trace->read_stats;
    for (size_t row = 0; row < stats.size(); ++row)
      if (of.trace->Text(stats.kind[row]) == kOpenedNote)
        opened.push_back(StrCat(of.rank() == kAbsent ? "" : StrCat("rank ", of.rank(), " "), of.trace->info.path));
  }
  if (!opened.empty()) notes.push_back({Severity::kInfo, StrCat("opened for their events: ", Join(opened, ", "))});
}

bool UsesDevice(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) { return of->trace->gpu_ops.size() > 0; });
}

// Adds a note for each stretch that the analysis excludes: "excluded: the time before the steady work, 493 ms, in which
// the GPU works for 12 µs".
void AddSetAside(const Report& report, std::vector<Note>& notes) {
  const auto excluded = report.tables.Get<SetAsideRows>();
  for (size_t row = 0; row < excluded.rows(); ++row) {
    const std::string_view kind = excluded.Text(row, "kind");
    const int64_t steps = excluded.Int(row, "steps");
    const std::string what = kind == "warm_up_steps"
                                 ? StrCat("the first ", steps == 1 ? "step" : StrCat(steps, " steps"), " (warm-up)")
                             : kind == "before" ? "the time before the steady work"
                                                : "the time after the steady work";
    const int64_t busy_ns = excluded.Int(row, "busy_ns");
    const std::string busy =
        UsesDevice(report.run) ? StrCat(", in which the GPU works for ", FormatDuration(busy_ns)) : "";
    notes.push_back(
        {Severity::kLoss, StrCat("excluded: ", what, ", ", FormatDuration(excluded.Int(row, "dur_ns")), busy)});
  }
}

// Adds a note on the time that recording added to the recorded steps, of the process that it slowed down most.
void AddRecordingCost(Tables& tables, std::vector<Note>& notes) {
  const auto cost = tables.Get<RecordingCostRows>();
  std::optional<size_t> worst;
  for (size_t row = 0; row < cost.rows(); ++row)
    if (!worst || cost.Real(row, "added_share") > cost.Real(*worst, "added_share")) worst = row;
  if (!worst || cost.Real(*worst, "added_share") < kMinRecordingCost) return;
  const std::string recorded = FormatDuration(cost.Int(*worst, "recorded_ns"));
  std::string text = StrCat("recording adds about ", FormatDuration(cost.Int(*worst, "added_ns")), " to a step (",
                            FormatPercent(cost.Real(*worst, "added_share")), "): ");
  if (cost.Text(*worst, "method") == "compared")
    text += StrCat("the median of ", cost.Int(*worst, "recorded_steps"), " recorded steps is ", recorded, ", that of ",
                   cost.Int(*worst, "other_steps"), " others ", FormatDuration(cost.Int(*worst, "other_ns")));
  else
    text += StrCat("at least, for it recorded ", FormatCount(cost.Int(*worst, "calls_per_step")),
                   " Python calls in each, which take 0.15 µs or more apiece");
  notes.push_back({Severity::kInfo, std::move(text)});
}

// Adds a note on checkpoints, logging and the like in threads of their own: no step waits for them, and no finding
// names them.
void AddBackground(Tables& tables, std::vector<Note>& notes) {
  const auto run = tables.Get<WholeRunRows>();
  int64_t steps_ns = 0;
  for (size_t row = 0; row < run.rows(); ++row)
    if (run.Text(row, "kind") == "step") steps_ns += run.Int(row, "total_ns");
  std::vector<std::string> parts;
  for (size_t row = 0; row < run.rows(); ++row) {
    const int64_t ns = run.Int(row, "total_ns");
    const bool is_much = static_cast<double>(ns) >= kMinBackground * static_cast<double>(steps_ns);
    if (run.Text(row, "kind") != "background" || run.IsNull(row, "detail") || !is_much) continue;
    std::string text = StrCat(run.Text(row, "detail"), ' ', FormatDuration(ns));
    if (!run.IsNull(row, "source_line")) text += StrCat(" (", run.Text(row, "source_line"), ")");
    parts.push_back(std::move(text));
  }
  if (!parts.empty())
    notes.push_back({Severity::kInfo, StrCat("in threads of their own, which no step waits for: ", Join(parts, ", "))});
}

// Adds a note on the functions with most time of their own, of a profile of the Python code.
void AddTopFunctions(Tables& tables, std::vector<Note>& notes) {
  const auto functions = tables.Get<PythonFunctionsRows>();
  std::vector<std::string> top;
  for (size_t row = 0; row < functions.rows() && top.size() < kTopFunctions; ++row) {
    // The rows of the first trace stand for all: times of several processes must not be mixed in one list.
    if (functions.Int(row, "trace") != functions.Int(0, "trace")) break;
    const bool sleeps = functions.Text(row, "function").find("time.sleep") != std::string_view::npos;
    if (functions.Int(row, "is_users") == 0 && !sleeps) continue;  // imports are Python, too
    std::string text(functions.Text(row, "function"));
    if (!functions.IsNull(row, "file")) {
      const bool has_line = !functions.IsNull(row, "line");
      text += StrCat(" (", BaseName(functions.Text(row, "file")),
                     has_line ? StrCat(", from line ", functions.Int(row, "line")) : "", ")");
    }
    text += StrCat(" ", FormatDuration(functions.Int(row, "self_ns")));
    if (!functions.IsNull(row, "calls")) text += StrCat(" in ", FormatCount(functions.Int(row, "calls")), " calls");
    top.push_back(std::move(text));
  }
  if (top.empty()) return;
  const std::string_view how = functions.Text(0, "kind") == "cprofile" ? "counted by cProfile" : "by sampled stacks";
  notes.push_back(
      {Severity::kInfo, StrCat("Python functions with most time of their own, ", how, ": ", Join(top, ", "))});
}

// Adds a note on the lines of the user's code that take most time, or hold most memory.
void AddTopLines(Tables& tables, std::vector<Note>& notes) {
  const auto lines = tables.Get<PythonLinesRows>();
  std::vector<std::string> top;
  const bool memory = lines.rows() > 0 && lines.IsNull(0, "self_ns");  // a profile of the memory
  for (size_t row = 0; row < lines.rows() && top.size() < kTopFunctions; ++row) {
    if (lines.Int(row, "trace") != lines.Int(0, "trace")) break;
    if (lines.Int(row, "is_users") == 0) continue;
    std::string text =
        StrCat(BaseName(lines.Text(row, "file")), ":", lines.Int(row, "line"), " ",
               memory ? FormatBytes(lines.Int(row, "bytes")) : FormatDuration(lines.Int(row, "self_ns")));
    if (!lines.IsNull(row, "calls")) text += StrCat(" in ", FormatCounted(lines.Int(row, "calls"), "run"));
    top.push_back(std::move(text));
  }
  if (top.empty()) return;
  notes.push_back({Severity::kInfo, StrCat(lines.Text(0, "kind") == "tracemalloc"
                                               ? "Python lines whose allocations are alive at the end: "
                                           : memory ? "Python lines by the memory that they allocate: "
                                                    : "Python lines with most time: ",
                                           Join(top, ", "))});
}

}  // namespace

// Puts what the report lacks first, and facts about the recording last, as formats may show only the first notes.
std::vector<Note> NotesOf(const Report& report) {
  std::vector<Note> notes;
  for (const Error& error : report.failures)
    notes.push_back({Severity::kError, StrCat("not read: ", error.ToString())});
  for (std::string& note : RecordingsNotes(report.run)) notes.push_back({Severity::kLoss, std::move(note)});
  AddReadStats(report.run, notes);
  for (std::string& note : MissingRankNotes(report.run)) notes.push_back({Severity::kLoss, std::move(note)});
  AddSetAside(report, notes);
  for (const Diagnosis::Failure& failure : report.diagnosis.failures) {
    notes.push_back({Severity::kError, StrCat("rule ", failure.rule, " could not run: ", failure.error.message)});
  }
  AddOpened(report.run, notes);
  AddRecordingCost(report.tables, notes);
  AddBackground(report.tables, notes);
  AddTopFunctions(report.tables, notes);
  AddTopLines(report.tables, notes);
  return notes;
}

}  // namespace gapless::internal
