// SPDX-License-Identifier: Apache-2.0
// Learns usual latencies from the recording, then links waits of calls and streams with the operations they wait for.
#include "predict/device_order.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/order_statistics.h"

namespace gapless::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kBlockedNs = 5 * kUs;  // shorter calls found the device done
constexpr int64_t kDefaultLaunchNs = 3 * kUs, kDefaultStreamNs = 1 * kUs;
constexpr int64_t kMaxStreamNs = 5 * kUs;  // what takes longer between two operations waits for something

int64_t End(const GpuOpTable& ops, uint32_t op) { return ops.ts_ns[op] + ops.dur_ns[op]; }

// The value below which `share` of them lie; reorders them, of which there is one at least.
int64_t ValueAt(double share, std::vector<int64_t>& values) {
  return NthOf(values, static_cast<size_t>(share * static_cast<double>(values.size() - 1)));
}

// Rows are in the order of their starts.
std::vector<uint32_t> ChainStreams(const GpuOpTable& ops, const ProgramRows& program) {
  std::vector<uint32_t> previous(ops.size(), kNoRowValue);
  std::map<StreamKey, uint32_t> last;  // operation
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (program.ops[op] != OpRole::kQueued) continue;
    const StreamKey stream(ops.device[op], ops.stream[op]);
    previous[op] = std::exchange(last.try_emplace(stream, kNoRowValue).first->second, op);
  }
  return previous;
}

void LearnTimes(const Trace& trace, const ProgramRows& program, DeviceOrder& order) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::vector<int64_t> fresh, back_to_back;
  const auto since_launch = [&](uint32_t op) { return ops.ts_ns[op] - trace.slices.ts_ns[ops.launch[op].value]; };
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (!HasLaunch(trace, program, op)) continue;
    const uint32_t before = order.previous[op];
    if (before == kNoRowValue || End(ops, before) <= ops.ts_ns[op] - since_launch(op))
      fresh.push_back(std::max<int64_t>(0, since_launch(op) - order.loading.ExtraNs(ops.launch[op].value)));
  }
  order.launch_ns = fresh.empty() ? kDefaultLaunchNs : ValueAt(0.05, fresh);
  const int64_t usual = fresh.empty() ? 5 * kUs : ValueAt(0.5, fresh);
  for (uint32_t op = 0; op < ops.size(); ++op)
    if (order.previous[op] != kNoRowValue && HasLaunch(trace, program, op) && since_launch(op) > 3 * usual)
      back_to_back.push_back(std::max<int64_t>(0, ops.ts_ns[op] - End(ops, order.previous[op])));
  order.stream_ns = back_to_back.empty() ? kDefaultStreamNs : std::min(kMaxStreamNs, ValueAt(0.5, back_to_back));
  order.usual_launch_ns = UsualLaunchNs(trace);
}

// Recorded waits, and copies that the call itself waits for.
void FindWaitedByCalls(const Trace& trace, DeviceOrder& order) {
  const SliceTable& slices = trace.slices;
  const GpuOpTable& ops = trace.gpu_ops;
  order.op_of_call.assign(slices.size(), kNoRowValue), order.feeds.assign(slices.size(), 0);
  for (size_t i = 0; i < trace.syncs.size(); ++i) {
    const SliceId slice = trace.syncs.slice[i];
    const GpuOpId op = trace.syncs.waited_gpu_op[i];
    if (slice.valid() && op.valid() && trace.syncs.kind[i] != SyncKind::kStreamWait)
      order.op_of_call[slice.value] = op.value;
  }
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const SliceId launch = ops.launch[op];
    if (!launch.valid() || slices.dur_ns[launch.value] <= kBlockedNs) continue;
    const ApiKind api = slices.api[launch.value];
    const int64_t start = slices.ts_ns[launch.value], end = start + slices.dur_ns[launch.value];
    const bool copies = api == ApiKind::kMemcpy || api == ApiKind::kBlockingMemcpy;
    if (!copies || End(ops, op) <= start) continue;
    const bool feeds = End(ops, op) > end && end - start > kStagingNs && ops.ts_ns[op] < end;
    if (!feeds && End(ops, op) > end) continue;
    // Its own copy is what the call waits for, not an earlier one that happened to end meanwhile.
    order.op_of_call[launch.value] = op, order.feeds[launch.value] = feeds ? 1 : 0;
  }
}

// Derives the order of streams from calls if the recorder lacks it: an event that is recorded and waited for at once
// stands for its thread's last launch, and the stream that waits is that of the thread's next launch.
void InferStreamWaits(const Trace& trace, const ProgramRows& program, DeviceOrder& order) {
  const SliceTable& slices = trace.slices;
  std::vector<uint32_t> op_of_launch(slices.size(), kNoRowValue);
  for (uint32_t op = 0; op < trace.gpu_ops.size(); ++op)
    if (trace.gpu_ops.launch[op].valid()) op_of_launch[trace.gpu_ops.launch[op].value] = op;
  struct Thread {
    uint32_t launched = kNoRowValue, recorded = kNoRowValue, awaited = kNoRowValue;  // operations
    int64_t called_ns = 0;
  };
  std::vector<Thread> threads(trace.threads.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (program.slices[row] == 0 || slices.api[row] == ApiKind::kNone) continue;
    Thread& thread = threads[slices.thread[row].value];
    if (slices.api[row] == ApiKind::kEventRecord) thread.recorded = thread.launched;
    if (slices.api[row] == ApiKind::kStreamWait) thread.awaited = thread.recorded, thread.called_ns = slices.ts_ns[row];
    const uint32_t op = op_of_launch[row];
    if (op == kNoRowValue) continue;
    const auto stream_of = [&](uint32_t one) {
      return StreamKey(trace.gpu_ops.device[one], trace.gpu_ops.stream[one]);
    };
    if (thread.awaited != kNoRowValue && stream_of(thread.awaited) != stream_of(op))
      order.stream_waits[stream_of(op)].emplace_back(thread.called_ns, thread.awaited);
    thread.launched = op, thread.recorded = thread.awaited = kNoRowValue;
  }
}

}  // namespace

bool HasLaunch(const Trace& trace, const ProgramRows& program, uint32_t op) {
  const SliceId launch = trace.gpu_ops.launch[op];
  return launch.valid() && program.slices[launch.value] != 0 &&
         trace.slices.ts_ns[launch.value] <= trace.gpu_ops.ts_ns[op];
}

DeviceOrder FindDeviceOrder(const Trace& trace, const ProgramRows& program) {
  DeviceOrder order{.previous = ChainStreams(trace.gpu_ops, program)};
  FindWaitedByCalls(trace, order);
  order.loading = LoadingLaunches(trace, program);
  LearnTimes(trace, program, order);
  const SyncTable& syncs = trace.syncs;
  for (size_t i = 0; i < syncs.size(); ++i) {
    if (syncs.kind[i] != SyncKind::kStreamWait || !syncs.waited_gpu_op[i].valid()) continue;
    const int64_t called = syncs.slice[i].valid() ? trace.slices.ts_ns[syncs.slice[i].value] : syncs.ts_ns[i];
    order.stream_waits[{syncs.device[i], syncs.stream[i]}].emplace_back(called, syncs.waited_gpu_op[i].value);
  }
  order.waits_recorded = !order.stream_waits.empty();
  if (!order.waits_recorded) InferStreamWaits(trace, program, order);
  for (auto& [stream, waits] : order.stream_waits) std::stable_sort(waits.begin(), waits.end());
  return order;
}

}  // namespace gapless::internal
