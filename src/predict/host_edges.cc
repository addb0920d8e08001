// SPDX-License-Identifier: Apache-2.0
// Adds the edges of host slices by rules R1 to R3, R6 and R7: order within a thread, waits for GPU operations, and full
// queues.
#include "predict/host_edges.h"

#include <algorithm>

namespace gapless::internal {
HostEdges::HostEdges(const Trace& trace, const DeviceOrder& order, const GraphRules& rules, GrowingGraph& graph)
    : trace_(trace),
      order_(order),
      rules_(rules),
      graph_(graph),
      is_own_work_(OwnWork(trace)),
      threads_(trace.threads.size()) {}

void HostEdges::AddBegin(uint32_t slice) {
  const uint32_t row = trace_.slices.thread[slice].value;
  Thread& thread = threads_[row];
  GoOn(row, EdgeKind::kHost, thread.open.empty() ? kNoRowValue : thread.open.back());
  graph_.graph().slice_begin[slice] = thread.last = graph_.now();
  newest_.Take(row, graph_.now());
  thread.open.push_back(slice);
  thread.own_work_open += is_own_work_[slice];
}

void HostEdges::AddEnd(uint32_t slice, Instant last_begun) {
  const uint32_t row = trace_.slices.thread[slice].value;
  Thread& thread = threads_[row];
  const bool is_call = trace_.slices.api[slice] != ApiKind::kNone;
  const bool waits = is_call && (WaitsForOperation(slice, thread.last) || WaitsForRoom(slice, thread.last, last_begun));
  if (!waits) GoOn(row, is_call ? EdgeKind::kCall : EdgeKind::kHost, thread.open.empty() ? slice : thread.open.back());
  graph_.graph().slice_end[slice] = thread.last = graph_.now();
  newest_.Take(row, graph_.now());
  thread.own_work_open -= is_own_work_[slice];
  const std::vector<Instant>& ends = graph_.graph().slice_end;
  while (!thread.open.empty() && ends[thread.open.back()] != kNoInstant) thread.open.pop_back();
}

// Returns the last event of another thread if it was after `since_ns`, else kNoInstant.
Instant HostEdges::LastElsewhere(uint32_t thread, int64_t since_ns) const {
  const Instant last = newest_.Elsewhere(thread);
  return last != kNoInstant && graph_.NsOf(last) > since_ns ? last : kNoInstant;
}

// The thread goes on from its last instant, or from another thread's.
void HostEdges::GoOn(uint32_t thread, EdgeKind kind, uint32_t owner) {
  const Instant before = threads_[thread].last;
  const bool begins = before == kNoInstant;
  const bool may_wait = begins || (kind == EdgeKind::kHost && threads_[thread].own_work_open == 0 &&
                                   graph_.Since(before) > kThreadWaitNs);
  const Instant other =
      rules_.thread_waits && may_wait ? LastElsewhere(thread, begins ? kAbsent : graph_.NsOf(before)) : kNoInstant;
  if (other != kNoInstant) {
    if (!begins) graph_.Link(EdgeKind::kThread, before, 0, owner);
    graph_.Link(EdgeKind::kThread, other, graph_.Since(other), owner);
    graph_.facts().thread_waits += begins ? 0 : 1;
  } else if (begins) {
    graph_.LinkRoot();
  } else {
    graph_.Link(kind, before, graph_.Since(before), owner);
  }
}

// R3
bool HostEdges::WaitsForOperation(uint32_t slice, Instant before) {
  if (!rules_.blocking_calls || before == kNoInstant) return false;
  const uint32_t ended = order_.op_of_call[slice];
  if (ended == kNoRowValue) return false;
  if (order_.feeds[slice] != 0) return FeedsOperation(slice, before);
  const Instant end = graph_.graph().op_end[ended];
  if (end == kNoInstant) return false;
  const int64_t tail = graph_.Since(end);
  graph_.Link(EdgeKind::kCall, before, std::min(tail, graph_.Since(before)), slice);
  graph_.Link(EdgeKind::kSync, end, tail, slice);
  ++graph_.facts().blocking_calls;
  return true;
}

// R3, of a copy that is still under way when its call returns: what the call takes after the copy has begun is the
// copy's time, and the rest is the call's own.
bool HostEdges::FeedsOperation(uint32_t slice, Instant before) {
  const uint32_t fed = order_.op_of_call[slice];
  const Instant begin = graph_.graph().op_begin[fed];
  if (begin == kNoInstant) return false;
  const int64_t feeding = graph_.Since(begin);
  graph_.Link(EdgeKind::kCall, before, std::max<int64_t>(0, graph_.Since(before) - feeding), slice);
  graph_.Link(EdgeKind::kFeed, begin, feeding, fed);
  ++graph_.facts().blocking_calls;
  return true;
}

// R6
bool HostEdges::WaitsForRoom(uint32_t slice, Instant before, Instant last_begun) {
  const SliceTable& slices = trace_.slices;
  const bool full = rules_.full_queues && slices.api[slice] == ApiKind::kKernelLaunch &&
                    slices.dur_ns[slice] > FullQueueNs(order_.usual_launch_ns) && !order_.loading.Has(slice);
  if (!full || before == kNoInstant || last_begun == kNoInstant || graph_.NsOf(last_begun) <= slices.ts_ns[slice])
    return false;
  graph_.Link(EdgeKind::kCall, before, std::min(order_.usual_launch_ns, graph_.Since(before)), slice);
  graph_.Link(EdgeKind::kQueue, last_begun, graph_.Since(last_begun), slice);
  ++graph_.facts().full_queues;
  return true;
}

}  // namespace gapless::internal
