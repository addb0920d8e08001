// SPDX-License-Identifier: Apache-2.0
// Decides how recordings of one job relate:
//
//   - The same process (rank and pid agree, and host where known): recordings that overlap in time by more
//     than half of the shorter one describe the same thing, and only the one with the most rows is primary;
//     otherwise they are two stretches of one execution, both primary.
//   - Different processes with the same rank or without ranks, apart in time: other executions of the program.
//   - Different processes with different ranks, or overlapping in time on the wall clock (a rank and the
//     workers that load its data), or without ranks but overlapping in time: parts of one execution.
//   - What was recorded around the processes (telemetry of a host: counters only): belongs to the execution it
//     shares most time with, and founds one only when nothing else was recorded. Metrics of kernels have no
//     time and go with the first.
//
// Recordings are compared pair by pair, O(n²) for n recordings.
#include "trace/run.h"

#include <algorithm>
#include <tuple>

#include "trace/sample_format.h"

namespace gapless::internal {
namespace {

struct Span {
  int64_t start, end;
};

// On the wall clock where that is known, else on the recorder's own.
Span SpanOf(const Trace& trace) {
  const int64_t start = trace.info.start_unix_ns != kAbsent ? trace.info.start_unix_ns : trace.info.origin_ns;
  return {start, start + trace.info.dur_ns};
}

int64_t Overlap(Span a, Span b) { return std::min(a.end, b.end) - std::max(a.start, b.start); }

bool SameProcess(const Trace& a, const Trace& b) {
  return a.info.rank == b.info.rank && a.info.pid == b.info.pid && a.info.pid != kAbsent &&
         (a.info.host == b.info.host || a.info.host.empty() || b.info.host.empty());
}

// Returns true if the two share more than half of the time of the shorter one, or cover exactly the same time.
bool SameStretch(const Trace& a, const Trace& b) {
  const Span x = SpanOf(a), y = SpanOf(b);
  return Overlap(x, y) * 2 > std::min(x.end - x.start, y.end - y.start) || (x.start == y.start && x.end == y.end);
}

// Returns true if both could be parts of one execution.
bool Together(const Trace& a, const Trace& b) {
  if (SameProcess(a, b)) return true;
  const bool same_clock = a.info.start_unix_ns != kAbsent && b.info.start_unix_ns != kAbsent;
  if (same_clock && a.info.rank == b.info.rank && a.info.pid != b.info.pid && a.info.pid != kAbsent &&
      b.info.pid != kAbsent)
    return Overlap(SpanOf(a), SpanOf(b)) > 0;
  if (a.info.rank != kAbsent && b.info.rank != kAbsent) return a.info.rank != b.info.rank;
  return Overlap(SpanOf(a), SpanOf(b)) > 0;
}

// Compares the numbers of slices and GPU operations.
bool MoreRows(const Trace& a, const Trace& b) {
  return a.slices.size() + a.gpu_ops.size() > b.slices.size() + b.gpu_ops.size();
}

// Holds nothing that a process did, only what was measured around it.
bool IsSurroundings(const Trace& trace) {
  return trace.slices.size() + trace.gpu_ops.size() + trace.syncs.size() + trace.memory_events.size() == 0 &&
         trace.info.pid == kAbsent && trace.counters.size() + trace.kernel_metrics.size() > 0;
}

// Samples of GPUs that another tool took: their times are local ones or missing.
bool HasLooseClock(const Trace& trace) { return trace.info.format == kGpuSamplesFormat; }

// Time shared by a trace and the recordings of one execution.
int64_t SharedTime(const Trace& trace, const std::vector<RunTrace>& traces, const std::vector<size_t>& execution) {
  int64_t shared = 0;
  for (const size_t other : execution) shared = std::max(shared, Overlap(SpanOf(trace), SpanOf(*traces[other].trace)));
  return shared;
}

void PlaceSurroundings(std::vector<RunTrace>& traces, const std::vector<size_t>& which,
                       std::vector<std::vector<size_t>> executions) {
  const size_t founded = executions.size();
  for (const size_t i : which) {
    const Trace& trace = *traces[i].trace;
    size_t best = trace.counters.size() == 0 && founded > 0 ? 0 : executions.size();
    int64_t most = 0;
    for (size_t execution = 0; execution < executions.size() && trace.counters.size() > 0; ++execution) {
      const int64_t shared = SharedTime(trace, traces, executions[execution]);
      if (shared > most) most = shared, best = execution;
    }
    // Samples without a clock, or of another time zone, are of the run that they are given with.
    if (best == executions.size() && founded > 0 && HasLooseClock(trace)) best = 0;
    if (best == executions.size()) executions.emplace_back();
    if (best >= founded) executions[best].push_back(i);
    traces[i].execution = static_cast<int>(best);
  }
}

// Each trace joins the first execution with all of whose traces it goes together.
void AssignExecutions(std::vector<RunTrace>& traces) {
  std::vector<size_t> by_time, surroundings;
  for (size_t i = 0; i < traces.size(); ++i) (IsSurroundings(*traces[i].trace) ? surroundings : by_time).push_back(i);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](size_t a, size_t b) { return SpanOf(*traces[a].trace).start < SpanOf(*traces[b].trace).start; });
  std::vector<std::vector<size_t>> executions;
  for (const size_t i : by_time) {
    size_t execution = 0;
    for (; execution < executions.size(); ++execution)
      if (std::all_of(executions[execution].begin(), executions[execution].end(),
                      [&](size_t other) { return Together(*traces[i].trace, *traces[other].trace); }))
        break;
    if (execution == executions.size()) executions.emplace_back();
    executions[execution].push_back(i);
    traces[i].execution = static_cast<int>(execution);
  }
  PlaceSurroundings(traces, surroundings, std::move(executions));
}

