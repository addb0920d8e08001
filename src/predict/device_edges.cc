// SPDX-License-Identifier: Apache-2.0
// Adds the edges of GPU operations by rules R4, R5 and R10 to R14. An operation whose start no edge explains gets the
// most likely cause.
#include "predict/device_edges.h"

#include <algorithm>

namespace gapless::internal {
namespace {

constexpr int64_t kLateNs = 8'000, kJustAfterNs = 6'000, kWaitNs = 2'000;  // R5
constexpr int64_t kUnseenNs = 1'000'000;                                   // R10

}  // namespace

DeviceEdges::DeviceEdges(const Trace& trace, const ProgramRows& program, const DeviceOrder& order, GrowingGraph& graph)
    : trace_(trace),
      ops_(trace.gpu_ops),
      program_(program),
      order_(order),
      host_seen_(HasHost(program)),
      graph_(graph) {}

void DeviceEdges::AddBegin(uint32_t op, Instant last_of_host) {
  ++graph_.facts().ops;
  if (program_.ops[op] == OpRole::kTouchedByHost && last_of_host != kNoInstant) {  // R13
    graph_.Link(EdgeKind::kHost, last_of_host, graph_.Since(last_of_host), kNoRowValue);
    graph_.graph().op_begin[op] = graph_.now();
    return;
  }
  const int64_t ready_ns = std::max({LinkLaunch(op), LinkStream(op), LinkStreamWaits(op)});
  const bool known = ready_ns != kAbsent;
  const bool unseen = known && !newest_.contains(ops_.device[op]) && WaitedForUnseen(op);
  if (unseen || (!known && !LinkUnexplained(op, ready_ns)))
    graph_.LinkRoot();
  else if (known)
    InferWait(op, ready_ns);
  graph_.graph().op_begin[op] = last_begun_ = graph_.now();
  TakeStream(op);
}

void DeviceEdges::AddEnd(uint32_t op) {
  const Instant begin = graph_.graph().op_begin[op];
  graph_.Link(EdgeKind::kGpu, begin, graph_.Since(begin), op);
  graph_.graph().op_end[op] = graph_.now();
  if (program_.ops[op] == OpRole::kTouchedByHost) return;  // R13: nothing waits for it
  TakeStream(op);
  ended_[ops_.device[op]].Take(ops_.stream[op], graph_.now());
}

// Each gives the time from which the operation could start as far as it is concerned; kAbsent: it says nothing.
int64_t DeviceEdges::LinkLaunch(uint32_t op) {
  const Instant launch =
      HasLaunch(trace_, program_, op) ? graph_.graph().slice_begin[ops_.launch[op].value] : kNoInstant;
  if (launch == kNoInstant) {
    ++graph_.facts().ops_without_launch;
    return kAbsent;
  }
  // R11: what a launch takes beyond the usual, and all that the launch of a graph takes, is work that it does before
  // the operation can start.
  const uint32_t call = ops_.launch[op].value;
  const bool graph = trace_.slices.api[call] == ApiKind::kGraphLaunch;
  const int64_t work_ns = graph ? trace_.slices.dur_ns[call] : order_.loading.ExtraNs(call);
  const int64_t ns = std::min(order_.launch_ns + work_ns, graph_.Since(launch));
  graph_.Link(work_ns > 0 ? EdgeKind::kCall : EdgeKind::kLaunch, launch, ns, work_ns > 0 ? call : op);
  return graph_.NsOf(launch) + ns;
}

// R10. Returns true if the first operation of a device began long after its call had returned or, if the call copies,
// had begun: the device was busy with what had been launched before the recording began.
bool DeviceEdges::WaitedForUnseen(uint32_t op) const {
  if (!HasLaunch(trace_, program_, op)) return false;
  const uint32_t call = ops_.launch[op].value;
  const ApiKind api = trace_.slices.api[call];
  const bool copies = api == ApiKind::kMemcpy || api == ApiKind::kBlockingMemcpy;
  const int64_t since = trace_.slices.ts_ns[call] + (copies ? 0 : trace_.slices.dur_ns[call]);
  return graph_.now_ns() - since >= kUnseenNs;
}

// Returns true if a call launched this operation and no other, so that the call says when it could start.
bool DeviceEdges::HasOwnLaunch(uint32_t op) const {
  const uint32_t before = order_.previous[op];
  return HasLaunch(trace_, program_, op) && (before == kNoRowValue || ops_.launch[before] != ops_.launch[op]);
}

int64_t DeviceEdges::LinkStream(uint32_t op) {
  const uint32_t before = order_.previous[op];
  if (before == kNoRowValue) return kAbsent;
  const Instant end = graph_.graph().op_end[before];
  if (end == kNoInstant) return LinkOverlap(before);
  const bool keeps = !HasOwnLaunch(op) && graph_.Since(end) < kLateNs;  // R12
  const int64_t ns = keeps ? graph_.Since(end) : std::min(order_.stream_ns, graph_.Since(end));
  graph_.Link(EdgeKind::kStream, end, ns, op);
  return graph_.NsOf(end) + ns;
}

// R14
int64_t DeviceEdges::LinkOverlap(uint32_t running) {
  const Instant begin = graph_.graph().op_begin[running];
  graph_.Link(EdgeKind::kOverlap, begin, graph_.Since(begin), running);
  return graph_.now_ns();
}

// Adds edges from the events that the stream waits for before the operation.
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
  const auto device = ended_.find(ops_.device[op]);
  const Instant end = device == ended_.end() ? kNoInstant : device->second.Elsewhere(ops_.stream[op]);
  if (end == kNoInstant || graph_.Since(end) >= kJustAfterNs) {
    LinkUnexplained(op, ready_ns);
    return;
  }
  graph_.Link(EdgeKind::kWait, end, std::min(kWaitNs, graph_.Since(end)), op);
  ++graph_.facts().waits_inferred;
}

// Late for a reason that was not recorded: room on the device, most of all. The operation keeps its distance to what
// the device did last. Returns false if that says nothing.
bool DeviceEdges::LinkUnexplained(uint32_t op, int64_t ready_ns) {
  const auto device = newest_.find(ops_.device[op]);
  const Instant last = device == newest_.end() ? kNoInstant : device->second.Elsewhere(ops_.stream[op]);
  if (last == kNoInstant || graph_.NsOf(last) <= ready_ns) return LinkUnseen(op);
  graph_.Link(EdgeKind::kWait, last, graph_.Since(last), op);
  ++graph_.facts().waits_unexplained;
  graph_.facts().unexplained_ns += graph_.Since(last);
  return true;
}

// R12. The gap before an operation that no call of its own launched is host work, if there is a host in the recording
// and it did not launch a graph.
bool DeviceEdges::LinkUnseen(uint32_t op) {
  const uint32_t before = order_.previous[op];
  if (HasOwnLaunch(op) || before == kNoRowValue || graph_.graph().op_end[before] == kNoInstant) return false;
  const Instant end = graph_.graph().op_end[before];
  const bool by_host = host_seen_ && !HasLaunch(trace_, program_, op);
  graph_.Link(by_host ? EdgeKind::kHost : EdgeKind::kStream, end, graph_.Since(end), by_host ? kNoRowValue : op);
  return true;
}

void DeviceEdges::TakeStream(uint32_t op) { newest_[ops_.device[op]].Take(ops_.stream[op], graph_.now()); }

}  // namespace gapless::internal
