// SPDX-License-Identifier: Apache-2.0
// The recorded rows of one trace as events: what another reader of Kineto's JSON expects to find.
#pragma once

#include <functional>

#include "analyses/window.h"
#include "convert/writer.h"
#include "convert/writers/chrome/events.h"
#include "convert/writers/chrome/layout.h"

namespace gapless::internal::chrome {

// A Job is the trace that is written, and its destination. Made anew for each trace of a file.
struct Job {
  const WriteInput& input;
  const RunTrace& of;
  const Places& places;
  const WriteWindows* windows;  // null: all rows
  Events& out;
  int64_t& rows_done;  // over the whole conversion
  int64_t rows_total;

  const Trace& trace() const { return *of.trace; }
  bool Within(int64_t ts_ns) const;
  // Tells how far it is. False: stop.
  bool GoOn(size_t rows) const;
};

// Calls f(row) for the rows of a table whose times lie within the windows; `ts_ns` ascends. False: stopped.
template <class F>
bool ForRows(const Job& job, const Column<int64_t>& ts_ns, F&& f) {
  constexpr size_t kAtOnce = 16'384;
  const auto walk = [&](size_t row, size_t last) {
    while (row < last) {
      const size_t end = std::min(last, row + kAtOnce), begin = row;
      for (; row < end; ++row) f(row);
      if (!job.GoOn(end - begin)) return false;
    }
    return true;
  };
  if (job.windows == nullptr) return walk(0, ts_ns.size());
  return std::ranges::all_of(*job.windows, [&](Interval window) {
    const RowRange rows = RowsWithin(ts_ns, window);
    return walk(rows.first, rows.last);
  });
}

bool WriteSlices(const Job& job);
bool WriteMemoryEvents(const Job& job);
bool WriteCounters(const Job& job);
bool WriteFlows(const Job& job, int64_t& next_id);
bool WriteGpuOps(const Job& job);
bool WriteGpuAnnotations(const Job& job);
bool WriteSyncs(const Job& job);

// Rows there are to write, for the progress.
int64_t RowsOf(const Trace& trace);

}  // namespace gapless::internal::chrome
