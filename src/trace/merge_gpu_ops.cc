// SPDX-License-Identifier: Apache-2.0
// Merges the GPU operations: orders them by time, and gathers each column in that order.
#include <numeric>

#include "trace/merge.h"
#include "trace/order.h"

namespace gapless::internal::merging {

// GPU operations that start together keep their order in the file.
void Merger::OrderGpuOps() {
  std::vector<std::pair<uint32_t, uint32_t>> sources;
  for (const Piece& piece : PiecesInFileOrder(shards_, kGpuOpList))
    for (uint32_t row = piece.begin; row < piece.end; ++row) {
      if (IsNear(shards_[piece.shard]->impl->gpu_ops[row].ts_ns))
        sources.emplace_back(piece.shard, row);
      else
        ++distant_rows_;
    }
  std::vector<uint32_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  StableOrder(order, [&](uint32_t i) {
    return SortKey{shards_[sources[i].first]->impl->gpu_ops[sources[i].second].ts_ns, 0};
  });
  gpu_op_order_.reserve(sources.size());
  for (const uint32_t i : order) gpu_op_order_.push_back(sources[i]);
}

void Merger::GatherGpuOps(Tasks& tasks) {
  GpuOpTable& out = trace_.gpu_ops;
  const auto add = [&](auto& column, auto member) {
    tasks.push_back([this, &column, member] {
      column = ColumnFrom(gpu_op_order_,
                          [&](const auto& at) { return shards_[at.first]->impl->gpu_ops[at.second].*member; });
    });
  };
  tasks.push_back([this, &out] {
    out.name = ColumnFrom(gpu_op_order_, [&](const auto& at) {
      return Text(shards_[at.first]->impl->gpu_ops[at.second].name, at.first);
    });
    out.ts_ns = ColumnFrom(gpu_op_order_,
                           [&](const auto& at) { return shards_[at.first]->impl->gpu_ops[at.second].ts_ns - origin_; });
  });
  add(out.kind, &GpuOpRow::kind), add(out.op_class, &GpuOpRow::op_class), add(out.matrix_unit, &GpuOpRow::matrix_unit);
  add(out.precision, &GpuOpRow::precision);
  add(out.copy_kind, &GpuOpRow::copy_kind), add(out.device, &GpuOpRow::device), add(out.context, &GpuOpRow::context);
  add(out.stream, &GpuOpRow::stream), add(out.dur_ns, &GpuOpRow::dur_ns), add(out.correlation, &GpuOpRow::correlation);
  add(out.external_id, &GpuOpRow::external_id), add(out.graph_id, &GpuOpRow::graph_id),
      add(out.bytes, &GpuOpRow::bytes);
  add(out.bandwidth_gbps, &GpuOpRow::bandwidth_gbps), add(out.grid_x, &GpuOpRow::grid_x),
      add(out.grid_y, &GpuOpRow::grid_y);
  add(out.grid_z, &GpuOpRow::grid_z), add(out.block_x, &GpuOpRow::block_x), add(out.block_y, &GpuOpRow::block_y);
  add(out.block_z, &GpuOpRow::block_z), add(out.registers, &GpuOpRow::registers),
      add(out.shared_bytes, &GpuOpRow::shared_bytes);
  add(out.occupancy_pct, &GpuOpRow::occupancy_pct), add(out.blocks_per_sm, &GpuOpRow::blocks_per_sm);
  add(out.warps_per_sm, &GpuOpRow::warps_per_sm), add(out.graph_node_id, &GpuOpRow::graph_node_id);
  add(out.channel, &GpuOpRow::channel), add(out.priority, &GpuOpRow::priority);
}

void Merger::FinishGpuOps() {
  const size_t rows = gpu_op_order_.size();
  gpu_op_order_ = {};
  for (const auto& shard : shards_) shard->impl->gpu_ops.Free();
  trace_.gpu_ops.launch = Column<SliceId>::OfSize(rows, SliceId());
  trace_.gpu_ops.op = Column<SliceId>::OfSize(rows, SliceId());
  trace_.gpu_ops.step = Column<StepId>::OfSize(rows, StepId());
}

}  // namespace gapless::internal::merging
