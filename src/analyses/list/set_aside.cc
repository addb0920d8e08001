// SPDX-License-Identifier: Apache-2.0
// Stretches of the recording that the other tables leave out: edges without steady work, warm-up steps (window.h).
#include "analyses/rows/set_aside.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::set_aside_analysis {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<SetAsideRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const SetAside& item : timeline.window.set_aside) {
      auto row = table.Row(*timeline.of);
      row.Set("kind", kAsideKindNames[static_cast<size_t>(item.kind)]);
      row.Set("ts_ns", item.span.start + timeline.of->ts_shift_ns).Set("dur_ns", item.span.length());
      row.Set("busy_ns", item.busy_ns).Set("steps", item.steps);
    }
  return table;
}

}  // namespace

ANALYSIS(set_aside) = AnalysisOf<SetAsideRows>({.run = Compute});

}  // namespace gapless::internal::set_aside_analysis
