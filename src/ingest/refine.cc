// SPDX-License-Identifier: Apache-2.0
#include "ingest/refine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

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
    const double count =
        static_cast<double>(ops.grid_x[row]) * std::max(1, ops.grid_y[row]) * std::max(1, ops.grid_z[row]);
    if (sm_count > 0) blocks[row] = static_cast<float>(count / sm_count);
  }
}

void LinkByArrows(Trace& trace) {
  const SliceTable& slices = trace.slices;
  const FlowTable& flows = trace.flows;
  GpuOpTable& ops = trace.gpu_ops;
  const bool is_ascend = std::any_of(slices.name.begin(), slices.name.end(),
                                     [&](StringId name) { return trace.Text(name).starts_with("AscendCL@"); });
  if (!is_ascend) return;
  std::map<std::pair<int64_t, int64_t>, size_t> ends;  // stream and time -> flow
  for (size_t row = 0; row < flows.size(); ++row)
    if (flows.kind[row] == FlowKind::kLaunch) ends.emplace(std::pair(flows.to_tid[row], flows.to_ts_ns[row]), row);
  std::map<int64_t, std::vector<uint32_t>> of_thread;  // slices in time order
  for (uint32_t row = 0; row < slices.size(); ++row)
    of_thread[trace.threads.tid[slices.thread[row].value]].push_back(row);
  for (size_t row = 0; row < ops.size(); ++row) {
    const auto end = ends.find({ops.stream[row], ops.ts_ns[row]});
    if (ops.launch[row].valid() || end == ends.end()) continue;
    const std::vector<uint32_t>& rows = of_thread[flows.from_tid[end->second]];
    const int64_t ts = flows.from_ts_ns[end->second];
    const auto after = std::upper_bound(rows.begin(), rows.end(), ts,
                                        [&](int64_t time, uint32_t at) { return time < slices.ts_ns[at]; });
    SliceId call = after == rows.begin() ? SliceId() : SliceId(*(after - 1));
    while (call.valid() && slices.ts_ns[call.value] + slices.dur_ns[call.value] < ts) call = slices.parent[call.value];
    ops.launch.mutable_data()[row] = call;
    while (call.valid() && slices.category[call.value] != SliceCategory::kOperator) call = slices.parent[call.value];
    ops.op.mutable_data()[row] = call;
  }
}

}  // namespace gapless::internal
