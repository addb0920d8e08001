// SPDX-License-Identifier: Apache-2.0
#include "ingest/refine.h"

#include "ingest/names.h"

namespace gapless::internal {

void RefineGpuOpClasses(Trace& trace) {
  GpuOpClass* op_class = trace.gpu_ops.op_class.mutable_data();
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row) {
    const SliceId op = trace.gpu_ops.op[row];
    if (op.valid() && (op_class[row] == GpuOpClass::kOther || op_class[row] == GpuOpClass::kGemm))
      op_class[row] = RefineByOperator(op_class[row], trace.Text(trace.slices.name[op.value]));
  }
}

}  // namespace gapless::internal
