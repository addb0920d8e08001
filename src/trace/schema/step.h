// SPDX-License-Identifier: Apache-2.0
// Training steps, or whatever the run repeats. Sorted by ts_ns; they do not overlap.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct StepTable {
  Column<int64_t> number;  // the number in the annotation, else the ordinal
  Column<StringId> name;
  Column<int64_t> ts_ns;         // host side
  Column<int64_t> dur_ns;        // host side
  Column<int64_t> gpu_start_ns;  // first and last work launched by the step; kAbsent: none
  Column<int64_t> gpu_end_ns;
  Column<uint8_t> complete;  // 0: cut off by the recording
  Column<StepSource> source;
  Column<int64_t> samples;  // trained on; kAbsent: not known
  Column<int64_t> wait_ns;  // spent waiting for batches, as the agent saw it; kAbsent: not known
  Column<double> loss;      // NaN: not known

  size_t size() const { return number.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("number", self.number);
    f("name", self.name);
    f("ts_ns", self.ts_ns);
    f("dur_ns", self.dur_ns);
    f("gpu_start_ns", self.gpu_start_ns);
    f("gpu_end_ns", self.gpu_end_ns);
    f("complete", self.complete);
    f("source", self.source);
    f("samples", self.samples);
    f("wait_ns", self.wait_ns);
    f("loss", self.loss);
  }
};

}  // namespace gapless::internal
