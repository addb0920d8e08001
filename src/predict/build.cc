// SPDX-License-Identifier: Apache-2.0
// Makes a graph of a recording.
//
// A profiler records when things happened, not why. The rules below say for every instant what it waited for; they are
// those of Daydream (Zhu et al., ATC 2020) and Lumos (Liang et al., MLSys 2025) with the lessons of replaying real
// recordings: a rule that is left out makes the replay of what was recorded look better, because time is then taken as
// it was, and every prediction worse.
//
//   R1  A host thread goes from instant to instant; what lies between is its own work.
//   R2  A call that does not block takes as long as it took.
//   R3  A call that blocks takes only what it took after the operation it waited for had ended. A call that feeds a
//       copy piece by piece, and returns before the copy has ended, takes as much of the copy's time as it took.
//   R4  An operation starts when its launch is so far, the one before it on its stream is over, and what its stream
//       waits for is over. The launch takes the shortest time that was seen, not what it was queued behind.
//   R5  Waits between streams that were not recorded are inferred: an operation that starts later than R4 allows, just
//       after one of another stream has ended.
//   R6  A launch that takes far longer than usual waited for room in the device's queue: it returns when the
//       operation that had started last at its end starts.
//   R7  A thread that does nothing for long while it has no operator open waited for the thread that did something
//       last; so does the first instant of a thread.
//   R8  Threads that only poll are no part of the program.
//   R9  At the same instant: operations end before they begin, and before calls end, which end before calls begin.
//   R10 Nothing stands at its recorded time but the first instant, and the first operation of a device if it began
//       later than R4 allows: the device was busy with what had been launched before the recording began.
//   R11 A launch that takes far longer than usual while the queue is all but empty is at work: it loads its kernel. The
//       operation starts when that is done. So does the first operation of a graph when its launch is done.
//   R12 An operation that no call of its own launched (one of a graph, or one of a recording without a host) keeps its
//       distance to the one before it on its stream, as far as nothing else explains it.
//   R13 A page of managed memory that moves while no kernel runs was touched by the host: it keeps its distance to what
//       the host did last, and nothing waits for it. One that moves during a kernel is part of the kernel.
//   R14 An operation that starts while the one before it on its stream runs (another branch of a graph) starts when
//       that one has come as far as it had.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "predict/device_edges.h"
#include "predict/host_edges.h"
#include "trace/order.h"

namespace gapless::internal {
namespace {

enum class EventKind : uint8_t { kOpBegin, kOpEnd, kSliceBegin, kSliceEnd };

// The beginning or end of a row, packed so that comparing two of them is cheap.
class Event {
 public:
  // `order`: at the same time, R9.
  Event(int64_t ns, uint64_t order, uint32_t row, EventKind kind)
      : ns_(ns), tie_(order << 34 | uint64_t{order == kInnerFirst ? ~row : row} << 2 | static_cast<uint64_t>(kind)) {}
  int64_t ns() const { return ns_; }
  int64_t tie() const { return static_cast<int64_t>(tie_); }
  EventKind kind() const { return static_cast<EventKind>(tie_ & 3); }
  uint32_t row() const {
    const auto row = static_cast<uint32_t>(tie_ >> 2);
    return tie_ >> 34 == kInnerFirst ? ~row : row;
  }
  bool operator<(const Event& other) const { return ns_ != other.ns_ ? ns_ < other.ns_ : tie_ < other.tie_; }

  // If slices end at the same time, the innermost (started last) ends first.
  static constexpr uint64_t kInnerFirst = 2;

 private:
  int64_t ns_;
  uint64_t tie_;  // order, row, kind
};

// The orders of R9. Without the rule what the host does comes first.
struct Orders {
  uint64_t op_end = 0, op_begin = 1, slice_end = Event::kInnerFirst, slice_begin = 3;
};
constexpr Orders kNoOrder = {.op_end = 1, .op_begin = 1, .slice_end = 0, .slice_begin = 0};

std::vector<Event> Sorted(std::vector<Event> events) {
  if (std::is_sorted(events.begin(), events.end())) return events;
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  StableOrder(order, [&](uint32_t at) { return SortKey{events[at].ns(), events[at].tie()}; });
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  for (const uint32_t at : order) sorted.push_back(events[at]);
  return sorted;
}

std::vector<Event> Merged(const std::vector<Event>& a, const std::vector<Event>& b) {
  std::vector<Event> merged;
  merged.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
  return merged;
}

// Orders the end of a slice without duration after its start.
std::vector<Event> OpEvents(const GpuOpTable& ops, const ProgramRows& program, const Orders& orders) {
  std::vector<Event> begins, ends;
  begins.reserve(ops.size()), ends.reserve(ops.size());
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (program.ops[op] == OpRole::kWithinKernel) continue;
    begins.emplace_back(ops.ts_ns[op], orders.op_begin, op, EventKind::kOpBegin);
    ends.emplace_back(ops.ts_ns[op] + ops.dur_ns[op], ops.dur_ns[op] > 0 ? orders.op_end : orders.op_begin, op,
                      EventKind::kOpEnd);
  }
  return Merged(Sorted(std::move(begins)), Sorted(std::move(ends)));
}

std::vector<Event> SliceEvents(const SliceTable& slices, const ProgramRows& program, const Orders& orders) {
  const auto count = static_cast<size_t>(std::count(program.slices.begin(), program.slices.end(), 1));
  std::vector<Event> begins, ends;
  begins.reserve(count), ends.reserve(count);
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (program.slices[row] == 0) continue;
    begins.emplace_back(slices.ts_ns[row], orders.slice_begin, row, EventKind::kSliceBegin);
    ends.emplace_back(slices.ts_ns[row] + slices.dur_ns[row],
                      slices.dur_ns[row] > 0 ? orders.slice_end : orders.slice_begin, row, EventKind::kSliceEnd);
  }
  return Merged(Sorted(std::move(begins)), Sorted(std::move(ends)));
}

}  // namespace

Graph BuildGraph(const Trace& trace, const GraphRules& rules) {
  const ProgramRows program = FindProgram(trace, rules.drop_pollers);
  const DeviceOrder order = FindDeviceOrder(trace, program);
  const Orders orders = rules.order_ties ? Orders() : kNoOrder;
  const std::vector<Event> events =
      Merged(OpEvents(trace.gpu_ops, program, orders), SliceEvents(trace.slices, program, orders));
  GrowingGraph graph(trace);
  graph.Reserve(events.size());
  HostEdges host(trace, order, rules, graph);
  DeviceEdges device(trace, program, order, graph);
  for (const Event& event : events) {
    graph.AddInstant(event.ns());
    switch (event.kind()) {
      case EventKind::kOpBegin: device.AddBegin(event.row(), host.last()); break;
      case EventKind::kOpEnd: device.AddEnd(event.row()); break;
      case EventKind::kSliceBegin: host.AddBegin(event.row()); break;
      case EventKind::kSliceEnd: host.AddEnd(event.row(), device.last_begun()); break;
    }
  }
  graph.facts().launch_ns = order.launch_ns, graph.facts().stream_ns = order.stream_ns;
  return graph.Finish();
}

}  // namespace gapless::internal
