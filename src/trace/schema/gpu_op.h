// SPDX-License-Identifier: Apache-2.0
// Device side: kernels, copies and memsets, on every stream of every device. Rows are sorted by (ts_ns, place in the
// file).
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct GpuOpColumns {
  Of<StringId> name = kRequired<Of>;
  Of<GpuOpKind> kind = BeginsAs{GpuOpKind::kKernel};
  Of<GpuOpClass> op_class = BeginsAs{GpuOpClass::kOther};
  Of<MatrixUnit> matrix_unit = BeginsAs{MatrixUnit::kUnknown};
  Of<KernelPrecision> precision = BeginsAs{KernelPrecision::kUnknown};
  Of<CopyKind> copy_kind = BeginsAs{CopyKind::kNone};
  Of<int32_t> device = BeginsAs{0};
  Of<int32_t> context = kUnset;
  Of<int64_t> stream = BeginsAs{0};
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;
  Of<Derived<SliceId>> launch = kUnset;
  Of<Derived<SliceId>> op = kUnset;
  Of<Derived<StepId>> step = kUnset;  // of the launch, else by time
  Of<int64_t> correlation = kUnset;
  Of<int64_t> external_id = kUnset;
  Of<int64_t> graph_id = kUnset;
  Of<int64_t> bytes = kUnset;
  Of<double> bandwidth_gbps = kUnset;
  Of<int32_t> grid_x = kUnset;
  Of<int32_t> grid_y = kUnset;
  Of<int32_t> grid_z = kUnset;
  Of<int32_t> block_x = kUnset;
  Of<int32_t> block_y = kUnset;
  Of<int32_t> block_z = kUnset;
  Of<int32_t> registers = kUnset;
  Of<int32_t> shared_bytes = kUnset;
  Of<int64_t> graph_node_id = kUnset;
  Of<int32_t> channel = kUnset;
  Of<int32_t> priority = kUnset;
  Of<float> occupancy_pct = kUnset;
  Of<float> blocks_per_sm = kUnset;
  Of<float> warps_per_sm = kUnset;

  static constexpr AboutTable kAbout{"gpu_op", "Device side: kernels, copies and memsets on every stream"};
  static constexpr ColumnList kColumns{
      RowKey(),
      TraceKey(),
      RankKey(),
      ShownColumn<&GpuOpColumns::name>("", "name of the kernel or copy, as recorded"),
      ShownColumn<&GpuOpColumns::kind>("", "kernel, memcpy or memset"),
      ShownColumn<&GpuOpColumns::op_class>(
          "", "gemm, gemv, conv, attention, norm, pointwise, reduce, optimizer, communication, copy or other")
          .As("class"),
      ComputedColumn<int64_t>("pid", "", "process that launched it"),
      ShownColumn<&GpuOpColumns::device>("", "device"),
      ShownColumn<&GpuOpColumns::context>("", "context of the driver"),
      ShownColumn<&GpuOpColumns::stream>("", "stream"),
      TimeColumn<&GpuOpColumns::ts_ns>("start, in run time"),
      ShownColumn<&GpuOpColumns::dur_ns>("ns", "duration"),
      ShownColumn<&GpuOpColumns::launch>("id:slice", "the call that launched it").As("launch_id"),
      ShownColumn<&GpuOpColumns::op>("id:slice", "innermost operator around the launch").As("op_id"),
      ShownColumn<&GpuOpColumns::step>("", "number of the step that launched it"),
      ShownColumn<&GpuOpColumns::correlation>("", "number the recorder links it to its launch by"),
      ShownColumn<&GpuOpColumns::graph_id>("", "graph it was launched with"),
      ShownColumn<&GpuOpColumns::bytes>("bytes", "bytes moved"),
      ShownColumn<&GpuOpColumns::copy_kind>(
          "",
          "direction and host memory: h2d_pageable, h2d_pinned, h2d_managed (pages moved "
          "on demand), h2d, d2h_…, d2d, p2p, h2h, other"),
      ShownColumn<&GpuOpColumns::bandwidth_gbps>("GB/s", "bandwidth, as recorded"),
      ShownColumn<&GpuOpColumns::grid_x>("", "blocks of the launch"),
      ShownColumn<&GpuOpColumns::grid_y>("", "blocks of the launch"),
      ShownColumn<&GpuOpColumns::grid_z>("", "blocks of the launch"),
      ShownColumn<&GpuOpColumns::block_x>("", "threads per block"),
      ShownColumn<&GpuOpColumns::block_y>("", "threads per block"),
      ShownColumn<&GpuOpColumns::block_z>("", "threads per block"),
      ShownColumn<&GpuOpColumns::registers>("", "registers per thread"),
      ShownColumn<&GpuOpColumns::shared_bytes>("bytes", "shared memory per block"),
      ShownColumn<&GpuOpColumns::occupancy_pct>("percent", "occupancy, as estimated by the recorder"),
      ShownColumn<&GpuOpColumns::blocks_per_sm>("", "blocks per multiprocessor"),
      ShownColumn<&GpuOpColumns::warps_per_sm>("", "warps per multiprocessor"),
      ShownColumn<&GpuOpColumns::matrix_unit>("", "runs on matrix units, by its name: yes, no, unknown"),
      ShownColumn<&GpuOpColumns::precision>(
          "",
          "operands it multiplies, by its name: fp64, fp32, tf32, fp16, bf16, fp8, int8, "
          "fp4, mixed; unknown: the name does not say, or it multiplies no matrices"),
      ShownColumn<&GpuOpColumns::graph_node_id>("", "node of that graph"),
      ShownColumn<&GpuOpColumns::channel>("", "hardware queue of the device"),
      ShownColumn<&GpuOpColumns::priority>("", "of its stream"),
      HiddenColumn<&GpuOpColumns::external_id>(),
  };
};
using GpuOpRow = GpuOpColumns<InRow>;
using GpuOpStore = StoreFor<GpuOpColumns>;
using GpuOpDraft = GpuOpColumns<InDraft>;
using GpuOpTable = TableFor<GpuOpColumns>;

}  // namespace gapless::internal
