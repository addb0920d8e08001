// SPDX-License-Identifier: Apache-2.0
// Every interval in which a whole device was idle, with its causes (timeline.h) and what the host had open at the
// longest one.
#include "analyses/rows/idle.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/idle_gaps.h"

namespace gapless::internal::idle_analysis {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<IdleRows> table;
  size_t gaps = 0;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) gaps += device.gaps.size();
  table.Reserve(gaps);
  for (const TraceTimeline& timeline : tables.Timelines()) AddIdleRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(idle) = AnalysisOf<IdleRows>({.run = Compute});

}  // namespace gapless::internal::idle_analysis