// Makes a recording a supplement if another one of the same stretch has more rows, or as many and a smaller index.
void AssignRoles(std::vector<RunTrace>& traces) {
  for (RunTrace& run_trace : traces)
    for (const RunTrace& other : traces) {
      if (&run_trace == &other || run_trace.execution != other.execution) continue;
      // A profile of functions says what no other recording does.
      if (run_trace.trace->host_functions.size() > 0 || other.trace->host_functions.size() > 0) continue;
      if (!SameProcess(*run_trace.trace, *other.trace) || !SameStretch(*run_trace.trace, *other.trace)) continue;
      const bool tie = !MoreRows(*run_trace.trace, *other.trace) && !MoreRows(*other.trace, *run_trace.trace);
      if (MoreRows(*other.trace, *run_trace.trace) || (tie && other.index < run_trace.index))
        run_trace.role = Role::kSupplement;
    }
}

// Gives recordings of one process in one execution the index of the first of them.
void AssignProcesses(std::vector<RunTrace>& traces) {
  for (RunTrace& run_trace : traces) {
    const auto first = std::find_if(traces.begin(), traces.end(), [&](const RunTrace& other) {
      return &other == &run_trace ||
             (other.execution == run_trace.execution && SameProcess(*other.trace, *run_trace.trace));
    });
    run_trace.process = first->index;
  }
}

// Sets the shift of each trace, so that the earliest trace of its execution begins at 0. Traces without times, and
// samples without a usable clock, are not shifted.
void AssignTimeAxis(std::vector<RunTrace>& traces) {
  const auto timeless = [](const Trace& trace) { return IsSurroundings(trace) && trace.counters.size() == 0; };
  // Samples that share no time with the recordings of their execution begin with the earliest of them.
  const auto is_unplaced = [&](const RunTrace& run_trace) {
    if (!HasLooseClock(*run_trace.trace)) return false;
    const auto shares = [&](const RunTrace& other) {
      return &other != &run_trace && other.execution == run_trace.execution && !timeless(*other.trace) &&
             !HasLooseClock(*other.trace) && Overlap(SpanOf(*run_trace.trace), SpanOf(*other.trace)) > 0;
    };
    const auto is_recording = [&](const RunTrace& other) {
      return other.execution == run_trace.execution && !timeless(*other.trace) && !HasLooseClock(*other.trace);
    };
    return std::ranges::any_of(traces, is_recording) && std::ranges::none_of(traces, shares);
  };
  for (RunTrace& run_trace : traces) {
    if (timeless(*run_trace.trace) || is_unplaced(run_trace)) continue;
    int64_t zero = SpanOf(*run_trace.trace).start;
    for (const RunTrace& other : traces)
      if (other.execution == run_trace.execution && !timeless(*other.trace) && !is_unplaced(other))
        zero = std::min(zero, SpanOf(*other.trace).start);
    run_trace.ts_shift_ns = SpanOf(*run_trace.trace).start - zero;
  }
}

// Numbers the rows of each table through all traces.
void AssignIds(std::vector<RunTrace>& traces) {
  IdBase next;
  for (RunTrace& run_trace : traces) {
    run_trace.base = next;
    const Trace& trace = *run_trace.trace;
    next.slice += static_cast<int64_t>(trace.slices.size());
    next.gpu_op += static_cast<int64_t>(trace.gpu_ops.size());
    next.gpu_annotation += static_cast<int64_t>(trace.gpu_annotations.size());
    next.sync += static_cast<int64_t>(trace.syncs.size());
    next.collective += static_cast<int64_t>(trace.collectives.size());
    next.step += static_cast<int64_t>(trace.steps.size());
    next.memory_event += static_cast<int64_t>(trace.memory_events.size());
  }
}

}  // namespace

Run::Run(std::vector<std::shared_ptr<const Trace>> given) {
  const auto key = [](const Trace& trace) {
    return std::make_tuple(IsSurroundings(trace), trace.info.rank, SpanOf(trace).start, trace.info.pid,
                           std::string_view(trace.info.path));
  };
  std::stable_sort(given.begin(), given.end(), [&](const auto& a, const auto& b) { return key(*a) < key(*b); });
  for (auto& trace : given)
    traces_.push_back({.trace = std::move(trace), .index = static_cast<int>(traces_.size()), .base = {}});
  AssignExecutions(traces_);
  AssignRoles(traces_);
  AssignProcesses(traces_);
  AssignTimeAxis(traces_);
  AssignIds(traces_);
}

std::vector<const RunTrace*> Run::primary() const {
  std::vector<const RunTrace*> found;
  for (const RunTrace& run_trace : traces_)
    if (run_trace.role == Role::kPrimary && run_trace.execution == 0) found.push_back(&run_trace);
  return found;
}

}  // namespace gapless::internal
