// SPDX-License-Identifier: Apache-2.0
// Host side: operators, runtime and driver calls, annotations, Python frames. One row is one span of one thread.
// Rows are sorted by (ts_ns, longer first, place in the file). A parent wholly contains its children, up to rounding;
// slices of one thread that overlap without nesting stay, as siblings, and are counted in read_stats.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct SliceTable {
  Column<StringId> name;
  Column<SliceCategory> category;
  Column<ApiKind> api;      // what a runtime or driver call does
  Column<ThreadId> thread;  // row of ThreadTable
  Column<int64_t> ts_ns;    // from the start of the trace
  Column<int64_t> dur_ns;
  Column<int64_t> self_ns;           // dur_ns without what its children cover
  Column<uint16_t> depth;            // 0: outermost
  Column<SliceId> parent;            // kNoRow: outermost
  Column<StepId> step;               // row of StepTable; kNoRow: outside all steps
  Column<int64_t> external_id;       // kAbsent: none
  Column<int64_t> correlation;       // kAbsent: none
  Column<int64_t> sequence;          // autograd sequence number; kAbsent: none
  Column<StringId> input_shapes;     // as recorded, JSON text
  Column<StringId> input_types;      // as recorded, JSON text
  Column<StringId> source_line;      // "file:line" in the user's code, or "function() (file)"
  Column<StringId> concrete_inputs;  // values of the inputs that are no tensors, as recorded, JSON text

  size_t size() const { return name.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("name", self.name);
    f("category", self.category);
    f("api", self.api);
    f("thread", self.thread);
    f("ts_ns", self.ts_ns);
    f("dur_ns", self.dur_ns);
    f("self_ns", self.self_ns);
    f("depth", self.depth);
    f("parent", self.parent);
    f("step", self.step);
    f("external_id", self.external_id);
    f("correlation", self.correlation);
    f("sequence", self.sequence);
    f("input_shapes", self.input_shapes);
    f("input_types", self.input_types);
    f("source_line", self.source_line);
    f("concrete_inputs", self.concrete_inputs);
  }
};

}  // namespace gapless::internal
