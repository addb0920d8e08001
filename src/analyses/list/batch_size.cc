// SPDX-License-Identifier: Apache-2.0
// Samples per step of each trace, and how they are known: analyses/batch_size.h.
#include "analyses/batch_size.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/batch_size.h"

namespace gapless::internal::batch_size_analysis {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<BatchSizeRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Trace& trace = timeline.trace();
    const std::optional<BatchSize> batch = FindBatchSize(trace);
    if (!batch && trace.slices.size() == 0) continue;
    auto row = table.Row(*timeline.of);
    if (batch) row.Set("samples", batch->samples).Set("source", ToString(batch->source));
    if (!batch || !batch->layer.valid()) continue;
    row.Set("operator", trace.Text(trace.slices.name[batch->layer.value]));
    row.Set("shapes", trace.Text(trace.slices.input_shapes[batch->layer.value]));
    row.Set("slice_id", timeline.of->Id(batch->layer));
  }
  return table;
}

}  // namespace

ANALYSIS(batch_size) = AnalysisOf<BatchSizeRows>({.run = Compute});

}  // namespace gapless::internal::batch_size_analysis
