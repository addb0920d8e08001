// SPDX-License-Identifier: Apache-2.0
// Table host_steps, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct HostStepsRows : TypedRows<HostStepsRows> {
  static constexpr std::string_view kName = "host_steps";
  static constexpr std::string_view kHelp =
      "Steps without device work: loading, collectives, optimiser, operators, Python";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"steps", kInt, "", "analysed steps; 0: none is marked, and all that was recorded is divided"},
      {"wall_ns", kInt, "ns", "their duration; the parts below add up to it"},
      {"data_ns", kInt, "ns", "in the data loader's iterator"},
      {"save_ns", kInt, "ns", "writing checkpoints"},
      {"gc_ns", kInt, "ns", "in Python's garbage collection"},
      {"compile_ns", kInt, "ns", "compiling"},
      {"optimizer_ns", kInt, "ns", "in Optimizer.step, without the closure that it runs"},
      {"collective_ns", kInt, "ns", "a collective is under way and no operator runs here"},
      {"operator_ns", kInt, "ns", "in other operators"},
      {"python_ns", kInt, "ns", "in Python between operators"},
      {"operators", kInt, "", "outermost operators on that thread"},
      {"optimizer_operators", kInt, "", "of these within Optimizer.step"},
      {"calls", kInt, "", "operators on that thread outside Optimizer.step, nested ones too"},
      {"call_ns", kInt, "ns",
       "what calling one takes there: median of operators that only make a view (aten::select, slice, transpose and "
       "the "
       "like), each divided by the operators it consists of; NULL: fewer than 16, or too short for the recording's "
       "clock"},
      {"optimizer", kText, "", "the optimiser's class; NULL: none seen"},
      {"optimizer_line", kText, "", "line of the user's code that takes its step, when stacks were recorded"},
      {"data_line", kText, "", "line that asks for batches, when stacks were recorded"},
      {"operator_line", kText, "", "line with most time in other operators, when stacks were recorded"},
  };
};

}  // namespace gapless::internal
