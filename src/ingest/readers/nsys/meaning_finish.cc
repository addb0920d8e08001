// SPDX-License-Identifier: Apache-2.0
// Reports what was odd or left out, with counts of rows, and what nsys itself said about the recording: rows that are
// known but not read would otherwise look absent.
#include <algorithm>

#include "base/strings.h"
#include "ingest/readers/nsys/meaning.h"
#include "ingest/refine.h"
#include "ingest/steps.h"
#include "trace/lost_work.h"

namespace gapless::internal::nsys {
namespace {

constexpr int64_t kWarning = 2, kError = 3;
constexpr size_t kLongestText = 300, kMostTexts = 1000;

// Messages of nsys that say what is missing in the tables, by their beginnings.
struct SaidKind {
  std::string_view begins, kind;
};
constexpr SaidKind kSaidKinds[] = {{"No CUDA events collected", "no_cuda_events"},
                                   {"Not all CUDA events might", "lost_cuda_events"},
                                   {"CUDA profiling might have not been started", "cuda_not_started"},
                                   {"Not all NVTX events might", "lost_nvtx_events"}};

void CountSaid(std::string_view text, int64_t severity, int64_t count, TraceBuilder& builder) {
  const std::string said = StrCat("nsys says: ", text);
  for (const auto& [begins, kind] : kSaidKinds)
    if (text.starts_with(begins)) return builder.Count(kind, Severity::kLoss, count, kAbsent, said);
  if (severity >= kError) return builder.Count("nsys_errors", Severity::kInfo, count, kAbsent, said);
  builder.Count("nsys_warnings", Severity::kInfo, count, kAbsent, said);
}

// One line, cut between two characters.
std::string OneLine(std::string_view text) {
  size_t end = std::min(text.size(), kLongestText);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string line(text.substr(0, end));
  std::ranges::replace(line, '\n', ' ');
  return end < text.size() ? line + "…" : line;
}

}  // namespace

void Tally::Add(const Tally& other) {
  events += other.events, bad_times += other.bad_times, ops_without_time += other.ops_without_time;
  nested_calls += other.nested_calls, open_ranges += other.open_ranges, other_nvtx += other.other_nvtx;
  others_switches += other.others_switches, open_runs += other.open_runs;
  ranged_processes.insert(other.ranged_processes.begin(), other.ranged_processes.end());
  for (const auto& [table, rows] : other.left_out) left_out[table] += rows;
  for (const auto& [text, about] : other.said) {
    auto& [severity, count] = said[text];
    severity = std::max(severity, about.first), count += about.second;
  }
}

void Meaning::LeaveOut(std::string_view table, int64_t rows) {
  if (rows <= 0) return;
  const auto known = tally_.left_out.find(table);
  if (known != tally_.left_out.end()) return void(known->second += rows);
  tally_.left_out.emplace(table, rows);
}

void Meaning::Add(const Diagnostic& row) {
  if (row.severity < kWarning || row.text.empty() || tally_.said.size() >= kMostTexts) return;
  auto& [severity, count] = tally_.said[OneLine(row.text)];
  severity = std::max(severity, row.severity), ++count;
}

void Meaning::Finish(const std::vector<Meaning*>& all, TraceBuilder& builder) {
  Tally tally;
  std::set<int64_t> processes;
  for (Meaning* one : all) {
    tally.Add(one->tally_);
    processes.insert(one->correlations_.met().begin(), one->correlations_.met().end());
  }
  builder.info().event_count = tally.events;
  for (const int64_t pid : tally.ranged_processes) builder.NameThread(pid, -1, "NVTX start/end ranges");
  builder.Count("bad_times", Severity::kLoss, tally.bad_times, kAbsent,
                "rows without a usable time, or that last over a day, were left out");
  builder.Count(kOpsWithoutTime, Severity::kLoss, tally.ops_without_time, kAbsent, kOpsWithoutTimeText);
  builder.Count("nested_calls", Severity::kInfo, tally.nested_calls, kAbsent,
                "calls that were recorded twice, one inside the other, are kept once");
  builder.Count("open_ranges", Severity::kInfo, tally.open_ranges, kAbsent,
                "NVTX ranges that never ended were left out");
  builder.Count("other_nvtx", Severity::kInfo, tally.other_nvtx, kAbsent,
                "NVTX categories, domains and marks are not part of the tables");
  builder.Count("others_switches", Severity::kInfo, tally.others_switches, kAbsent,
                "switches of threads of other programs were left out");
  builder.Count("open_runs", Severity::kInfo, tally.open_runs, kAbsent,
                "times on a processor whose beginning or end was not recorded were left out");
  builder.Count("processes", Severity::kInfo, processes.size() > 1 ? static_cast<int64_t>(processes.size()) : 0,
                kAbsent, "processes are in this one recording; their correlation ids were made distinct");
  std::string left_out;
  int64_t rows_left_out = 0;
  for (const auto& [table, rows] : tally.left_out) {
    left_out += StrCat(left_out.empty() ? "" : ", ", table);
    rows_left_out += rows;
  }
  builder.Count("tables_left_out", Severity::kInfo, rows_left_out, kAbsent,
                StrCat("rows of tables that are not read: ", left_out));
  for (const auto& [text, about] : tally.said) CountSaid(text, about.first, about.second, builder);
}

void CompleteTrace(Trace& trace) {
  int64_t start = kAbsent;
  if (trace.info.start_unix_ns <= 0 || __builtin_add_overflow(trace.info.start_unix_ns, trace.info.origin_ns, &start))
    start = kAbsent;
  trace.info.start_unix_ns = start;
  FindSteps(trace);
  RefineGpuOpClasses(trace);
  FillBlocksPerSm(trace);
}

}  // namespace gapless::internal::nsys
