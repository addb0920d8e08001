// SPDX-License-Identifier: Apache-2.0
// SQL table gpu_op: kernels, copies and fills on GPUs, with the process that launched them. Times are in ns of run
// time; columns that only kernels or only copies have are NULL for the others.
#include "query/cells.h"

namespace gapless::internal::gpu_op_sqltable {
namespace {

// The process that launched the operation; the recording's own when the launch is not recorded.
SqlValue Pid(const SqlRow& at) {
  const Trace& trace = *at.trace->trace;
  const SliceId launch = trace.gpu_ops.launch[at.row];
  if (!launch.valid()) return SqlValue::Int(trace.info.pid);
  const ThreadId thread = trace.slices.thread[launch.value];
  return SqlValue::Int(thread.valid() ? trace.threads.pid[thread.value] : trace.info.pid);
}

constexpr ComputedCell kCells[] = {{"pid", Pid}};

}  // namespace

SQL_TABLE(gpu_op) = kStored<&Trace::gpu_ops, &IdBase::gpu_op, kCells>;

}  // namespace gapless::internal::gpu_op_sqltable
