// SPDX-License-Identifier: Apache-2.0
#include "ingest/refine.h"

#include <algorithm>
#include <cmath>

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

void FillBlocksPerSm(Trace& trace) {
  GpuOpTable& ops = trace.gpu_ops;
  float* blocks = ops.blocks_per_sm.mutable_data();
  int32_t device = kAbsent32;
  double sm_count = 0;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != GpuOpKind::kKernel || !std::isnan(blocks[row]) || ops.grid_x[row] <= 0) continue;
    if (ops.device[row] != device) {
      device = ops.device[row];
      const size_t at = FindDevice(trace.devices, device);
      const bool known = at < trace.devices.size() && trace.devices.vendor[at] == Vendor::kNvidia;
      sm_count = known ? static_cast<double>(std::max<int64_t>(0, trace.devices.sm_count[at])) : 0;
    }
    const double count = static_cast<double>(ops.grid_x[row]) * std::max(1, ops.grid_y[row]) * std::max(1, ops.grid_z[row]);
    if (sm_count > 0) blocks[row] = static_cast<float>(count / sm_count);
  }
}

}  // namespace gapless::internal
