// SPDX-License-Identifier: Apache-2.0
// Device side: kernels, copies and memsets, on every stream of every device. Rows are sorted by (ts_ns, place in the
// file).
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct GpuOpTable {
  Column<StringId> name;
  Column<GpuOpKind> kind;
  Column<GpuOpClass> op_class;        // what the operation computes, from its name and its operator
  Column<MatrixUnit> matrix_unit;     // does it run on matrix units
  Column<KernelPrecision> precision;  // precision of the operands it multiplies
  Column<CopyKind> copy_kind;
  Column<int32_t> device;
  Column<int32_t> context;  // kAbsent32: none
  Column<int64_t> stream;
  Column<int64_t> ts_ns;  // from the start of the trace
  Column<int64_t> dur_ns;
  Column<SliceId> launch;         // the call that launched it
  Column<SliceId> op;             // innermost operator around the launch
  Column<StepId> step;            // step of the launch, else by time
  Column<int64_t> correlation;    // kAbsent: none
  Column<int64_t> external_id;    // kAbsent: none
  Column<int64_t> graph_id;       // kAbsent: none
  Column<int64_t> graph_node_id;  // node of that graph; kAbsent: none, or not said
  Column<int32_t> channel;        // hardware queue of the device; kAbsent32: not recorded
  Column<int32_t> priority;       // priority of the stream; kAbsent32: not recorded
  Column<int64_t> bytes;          // kAbsent: none
  Column<double> bandwidth_gbps;  // as recorded; NaN: none
  Column<int32_t> grid_x;         // kAbsent32: none, as all launch numbers
  Column<int32_t> grid_y;
  Column<int32_t> grid_z;
  Column<int32_t> block_x;
  Column<int32_t> block_y;
  Column<int32_t> block_z;
  Column<int32_t> registers;     // per thread
  Column<int32_t> shared_bytes;  // per block
  Column<float> occupancy_pct;   // estimate of the recorder; NaN: none
  Column<float> blocks_per_sm;   // NaN: none
  Column<float> warps_per_sm;    // NaN: none

  size_t size() const { return name.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("name", self.name);
    f("kind", self.kind);
    f("op_class", self.op_class);
    f("matrix_unit", self.matrix_unit);
    f("precision", self.precision);
    f("copy_kind", self.copy_kind);
    f("device", self.device);
    f("context", self.context);
    f("stream", self.stream);
    f("ts_ns", self.ts_ns);
    f("dur_ns", self.dur_ns);
    f("launch", self.launch);
    f("op", self.op);
    f("step", self.step);
    f("correlation", self.correlation);
    f("external_id", self.external_id);
    f("graph_id", self.graph_id);
    f("graph_node_id", self.graph_node_id);
    f("channel", self.channel);
    f("priority", self.priority);
    f("bytes", self.bytes);
    f("bandwidth_gbps", self.bandwidth_gbps);
    f("grid_x", self.grid_x);
    f("grid_y", self.grid_y);
    f("grid_z", self.grid_z);
    f("block_x", self.block_x);
    f("block_y", self.block_y);
    f("block_z", self.block_z);
    f("registers", self.registers);
    f("shared_bytes", self.shared_bytes);
    f("occupancy_pct", self.occupancy_pct);
    f("blocks_per_sm", self.blocks_per_sm);
    f("warps_per_sm", self.warps_per_sm);
  }
};

}  // namespace gapless::internal
