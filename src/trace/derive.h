// SPDX-License-Identifier: Apache-2.0
// Derives columns from the rows of a trace alone: nesting, launch links, arrows, waits, step numbers. Called by
// TraceBuilder::Finish(); AssignSteps() again by whoever finds the steps later. Each fills columns that are still zero.
#pragma once

#include <span>
#include <vector>

#include "trace/builder.h"

namespace gapless::internal {

struct DeriveCounts {
  int64_t overlapping_slices = 0;      // slices of one thread that overlap without nesting
  int64_t deep_slices = 0;             // in more slices than the depth that is kept
  int64_t unlinked_gpu_ops = 0;        // carry a correlation no launch has
  int64_t duplicate_correlations = 0;  // launches whose correlation another launch has too
  int64_t unmatched_flow_ends = 0;
};

// Fills depth, parent, self_ns and inherited source_line of slices, and `slice` of memory events. Linear in the
// rows.
void NestSlices(Trace& trace, DeriveCounts& counts);
// Fills launch and op of GPU operations; copy calls that lasted until the copy was done become kBlockingMemcpy.
void LinkLaunches(Trace& trace, DeriveCounts& counts);
// Builds the sync table: host calls that wait, joined with the recorder's own rows. Needs launches linked.
void FindSyncs(Trace& trace, std::vector<SyncRow> recorded);
// Gives kernels of batched messages what `calls` said, which are sorted by time and have texts and times of the trace.
// Needs launches linked, and operations of collectives found.
void JoinMessages(Trace& trace, const std::vector<CollectiveRow>& calls);
// Fills step of slices and GPU operations, and gpu_start_ns and gpu_end_ns of steps. Needs launches linked.
void AssignSteps(Trace& trace);
// Replaces the step table and assigns steps. Steps that overlap an earlier one are left out; returns their number.
int64_t SetSteps(Trace& trace, std::vector<StepRow> steps);

}  // namespace gapless::internal
