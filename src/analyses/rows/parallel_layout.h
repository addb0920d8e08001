// SPDX-License-Identifier: Apache-2.0
// Table parallel_layout, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct ParallelLayoutRows : TypedRows<ParallelLayoutRows> {
  static constexpr std::string_view kName = "parallel_layout";
  static constexpr std::string_view kHelp = "Dimensions in which the job is spread over its ranks, and what each costs";
  static constexpr ColumnSpec kColumns[] = {
      {"trace", kInt, "", "first recording of the first group: key of table trace"},
      {"rank", kInt, "", "its rank; NULL: none recorded"},
      {"dimension", kText, "",
       "data, tensor, pipeline, expert, expert_data, sequence, context, unknown. Inferred: pipeline: messages both "
       "ways; expert: all_to_all, and kernels of a mixture of experts; tensor: one host, 4 reductions a step or more, "
       "nine tenths of them exposed; data: 1 MB a step or more, with a pause of a fifth of the step"},
      {"size", kInt, "", "ranks of a group"},
      {"groups", kInt, "", "groups that were recorded"},
      {"ranks", kText, "", "ranks of the first group: 0-7, 0-248/8 (every eighth); NULL: not known"},
      {"stride", kInt, "", "from one rank of a group to the next; NULL: not even, or not known"},
      {"known", kText, "", "named (by the program) or inferred (from its traffic); NULL: unknown"},
      {"name", kText, "", "description of the process groups; NULL: none"},
      {"kinds", kText, "", "what is exchanged: all_reduce, all_gather, all_to_all, send_recv; NULL: nothing"},
      {"calls_per_step", kReal, "", "mean over ranks; NULL: no complete step"},
      {"time_ns", kInt, "ns", "of its collectives in a step of a rank, mean; NULL: no complete step"},
      {"exposed_ns", kInt, "ns", "of that, time in which no kernel computed"},
      {"wait_ns", kInt, "ns", "waiting for other ranks in a step of a rank, mean; NULL: none matched"},
      {"bubble_share", kReal, "share",
       "pipeline: share of the time in which devices idle or send and receive with nothing to compute; else NULL"},
      {"imbalance", kReal, "", "expert: own work of the busiest rank of a group over the mean, worst group; else NULL"},
      {"busiest_rank", kInt, "", "expert: that rank; else NULL"},
      {"microbatches", kReal, "",
       "pipeline: messages a step from one stage to the next, interleaved stages counted apart; else NULL"},
      {"fill_ns", kInt, "ns",
       "pipeline: time in which a step fills and drains it: what all stages but the busiest take for a microbatch, "
       "with its messages; else NULL"},
  };
};

}  // namespace gapless::internal
