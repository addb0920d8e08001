// SPDX-License-Identifier: Apache-2.0
// Table step_parts, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct StepPartsRows : TypedRows<StepPartsRows> {
  static constexpr std::string_view kName = "step_parts";
  static constexpr std::string_view kHelp =
      "The ledger by what took the time: kernels, copies, calls, frames; adds up to wall_ns";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: a process without device work, whose parts are those of host_steps"},
      {"part", kText, "",
       "column of ledger without its _ns: compute, exposed_comm, exposed_copy, idle_data …; without devices of "
       "host_steps: data, save, gc, compile, optimizer, collective, operator, python"},
      {"name", kText, "",
       "kernel, kind of copy, outermost operator or call that launches or blocks, frame or annotation; NULL: not "
       "recorded"},
      {"operator", kText, "", "device work: innermost operator that launched it; NULL: none recorded"},
      {"after_wait", kInt, "", "idle_launch: 1: in a gap that began while the host waited, so that the device ran dry"},
      {"source_line", kText, "", "line of the user's code in most of it, when stacks were recorded"},
      {"calls", kInt, "", "device work: how often it ran in the window; else calls or moments"},
      {"time_ns", kInt, "ns",
       "time that counts: of work that runs at once the one that began first has it, and what computing hides counts "
       "for nothing"},
  };
};

}  // namespace gapless::internal
