// SPDX-License-Identifier: Apache-2.0
// Stretches of the recording that the other tables leave out: edges without steady work, warm-up steps (window.h).
#include "analyses/rows/set_aside.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  Table table = EmptyTable<SetAsideRows>();
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
                       .columns = SetAsideRows::kColumns,
                       .run = Compute};

}  // namespace gapless::internal
