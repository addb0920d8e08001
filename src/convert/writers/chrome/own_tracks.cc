// SPDX-License-Identifier: Apache-2.0
// Writes the tracks of steps and of idle gaps, from the tables of the analyses, which are ordered by trace.
#include "analyses/rows/idle.h"
#include "analyses/rows/ledger.h"
#include "analyses/rows/steps.h"
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

// The rows of an analysis that are about this trace: tables are ordered by trace.
template <class R>
RowRange RowsOfTrace(const TypedRows<R>& table, const RunTrace& of) {
  const auto first_from = [&](int64_t index) {  // halving what is left
    size_t first = 0;
    for (size_t left = table.rows(); left > 0;) {
      const size_t half = left / 2;
      const bool before = table.Int(first + half, "trace") < index;
      first = before ? first + half + 1 : first;
      left = before ? left - half - 1 : half;
    }
    return first;
  };
  return {first_from(of.index), first_from(int64_t{of.index} + 1)};
}

// One cell as an argument; Null is left out.
void CellArg(Events& out, std::string_view key, const Table& table, size_t row, int column) {
  if (table.IsNull(row, column)) return;
  switch (table.columns()[static_cast<size_t>(column)].type) {
    case ColumnType::kInt: out.Arg(key, table.Int(row, column)); return;
    case ColumnType::kReal: out.Arg(key, table.Real(row, column)); return;
    case ColumnType::kText: out.Arg(key, table.Text(row, column)); return;
  }
}

// The beginning of each device's rows about single steps in the time breakdown.
struct StepLedger {
  int64_t device = 0;
  size_t next = 0;  // row of the step to come
};

// The row of a device's total has no step; the rows of its steps follow it, in the order of the steps table.
std::vector<StepLedger> LedgersOf(const LedgerRows& ledger, const RunTrace& of) {
  const RowRange rows = RowsOfTrace(ledger, of);
  std::vector<StepLedger> ledgers;
  for (size_t row = rows.first; row < rows.last; ++row)
    if (ledger.IsNull(row, "step")) ledgers.push_back({ledger.Int(row, "device"), row + 1});
  return ledgers;
}

void LedgerArgs(Events& out, const LedgerRows& ledger, const StepLedger& its, bool only) {
  constexpr LedgerRows::AnyColumn kFirst = "wall_ns";
  for (int column = kFirst.index(); column < static_cast<int>(std::size(LedgerRows::kColumns)); ++column) {
    const std::string_view name = LedgerRows::kColumns[column].name;
    CellArg(out, only ? std::string(name) : StrCat("GPU ", its.device, " ", name), ledger.table(), its.next, column);
  }
}

}  // namespace

bool WriteSteps(const Job& job) {
  const auto steps = job.input.tables->Get<StepsRows>();
  const auto ledger = job.input.tables->Get<LedgerRows>();
  std::vector<StepLedger> ledgers = LedgersOf(ledger, job.of);
  const RowRange rows = RowsOfTrace(steps, job.of);
  if (rows.size() == 0) return true;
  const Place place{job.places.own_pid, kStepsTid};
  WriteName(job.out, "thread_name", place, "steps");
  WriteOrder(job.out, "thread_sort_index", place, kStepsTid);
  constexpr StepsRows::AnyColumn kBusy = "gpu_busy_share";
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (steps.IsNull(row, "dur_ns")) continue;  // cut off: it has no window and no ledger
    const int64_t start = steps.Int(row, "ts_ns") - job.of.ts_shift_ns;
    if (job.Within(start)) {
      Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory);
      out.Name(StrCat("step ", steps.Int(row, "step"))).At(place, start).Dur(steps.Int(row, "dur_ns"));
      CellArg(out, kBusy.name(), steps.table(), row, kBusy.index());
      for (const StepLedger& its : ledgers) LedgerArgs(out, ledger, its, ledgers.size() == 1);
      out.End();
    }
    for (StepLedger& its : ledgers) ++its.next;
  }
  return job.GoOn(0);
}

// Writes one track per device; the rows of the analysis are ordered by device, then by time.
bool WriteIdle(const Job& job) {
  const auto idle = job.input.tables->Get<IdleRows>();
  const RowRange rows = RowsOfTrace(idle, job.of);
  static constexpr IdleRows::IntColumn kParts[] = {"data_ns", "launch_ns", "sync_ns", "host_ns", "unknown_ns"};
  static constexpr IdleRows::TextColumn kWhere[] = {"operator", "annotation", "source_line"};
  Place place{job.places.own_pid, kIdleTid - 1};
  constexpr size_t kAtOnce = 16'384;
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (row == rows.first || idle.Int(row, "device") != idle.Int(row - 1, "device")) {
      ++place.tid;
      WriteName(job.out, "thread_name", place, StrCat("idle GPU ", idle.Int(row, "device")));
      WriteOrder(job.out, "thread_sort_index", place, place.tid);
    }
    const int64_t start = idle.Int(row, "ts_ns") - job.of.ts_shift_ns;
    if (row % kAtOnce == 0 && !job.GoOn(0)) return false;
    if (!job.Within(start)) continue;
    const std::string_view its_cause = idle.Text(row, "cause");
    Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory).Name(its_cause);
    out.At(place, start).Dur(idle.Int(row, "dur_ns")).Field("cname", ColourOf(its_cause));
    out.Arg("id", idle.Int(row, "id"));
    for (const auto part : kParts)
      if (const int64_t ns = idle.Int(row, part); ns > 0) out.Arg(part.name(), ns);
    for (const auto where : kWhere)
      if (!idle.IsNull(row, where)) out.Arg(where.name(), idle.Text(row, where));
    out.End();
  }
  return job.GoOn(0);
}

}  // namespace gapless::internal::chrome
