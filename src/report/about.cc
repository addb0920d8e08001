// SPDX-License-Identifier: Apache-2.0
// Writes the opening lines, notes and next commands that all formats of the report share.
//
// Every function reads the summary, the diagnosis or the table of an analysis, and makes words of it. Names from
// recordings are made printable where a line is meant to be shown as it is (SubjectOf, PathToType, Devices); the texts
// of notes are not, because Markdown and HTML escape them in other ways.
#include "report/about.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analyses/rows/engine_steps.h"
#include "analyses/rows/python_functions.h"
#include "analyses/rows/python_lines.h"
#include "analyses/rows/recording_cost.h"
#include "analyses/rows/set_aside.h"
#include "base/strings.h"
#include "diagnose/run_traits.h"
#include "report/amounts.h"

namespace gapless::internal {
namespace {

constexpr double kMinRecordingCost = 0.01;  // share of a recorded step; less is lost in the variation between steps
constexpr size_t kTopFunctions = 3;

// The last part of a path; of an archive's member, the member's.
std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Returns the path without its last part; "" if the path has one part only.
std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// The folder that `gapless profile` left, when that is what was read: its recordings lie in a folder per rank, beside
// what the agent reported. "" otherwise.
std::string_view RunFolderOf(const Run& run) {
  for (const RunTrace& trace : run.traces()) {
    const std::string_view folder = FolderOf(trace.trace->info.path);
    const std::string_view name = BaseName(folder);
    if (trace.trace->info.format == "agent" && (name == "main" || name.starts_with("rank"))) return FolderOf(folder);
  }
  return {};
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

// Returns a path as one word of a shell, in single quotes if it needs them.
std::string Quoted(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  std::string shown = Printable(path);
  if (!shown.empty() && shown.find_first_not_of(kPlain) == std::string::npos) return shown;
  std::string out = "'";
  for (const char c : shown) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

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
    notes.push_back(
        {Severity::kLoss, StrCat("excluded: ", what, ", ", FormatDuration(excluded.Int(row, "dur_ns")),
                                 ", in which the GPU works for ", FormatDuration(excluded.Int(row, "busy_ns")))});
  }
}

// Adds a note on recordings of other executions: the user gave them, but no number of the report includes them.
void AddOtherExecutions(const Run& run, std::vector<Note>& notes) {
  std::vector<std::string> paths;
  for (const RunTrace& trace : run.traces()) {
    if (trace.execution != 0) paths.emplace_back(BaseName(trace.trace->info.path));
  }
  if (paths.empty()) return;
  const std::string which = paths.size() == 1 ? paths[0] : StrCat(paths[0], " and ", paths.size() - 1, " more");
  notes.push_back(
      {Severity::kLoss, StrCat("recorded in another run of the program, so not in these numbers: ", which)});
}

// Returns " ORDER BY … DESC" by the column that ranks the rows of an analysis; "" if it has no duration.
std::string LargestFirst(std::string_view table) {
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->name != table) continue;
    for (const ColumnSpec& column : analysis->columns) {
      if (column.name == "dur_ns" || column.name == "total_ns") return StrCat(" ORDER BY ", column.name, " DESC");
    }
  }
  return {};
}

// Returns a table to look at next: the first input of the first bottleneck's rule that the report does not already
// show.
std::string TableToSee(const Report& report) {
  if (report.summary.total.wall_ns == 0) return "operators";
  const auto& found = report.diagnosis.bottlenecks;
  const auto first = std::ranges::find_if(found, [](const Bottleneck& bottleneck) {
    return bottleneck.type != BottleneckType::kRecording || bottleneck.id == "warm_up";
  });
  if (first == found.end()) return "kernels";
  for (const Rule* rule : AllRules()) {
    if (rule->id != first->id) continue;
    for (const std::string_view need : rule->needs) {
      if (need != "ledger" && need != "steps") return std::string(need);
    }
  }
  return "idle";
}

bool HasSteps(const Run& run) {
  return std::ranges::any_of(run.traces(), [](const RunTrace& trace) { return trace.trace->steps.size() > 0; });
}

// Returns true if a recording breaks off, which a complete copy may cure.
bool CutOff(const Run& run) {
  return std::ranges::any_of(run.traces(), [](const RunTrace& trace) { return EndsInTheMiddle(*trace.trace); });
}

}  // namespace

