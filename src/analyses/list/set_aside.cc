// SPDX-License-Identifier: Apache-2.0
// Stretches of the recording that the other tables leave out: edges without steady work, warm-up steps (window.h).
#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal {
namespace {

constexpr ColumnSpec kColumns[] = {
    kTraceColumn,
    kRankColumn,
    {"kind", kText, "",
     "before, after: edge of a recording without steps; warm_up_steps: complete steps before the steady ones"},
    {"ts_ns", kInt, "ns", "its start"},
    {"dur_ns", kInt, "ns", "its length"},
    {"busy_ns", kInt, "ns", "of it, time in which some device works"},
    {"steps", kInt, "", "complete steps in it"},
};

Result<Table> Compute(const Run&, Tables& tables) {
  Table table = EmptyTable("set_aside", kColumns);
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const SetAside& item : timeline.window.set_aside) {
      auto row = BeginRow(table, *timeline.of);
      row.Text(kAsideKindNames[static_cast<size_t>(item.kind)]).Int(item.span.start + timeline.of->ts_shift_ns);
      row.Int(item.span.length()).Int(item.busy_ns).Int(item.steps);
    }
  return table;
}

}  // namespace

ANALYSIS(set_aside) = {.name = "set_aside",
                       .help = "Stretches that are not analysed: edges without steady work, warm-up steps",
                       .columns = kColumns,
                       .run = Compute};

}  // namespace gapless::internal
