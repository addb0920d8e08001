// SPDX-License-Identifier: Apache-2.0
#include "predict/device_edges.h"

#include <algorithm>

namespace gapless::internal {
namespace {

constexpr int64_t kLateNs = 8'000, kJustAfterNs = 6'000, kWaitNs = 2'000;  // R5

}  // namespace

DeviceEdges::DeviceEdges(const Trace& trace, const ProgramRows& program, const DeviceOrder& order, GrowingGraph& graph)
    : trace_(trace), ops_(trace.gpu_ops), program_(program), order_(order), graph_(graph) {}

void DeviceEdges::AddBegin(uint32_t op) {
  ++graph_.facts().ops;
  const int64_t ready_ns = std::max({LinkLaunch(op), LinkStream(op), LinkStreamWaits(op)});
  if (ready_ns == kAbsent)
    graph_.LinkRoot();
  else
    InferWait(op, ready_ns);
  graph_.graph().op_begin[op] = last_begun_ = graph_.now();
  TakeStream(op);
}

void DeviceEdges::AddEnd(uint32_t op) {
  const Instant begin = graph_.graph().op_begin[op];
  graph_.Link(EdgeKind::kGpu, begin, graph_.Since(begin), op);
  graph_.graph().op_end[op] = graph_.now();
  TakeStream(op);
  ended_.push_back(op);
}

// Each gives the time from which the operation could start as far as it is concerned; kAbsent: it says nothing.
int64_t DeviceEdges::LinkLaunch(uint32_t op) {
  const Instant launch =
      HasLaunch(trace_, program_, op) ? graph_.graph().slice_begin[ops_.launch[op].value] : kNoInstant;
  if (launch == kNoInstant) {
    ++graph_.facts().ops_without_launch;
    return kAbsent;
  }
  const int64_t ns = std::min(order_.launch_ns, graph_.Since(launch));
  graph_.Link(EdgeKind::kLaunch, launch, ns, op);
  return graph_.NsOf(launch) + ns;
}

int64_t DeviceEdges::LinkStream(uint32_t op) {
  const uint32_t before = order_.previous[op];
  if (before == kNoRowValue) return kAbsent;
  const Instant end = graph_.graph().op_end[before];
  const Instant from = end != kNoInstant ? end : graph_.graph().op_begin[before];  // not over: they overlap
  const int64_t ns = end != kNoInstant ? std::min(order_.stream_ns, graph_.Since(from)) : graph_.Since(from);
  graph_.Link(EdgeKind::kStream, from, ns, op);
  return graph_.NsOf(from) + ns;
}

// What the stream was told to wait for before the operation was launched.
int64_t DeviceEdges::LinkStreamWaits(uint32_t op) {
  const StreamKey stream(ops_.device[op], ops_.stream[op]);
  const auto found = order_.stream_waits.find(stream);
  if (found == order_.stream_waits.end() || !HasLaunch(trace_, program_, op)) return kAbsent;
  const auto& waits = found->second;
  const int64_t launched_ns = trace_.slices.ts_ns[ops_.launch[op].value];
  int64_t ready_ns = kAbsent;
  for (size_t& next = next_wait_[stream]; next < waits.size() && waits[next].first <= launched_ns; ++next) {
    const Instant end = graph_.graph().op_end[waits[next].second];
    if (end == kNoInstant) continue;
    const int64_t ns = std::min(kWaitNs, graph_.Since(end));
    graph_.Link(EdgeKind::kWait, end, ns, op);
    ++(order_.waits_recorded ? graph_.facts().waits_recorded : graph_.facts().waits_inferred);
    ready_ns = std::max(ready_ns, graph_.NsOf(end) + ns);
  }
  return ready_ns;
}

void DeviceEdges::InferWait(uint32_t op, int64_t ready_ns) {
  if (graph_.now_ns() - ready_ns < kLateNs) return;
  for (size_t i = ended_.size(); i-- > 0;) {  // the last first
    const uint32_t other = ended_[i];
    const Instant end = graph_.graph().op_end[other];
    if (graph_.Since(end) >= kJustAfterNs) break;
    if (ops_.device[other] != ops_.device[op] || ops_.stream[other] == ops_.stream[op]) continue;
    graph_.Link(EdgeKind::kWait, end, std::min(kWaitNs, graph_.Since(end)), op);
    ++graph_.facts().waits_inferred;
    return;
  }
  LinkUnexplained(op, ready_ns);
}

// Late for a reason that was not recorded: room on the device, most of all. The operation keeps its distance to what
// the device did last.
void DeviceEdges::LinkUnexplained(uint32_t op, int64_t ready_ns) {
  const auto device = newest_.find(ops_.device[op]);
  const Instant last = device == newest_.end() ? kNoInstant : device->second.Elsewhere(ops_.stream[op]);
  if (last == kNoInstant || graph_.NsOf(last) <= ready_ns) return;
  graph_.Link(EdgeKind::kWait, last, graph_.Since(last), op);
  ++graph_.facts().waits_unexplained;
  graph_.facts().unexplained_ns += graph_.Since(last);
}

void DeviceEdges::TakeStream(uint32_t op) { newest_[ops_.device[op]].Take(ops_.stream[op], graph_.now()); }

}  // namespace gapless::internal
