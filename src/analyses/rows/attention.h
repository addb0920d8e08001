// SPDX-License-Identifier: Apache-2.0
// Table attention, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct AttentionRows : TypedRows<AttentionRows> {
  static constexpr std::string_view kName = "attention";
  static constexpr std::string_view kHelp = "Unfused attention (separate products and softmax): shapes, calls, time";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"pass", kText, "", "forward or backward"},
      {"pattern", kText, "", "the operators between the products, e.g. aten::add > aten::_softmax"},
      {"operator", kText, "", "outermost operator around the softmax of the longest, e.g. aten::softmax"},
      {"shapes", kText, "", "inputs of the softmax: batch, heads, queries, keys; NULL: not recorded"},
      {"types", kText, "", "types of these inputs; NULL: not recorded"},
      {"elements", kInt, "", "scores of one call; NULL: shapes were not recorded"},
      {"calls", kInt, "", "how often"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"device_ns", kInt, "ns", "kernels of the products and of all between them"},
      {"between_ns", kInt, "ns", "of it, what is between the products"},
      {"share", kReal, "share", "device_ns of the ledger's wall time of the trace's devices"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"slice_id", kInt, "id:slice", "the softmax of the longest"},
      {"gpu_op_id", kInt, "id:gpu_op", "the first kernel between the products of the longest"},
  };
};

}  // namespace gapless::internal
