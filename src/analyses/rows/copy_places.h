// SPDX-License-Identifier: Apache-2.0
// Table copy_places, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CopyPlacesRows : TypedRows<CopyPlacesRows> {
  static constexpr std::string_view kName = "copy_places";
  static constexpr std::string_view kHelp = "Copies, casts and changes of layout by kind, operator and source line";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "",
       "h2d_pageable, d2h_pinned, d2d … as in copies; on the device by kernels: cast (the types of the two tensors "
       "differ), layout (they do not), join (aten::cat)"},
      {"operator", kText, "", "outermost operator around it, except autograd nodes; NULL: none"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"inside", kText, "", "compiled: directly inside a compiled function, whose wrapper copies; NULL: elsewhere"},
      {"types", kText, "", "of a cast: types of the two tensors and further inputs; NULL: not recorded"},
      {"calls", kInt, "", "how many"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"small_calls", kInt, "", "of these, of at most 64,000 bytes; NULL: bytes not recorded"},
      {"bytes", kInt, "bytes", "moved; NULL: not recorded"},
      {"device_ns", kInt, "ns", "time on the device"},
      {"exposed_ns", kInt, "ns", "of it, nothing computed or communicated meanwhile; NULL: kernels"},
      {"idle_ns", kInt, "ns",
       "idle time of the device while the call of a large pageable copy was at work; NULL: kernels"},
      {"large_exposed_ns", kInt, "ns", "exposed_ns of those of more than 64,000 bytes; NULL: kernels"},
      {"steady_ns", kInt, "ns",
       "large_exposed_ns and idle_ns if each complete step cost what the median step does; fewer than 3: their sum; "
       "NULL: "
       "kernels"},
      {"round_trips", kInt, "", "copies to the device of what had just been copied to the host; NULL: other kinds"},
      {"slice_id", kInt, "id:slice", "the operator or call of the longest"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest"},
  };
};

}  // namespace gapless::internal
