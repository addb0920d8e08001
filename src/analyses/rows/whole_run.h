// SPDX-License-Identifier: Apache-2.0
// Table whole_run, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct WholeRunRows : TypedRows<WholeRunRows> {
  static constexpr std::string_view kName = "whole_run";
  static constexpr std::string_view kHelp =
      "What the agent saw in all steps: waits, garbage, evaluation, work beside the training, compilation";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "",
       "step, data, garbage, checkpoint, evaluation, logging, images, metrics, background (what other threads do, "
       "while "
       "steps go on), rollout, environment, compile, recompile, graph_break or skipped_step"},
      {"detail", kText, "",
       "function and reason of a compilation or graph break, loss scale of skipped steps, function that logs, writes "
       "or "
       "computes, also within evaluations; NULL: the row is of all of the kind"},
      {"calls", kInt, "",
       "how often; data: waits of 1 ms or more; step: steps that count, which are complete and neither the first one, "
       "nor recorded, nor right after a recording; environment: environment steps"},
      {"total_ns", kInt, "ns", "time of the counted steps spent on it; skipped_step: time of the skipped steps"},
      {"max_ns", kInt, "ns", "the longest"},
      {"source_line", kText, "", "line of the user's code that takes most of it; NULL: not known"},
      {"workers", kInt, "", "data: worker processes of the loader that the training reads; NULL: not known"},
      {"on_device", kInt, "", "1: the process used a device"},
  };
};

}  // namespace gapless::internal
