// SPDX-License-Identifier: Apache-2.0
// Writes the tracks of steps and of idle gaps, from the tables of the analyses, which are ordered by trace.
#include "base/strings.h"
#include "convert/writers/chrome/own.h"
#include "convert/writers/chrome/surroundings.h"

namespace gapless::internal::chrome {
namespace {

// Viewers know colours by the names of what they usually show.
std::string_view ColourOf(std::string_view cause) {
  if (cause == "data") return "thread_state_iowait";
  if (cause == "launch") return "thread_state_runnable";
  if (cause == "sync") return "thread_state_uninterruptible";
  if (cause == "host") return "thread_state_running";
  return "grey";
}

// The beginning of each device's rows about single steps in the time breakdown.
struct StepLedger {
  int64_t device = 0;
  size_t next = 0;  // row of the step to come
};

// The row of a device's total has no step; the rows of its steps follow it, in the order of the steps table.
std::vector<StepLedger> LedgersOf(const Table& ledger, const RunTrace& of) {
  const RowRange rows = RowsOfTrace(ledger, of);
  const int step = ledger.Find("step"), device = ledger.Find("device");
  std::vector<StepLedger> ledgers;
  for (size_t row = rows.first; row < rows.last; ++row)
    if (ledger.IsNull(row, step)) ledgers.push_back({ledger.Int(row, device), row + 1});
  return ledgers;
}

void LedgerArgs(Events& out, const Table& ledger, const StepLedger& its, bool only) {
  for (size_t column = static_cast<size_t>(ledger.Find("wall_ns")); column < ledger.columns().size(); ++column) {
    const std::string_view name = ledger.columns()[column].name;
    CellArg(out, only ? std::string(name) : StrCat("GPU ", its.device, " ", name), ledger, its.next,
            static_cast<int>(column));
  }
}

}  // namespace

RowRange RowsOfTrace(const Table& table, const RunTrace& of) {
  const int trace = table.Find("trace");
  const auto first_from = [&](int64_t index) {  // halving what is left
    size_t first = 0;
    for (size_t left = table.rows(); left > 0;) {
      const size_t half = left / 2;
      const bool before = table.Int(first + half, trace) < index;
      first = before ? first + half + 1 : first;
      left = before ? left - half - 1 : half;
    }
    return first;
  };
  return {first_from(of.index), first_from(int64_t{of.index} + 1)};
}

void CellArg(Events& out, std::string_view key, const Table& table, size_t row, int column) {
  if (table.IsNull(row, column)) return;
  switch (table.columns()[static_cast<size_t>(column)].type) {
    case ColumnType::kInt: out.Arg(key, table.Int(row, column)); return;
    case ColumnType::kReal: out.Arg(key, table.Real(row, column)); return;
    case ColumnType::kText: out.Arg(key, table.Text(row, column)); return;
  }
}

bool WriteSteps(const Job& job) {
  const Table& steps = job.input.tables->Get("steps");
  const Table& ledger = job.input.tables->Get("ledger");
  std::vector<StepLedger> ledgers = LedgersOf(ledger, job.of);
  const RowRange rows = RowsOfTrace(steps, job.of);
  if (rows.size() == 0) return true;
  const Place place{job.places.own_pid, kStepsTid};
  WriteName(job.out, "thread_name", place, "steps");
  WriteOrder(job.out, "thread_sort_index", place, kStepsTid);
  const int ts = steps.Find("ts_ns"), dur = steps.Find("dur_ns"), number = steps.Find("step");
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (steps.IsNull(row, dur)) continue;  // cut off: it has no window and no ledger
    const int64_t start = steps.Int(row, ts) - job.of.ts_shift_ns;
    if (job.Within(start)) {
      Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory);
      out.Name(StrCat("step ", steps.Int(row, number))).At(place, start).Dur(steps.Int(row, dur));
      CellArg(out, "gpu_busy_share", steps, row, steps.Find("gpu_busy_share"));
      for (const StepLedger& its : ledgers) LedgerArgs(out, ledger, its, ledgers.size() == 1);
      out.End();
    }
    for (StepLedger& its : ledgers) ++its.next;
  }
  return job.GoOn(0);
}

// Writes one track per device; the rows of the analysis are ordered by device, then by time.
bool WriteIdle(const Job& job) {
  const Table& idle = job.input.tables->Get("idle");
  const RowRange rows = RowsOfTrace(idle, job.of);
  const int ts = idle.Find("ts_ns"), dur = idle.Find("dur_ns"), device = idle.Find("device");
  const int cause = idle.Find("cause"), id = idle.Find("id");
  static constexpr std::string_view kParts[] = {"data_ns", "launch_ns", "sync_ns", "host_ns", "unknown_ns"};
  static constexpr std::string_view kWhere[] = {"operator", "annotation", "source_line"};
  Place place{job.places.own_pid, kIdleTid - 1};
  constexpr size_t kAtOnce = 16'384;
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (row == rows.first || idle.Int(row, device) != idle.Int(row - 1, device)) {
      ++place.tid;
      WriteName(job.out, "thread_name", place, StrCat("idle GPU ", idle.Int(row, device)));
      WriteOrder(job.out, "thread_sort_index", place, place.tid);
    }
    const int64_t start = idle.Int(row, ts) - job.of.ts_shift_ns;
    if (row % kAtOnce == 0 && !job.GoOn(0)) return false;
    if (!job.Within(start)) continue;
    const std::string_view its_cause = idle.Text(row, cause);
    Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory).Name(its_cause);
    out.At(place, start).Dur(idle.Int(row, dur)).Field("cname", ColourOf(its_cause));
    CellArg(out, "id", idle, row, id);
    for (const std::string_view part : kParts)
      if (const int column = idle.Find(part); idle.Int(row, column) > 0) CellArg(out, part, idle, row, column);
    for (const std::string_view where : kWhere) CellArg(out, where, idle, row, idle.Find(where));
    out.End();
  }
  return job.GoOn(0);
}

}  // namespace gapless::internal::chrome
