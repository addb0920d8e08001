// SPDX-License-Identifier: Apache-2.0
// Samples per step of each trace, and how they are known: analyses/batch_size.h.
#include "analyses/batch_size.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/batch_size.h"

namespace gapless::internal {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  Table table = EmptyTable<BatchSizeRows>();
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Trace& trace = timeline.trace();
    const std::optional<BatchSize> batch = FindBatchSize(trace);
    if (!batch && trace.slices.size() == 0) continue;
    auto row = BeginRow(table, *timeline.of);
    row.Int(batch ? batch->samples : kAbsent).TextOrNull(batch ? ToString(batch->source) : "");
    const bool layer = batch && batch->layer.valid();
    row.TextOrNull(layer ? trace.Text(trace.slices.name[batch->layer.value]) : "");
    row.TextOrNull(layer ? trace.Text(trace.slices.input_shapes[batch->layer.value]) : "");
    row.Int(layer ? timeline.of->Id(batch->layer) : kAbsent);
  }
  return table;
}

}  // namespace

ANALYSIS(batch_size) = {.name = "batch_size",
                        .help = "Samples per step, and how they are known",
                        .columns = BatchSizeRows::kColumns,
                        .run = Compute};

}  // namespace gapless::internal
