// SPDX-License-Identifier: Apache-2.0
// SQL table gpu_op: kernels, copies and fills on GPUs, with the process that launched them. Times are in ns of run
// time; columns that only kernels or only copies have are NULL for the others.
#include "query/cells.h"

namespace gapless::internal {
namespace {

// The process that launched the operation; the recording's own when the launch is not recorded.
SqlValue Pid(const SqlRow& at) {
  const Trace& trace = *at.trace->trace;
  const SliceId launch = trace.gpu_ops.launch[at.row];
  if (!launch.valid()) return SqlValue::Int(trace.info.pid);
  const ThreadId thread = trace.slices.thread[launch.value];
  return SqlValue::Int(thread.valid() ? trace.threads.pid[thread.value] : trace.info.pid);
}

constexpr auto kTable = &Trace::gpu_ops;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    {"id", kInt, "", "unique over the run, the same each time it is opened", IdCell<&IdBase::gpu_op>},
    kTraceKey,
    kRankKey,
    {"name", kText, "", "name of the kernel or copy, as recorded", Cell<kTable, &GpuOpTable::name>},
    {"kind", kText, "", "kernel, memcpy or memset", Cell<kTable, &GpuOpTable::kind>},
    {"class", kText, "",
     "gemm, gemv, conv, attention, norm, pointwise, reduce, optimizer, communication, copy or other",
     Cell<kTable, &GpuOpTable::op_class>},
    {"pid", kInt, "", "process that launched it", Pid},
    {"device", kInt, "", "device", Cell<kTable, &GpuOpTable::device>},
    {"context", kInt, "", "context of the driver", Cell<kTable, &GpuOpTable::context>},
    {"stream", kInt, "", "stream", Cell<kTable, &GpuOpTable::stream>},
    {"ts_ns", kInt, "ns", "start, in run time", TimeCell<kTable, &GpuOpTable::ts_ns>},
    {"dur_ns", kInt, "ns", "duration", Cell<kTable, &GpuOpTable::dur_ns>},
    {"launch_id", kInt, "id:slice", "the call that launched it", Cell<kTable, &GpuOpTable::launch>},
    {"op_id", kInt, "id:slice", "innermost operator around the launch", Cell<kTable, &GpuOpTable::op>},
    {"step", kInt, "", "number of the step that launched it", Cell<kTable, &GpuOpTable::step>},
    {"correlation", kInt, "", "number the recorder links it to its launch by", Cell<kTable, &GpuOpTable::correlation>},
    {"graph_id", kInt, "", "graph it was launched with", Cell<kTable, &GpuOpTable::graph_id>},
    {"bytes", kInt, "bytes", "bytes moved", Cell<kTable, &GpuOpTable::bytes>},
    {"copy_kind", kText, "",
     "direction and host memory: h2d_pageable, h2d_pinned, h2d_managed (pages moved on demand), h2d, d2h_…, d2d, p2p, "
     "h2h, other",
     Cell<kTable, &GpuOpTable::copy_kind>},
    {"bandwidth_gbps", kReal, "GB/s", "bandwidth, as recorded", Cell<kTable, &GpuOpTable::bandwidth_gbps>},
    {"grid_x", kInt, "", "blocks of the launch", Cell<kTable, &GpuOpTable::grid_x>},
    {"grid_y", kInt, "", "blocks of the launch", Cell<kTable, &GpuOpTable::grid_y>},
    {"grid_z", kInt, "", "blocks of the launch", Cell<kTable, &GpuOpTable::grid_z>},
    {"block_x", kInt, "", "threads per block", Cell<kTable, &GpuOpTable::block_x>},
    {"block_y", kInt, "", "threads per block", Cell<kTable, &GpuOpTable::block_y>},
    {"block_z", kInt, "", "threads per block", Cell<kTable, &GpuOpTable::block_z>},
    {"registers", kInt, "", "registers per thread", Cell<kTable, &GpuOpTable::registers>},
    {"shared_bytes", kInt, "bytes", "shared memory per block", Cell<kTable, &GpuOpTable::shared_bytes>},
    {"occupancy_pct", kReal, "percent", "occupancy, as estimated by the recorder",
     Cell<kTable, &GpuOpTable::occupancy_pct>},
    {"blocks_per_sm", kReal, "", "blocks per multiprocessor", Cell<kTable, &GpuOpTable::blocks_per_sm>},
    {"warps_per_sm", kReal, "", "warps per multiprocessor", Cell<kTable, &GpuOpTable::warps_per_sm>},
    {"matrix_unit", kText, "", "runs on matrix units, by its name: yes, no, unknown",
     Cell<kTable, &GpuOpTable::matrix_unit>},
    {"precision", kText, "",
     "operands it multiplies, by its name: fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4, mixed; unknown: the name does "
     "not say, or it multiplies no matrices",
     Cell<kTable, &GpuOpTable::precision>},
    {"graph_node_id", kInt, "", "node of that graph", Cell<kTable, &GpuOpTable::graph_node_id>},
    {"channel", kInt, "", "hardware queue of the device", Cell<kTable, &GpuOpTable::channel>},
    {"priority", kInt, "", "of its stream", Cell<kTable, &GpuOpTable::priority>},
};

}  // namespace

SQL_TABLE(gpu_op) = {.name = "gpu_op",
                     .help = "Device side: kernels, copies and memsets on every stream",
                     .columns = kColumns,
                     .rows = RowsOf<kTable>,
                     .first_id = FirstIdOf<&IdBase::gpu_op>,
                     .ts = TimesOf<kTable, &GpuOpTable::ts_ns>};

}  // namespace gapless::internal
