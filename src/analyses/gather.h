// SPDX-License-Identifier: Apache-2.0
// Tables of a run of summaries: the rows that each recording's own program made of it (trace/summary.h), in the order
// of the recordings, with the run's time, ids and ranks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/timeline.h"
#include "trace/run.h"
#include "trace/summary.h"
#include "trace/table.h"

namespace gapless::internal {

struct Analysis;  // analyses/analysis.h

// Returns the rows of these analyses, in their order. A column that an older summary lacks is Null there;
// cells named `ts_ns` and those whose unit names a table are moved to the run's time and ids. Each summary is unpacked
// once and none is held, on `threads` threads. Of a file that has changed since it was opened nothing is taken.
std::vector<Table> GatherTables(const Run& run, std::span<const Analysis* const> analyses, size_t threads);

// Is the column one that only a run fills: the recording's place and its rank?
bool IsOfRun(const ColumnSpec& column);
// Returns what is added to a recording's own number to make that of the run: its time, or an id of a row; 0 of others.
int64_t BaseInRun(const ColumnSpec& column, const RunTrace& of);
// Returns the name of the section that holds the rows of an analysis.
std::string SectionOfTable(std::string_view analysis);

// Makes sums over the collectives of a trace those of the recording, where its summary keeps only some of them.
class CollectivesScale {
 public:
  explicit CollectivesScale(const Trace& trace);
  int64_t operator()(int64_t sum) const;  // kAbsent stays

 private:
  double factor_ = 1;
};

// The analysed window and the devices of a summary: with exposed communication, and without any row of operations.
Window WindowOf(const TraceSummary& summary);
TraceTimeline TimelineOf(const RunTrace& of);

}  // namespace gapless::internal
