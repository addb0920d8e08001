// SPDX-License-Identifier: Apache-2.0
// Completes the rows after reading: classes of GPU operations by their operators, blocks per multiprocessor, and links
// by arrows.
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
  const DeviceTable& devices = trace.devices;
  const bool any_known = std::any_of(devices.sm_count.begin(), devices.sm_count.end(), [](int32_t n) { return n > 0; });
  if (!any_known) return;
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

namespace {

// An Arrows object is an index of the slices of an Ascend recording by thread, and of its arrows by where they
// begin and end. Built in O(n log n); each look-up is O(log n + depth).
class Arrows {
 public:
  explicit Arrows(const Trace& trace) : trace_(trace) {
    const FlowTable& flows = trace.flows;
    for (size_t row = 0; row < flows.size(); ++row) {
      if (flows.kind[row] == FlowKind::kLaunch)
        into_.emplace(std::pair(flows.to_tid[row], flows.to_ts_ns[row]), row);
      else if (flows.kind[row] == FlowKind::kOther)
        out_of_.emplace(std::pair(flows.from_tid[row], flows.from_ts_ns[row]), row);
    }
    for (uint32_t row = 0; row < trace.slices.size(); ++row)
      of_thread_[trace.threads.tid[trace.slices.thread[row].value]].push_back(row);
  }

  // Returns the slice that is open where the launch arrow into this operation begins; not valid without an arrow.
  SliceId CallOf(size_t op) const {
    const auto end = into_.find({trace_.gpu_ops.stream[op], trace_.gpu_ops.ts_ns[op]});
    if (end == into_.end()) return {};
    return OpenAt(trace_.flows.from_tid[end->second], trace_.flows.from_ts_ns[end->second]);
  }

  // The slice in which another thread takes the call out of the queue between host and device and launches it; not
  // valid: the call was not queued.
  SliceId TakenFromQueue(SliceId call) const {
    const SliceTable& slices = trace_.slices;
    const int64_t tid = trace_.threads.tid[slices.thread[call.value].value], start = slices.ts_ns[call.value];
    const auto out = out_of_.lower_bound({tid, start});
    if (out == out_of_.end() || out->first.first != tid) return {};
    if (out->first.second > start + slices.dur_ns[call.value]) return {};
    SliceId taken = OpenAt(trace_.flows.to_tid[out->second], trace_.flows.to_ts_ns[out->second]);
    while (taken.valid() && !trace_.Text(slices.name[taken.value]).starts_with("Dequeue@"))
      taken = slices.parent[taken.value];
    return taken;
  }

 private:
  SliceId OpenAt(int64_t tid, int64_t ts) const {
    const auto found = of_thread_.find(tid);
    if (found == of_thread_.end()) return {};
    const SliceTable& slices = trace_.slices;
    const auto after = std::upper_bound(found->second.begin(), found->second.end(), ts,
                                        [&](int64_t time, uint32_t at) { return time < slices.ts_ns[at]; });
    SliceId open = after == found->second.begin() ? SliceId() : SliceId(*(after - 1));
    while (open.valid() && slices.ts_ns[open.value] + slices.dur_ns[open.value] < ts) open = slices.parent[open.value];
    return open;
  }

  const Trace& trace_;
  std::map<std::pair<int64_t, int64_t>, size_t> into_, out_of_;  // thread or stream and time -> flow
  std::map<int64_t, std::vector<uint32_t>> of_thread_;           // slices in time order
};

}  // namespace

void LinkByArrows(Trace& trace) {
  const SliceTable& slices = trace.slices;
  GpuOpTable& ops = trace.gpu_ops;
  const bool is_ascend = std::any_of(slices.name.begin(), slices.name.end(),
                                     [&](StringId name) { return trace.Text(name).starts_with("AscendCL@"); });
  if (!is_ascend) return;
  const Arrows arrows(trace);
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.launch[row].valid()) continue;
    SliceId call = arrows.CallOf(row);
    if (!call.valid()) continue;
    const SliceId taken = arrows.TakenFromQueue(call);
    ops.launch.mutable_data()[row] = taken.valid() ? taken : call;
    while (call.valid() && slices.category[call.value] != SliceCategory::kOperator) call = slices.parent[call.value];
    ops.op.mutable_data()[row] = call;
  }
}

}  // namespace gapless::internal
