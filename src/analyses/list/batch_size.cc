// SPDX-License-Identifier: Apache-2.0
// Samples per step of each trace, and how they are known: analyses/batch_size.h.
#include "analyses/batch_size.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal {
namespace {

constexpr ColumnSpec kColumns[] = {
    kTraceColumn,
    kRankColumn,
    {"samples", kInt, "", "samples per step; NULL: not found in the recording"},
    {"source", kText, "",
     "recorder (reported by the program), images, partial_batch, attention, features; NULL: not known"},
    {"operator", kText, "", "first layer; NULL: the program reported the size, or not known"},
    {"shapes", kText, "", "shapes of its inputs"},
    {"slice_id", kInt, "id:slice", "its first call"},
};

Result<Table> Compute(const Run&, Tables& tables) {
  Table table = EmptyTable("batch_size", kColumns);
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

ANALYSIS(batch_size) = {
    .name = "batch_size", .help = "Samples per step, and how they are known", .columns = kColumns, .run = Compute};

}  // namespace gapless::internal