// Prefers the run folder, whose name the user chose, to the paths of the files in it.
std::string SubjectOf(const Run& run) {
  const auto traces = run.primary();
  if (traces.empty()) return "nothing";
  if (const std::string_view folder = RunFolderOf(run); !folder.empty()) return Printable(BaseName(folder));
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

// A member of an archive is reached through the archive; files of one folder are reached through the folder.
std::string PathToType(const Run& run) {
  const auto traces = run.traces();
  if (traces.empty()) return "PATH";
  if (const std::string_view folder = RunFolderOf(run); !folder.empty()) return Quoted(folder);
  const std::string_view first = traces[0].trace->info.path;
  const size_t member = first.find("!/");
  if (member != std::string_view::npos) return Quoted(first.substr(0, member));
  if (traces.size() == 1) return Quoted(first);
  const size_t slash = first.find_last_of('/');
  return slash == std::string_view::npos ? "PATH" : Quoted(first.substr(0, slash));
}

namespace {

// "32", "31.5"
std::string FormatRounded(double value) { return FormatNumber(value, value == std::floor(value) ? 0 : 1); }

// "31 decode iterations of 32 requests, 2,604 tokens/s" for each phase of a serving engine.
void AddEngineFacts(const Report& report, std::vector<std::string>& facts) {
  const auto engine = report.tables.Get<EngineStepsRows>();
  for (size_t row = 0; row < engine.rows(); ++row) {
    const int64_t iterations = engine.Int(row, "iterations");
    std::string fact = StrCat(FormatCount(iterations), " ", engine.Text(row, "phase"),
                              iterations == 1 ? " iteration of " : " iterations of ",
                              FormatRounded(engine.Real(row, "requests_per_iteration")), " requests");
    if (!engine.IsNull(row, "context_per_request"))
      fact +=
          StrCat(" with ", FormatCount(std::llround(engine.Real(row, "context_per_request"))), " tokens of context");
    if (!engine.IsNull(row, "tokens_per_second"))
      fact += StrCat(", ", FormatCount(std::llround(engine.Real(row, "tokens_per_second"))), " tokens/s");
    facts.push_back(std::move(fact));
  }
}

}  // namespace

// The p95 is left out where it reads like the median.
std::vector<std::string> FactsOf(const Report& report) {
  const RunSummary& summary = report.summary;
  std::vector<std::string> facts;
  if (summary.ranks.size() > 1) facts.push_back(StrCat(summary.ranks.size(), " ranks"));
  facts.push_back(Devices(summary));
  if (summary.steps > 0)
    facts.push_back(StrCat(summary.steps, summary.steps == 1 ? " complete step" : " complete steps"));
  if (summary.step_ns) {
    const std::string median = FormatDuration(summary.step_ns->median), slow = FormatDuration(summary.step_ns->p95);
    facts.push_back(StrCat("median step ", median, slow == median ? "" : StrCat(" (p95 ", slow, ")")));
  }
  if (summary.steps == 0) facts.emplace_back(HasSteps(report.run) ? "no complete step" : "no steps marked");
  if (summary.gpu_busy_share) facts.push_back(StrCat("GPU busy ", FormatPercent(*summary.gpu_busy_share)));
  AddEngineFacts(report, facts);
  for (const std::string& fact : {MfuText(summary), ScalingText(summary)})
    if (!fact.empty()) facts.push_back(fact);
  return facts;
}

// The advice answers the first of these that holds: the recording is cut off, a rule faults the recording, no GPU was
// recorded, no step was marked.
Next NextOf(const Report& report) {
  Next next;
  const Workload workload = WorkloadOf(report.run);
  const bool recording_fails =
      !report.diagnosis.bottlenecks.empty() && report.diagnosis.bottlenecks[0].type == BottleneckType::kRecording;
  if (CutOff(report.run)) {
    next.advice = "copy the recording again, or record fewer steps: it ends in the middle";
  } else if (recording_fails) {
    next.advice = report.diagnosis.bottlenecks[0].recommendations[0].text;
  } else if (report.summary.total.wall_ns == 0 && RunFolderOf(report.run).empty()) {
    next.advice = "record the GPU as well: profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";
  } else if (!HasSteps(report.run)) {
    next.advice =
        workload == Workload::kTraining ? "call prof.step() after every step, so that times are reported per step"
        : workload == Workload::kServing
            ? "record with the engine's annotations (vLLM: detailed_trace_annotation), so that times are reported "
              "per iteration"
            : "put record_function(\"step\") around each repetition, so that times are reported per repetition";
  }
  const std::string table = TableToSee(report);
  next.query =
      StrCat("gapless query ", PathToType(report.run), " \"SELECT * FROM ", table, LargestFirst(table), " LIMIT 20\"");
  return next;
}

namespace {

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
    if (!functions.IsNull(row, "file"))
      text += StrCat(" (", BaseName(functions.Text(row, "file")), ", from line ", functions.Int(row, "line"), ")");
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
  const bool memory = lines.rows() > 0 && lines.Text(0, "kind") == "tracemalloc";
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
  notes.push_back({Severity::kInfo, StrCat(memory ? "Python lines whose allocations are alive at the end: "
                                                  : "Python lines with most time: ",
                                           Join(top, ", "))});
}

}  // namespace

// Puts what the report lacks first, and facts about the recording last, as formats may show only the first notes.
std::vector<Note> NotesOf(const Report& report) {
  std::vector<Note> notes;
  for (const Error& error : report.failures)
    notes.push_back({Severity::kError, StrCat("not read: ", error.ToString())});
  AddReadStats(report.run, notes);
  AddSetAside(report, notes);
  AddOtherExecutions(report.run, notes);
  for (const Diagnosis::Failure& failure : report.diagnosis.failures) {
    notes.push_back({Severity::kError, StrCat("rule ", failure.rule, " could not run: ", failure.error.message)});
  }
  AddRecordingCost(report.tables, notes);
  AddTopFunctions(report.tables, notes);
  AddTopLines(report.tables, notes);
  return notes;
}

}  // namespace gapless::internal
