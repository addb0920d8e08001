// SPDX-License-Identifier: Apache-2.0
// How a recording becomes a graph.
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
//   later
//       than R4 allows: the device was busy with what had been launched before the recording began.
//   R11 A launch that takes far longer than usual while the queue is all but empty is at work: it loads its kernel. The
//       operation starts when that is done. So does the first operation of a graph when its launch is done.
//   R12 An operation that no call of its own launched (one of a graph, or one of a recording without a host) keeps its
//       distance to the one before it on its stream, as far as nothing else explains it.
//   R13 A page of managed memory that moves while no kernel runs was touched by the host: it keeps its distance to what
//       the host did last, and nothing waits for it. One that moves during a kernel is part of the kernel.
//   R14 An operation that starts while the one before it on its stream runs (another branch of a graph) starts when
//   that
//       one has come as far as it had.
#include <algorithm>

#include "predict/device_edges.h"
#include "predict/host_edges.h"

namespace gapless::internal {
namespace {

enum class What : uint8_t { kOpEnd, kOpBegin, kSliceEnd, kSliceBegin };
struct Event {
  int64_t ns;
  uint32_t row;
  What what;
  uint8_t order;  // at the same instant: R9
};

std::vector<Event> EventsOf(const Trace& trace, const ProgramRows& program) {
  const SliceTable& slices = trace.slices;
  const GpuOpTable& ops = trace.gpu_ops;
  std::vector<Event> events;
  events.reserve(2 * (ops.size() + static_cast<size_t>(std::count(program.slices.begin(), program.slices.end(), 1))));
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (program.ops[op] == OpRole::kWithinKernel) continue;
    const uint8_t end_order = ops.dur_ns[op] > 0 ? 0 : 1;
    events.push_back({ops.ts_ns[op], op, What::kOpBegin, 1});
    events.push_back({ops.ts_ns[op] + ops.dur_ns[op], op, What::kOpEnd, end_order});
  }
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (program.slices[row] == 0) continue;
    const uint8_t end_order = slices.dur_ns[row] > 0 ? 2 : 3;
    events.push_back({slices.ts_ns[row], row, What::kSliceBegin, 3});
    events.push_back({slices.ts_ns[row] + slices.dur_ns[row], row, What::kSliceEnd, end_order});
  }
  return events;
}

// Of slices that end together the inner one, which began last, ends first.
void Sort(std::vector<Event>& events) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.ns != b.ns) return a.ns < b.ns;
    if (a.order != b.order) return a.order < b.order;
    return a.order == 2 && a.row > b.row;
  });
}

// As a program would that does not know R9: what the host does comes first.
void ForgetTies(std::vector<Event>& events) {
  for (Event& event : events) event.order = event.what == What::kSliceEnd || event.what == What::kSliceBegin ? 0 : 1;
}

}  // namespace

Graph BuildGraph(const Trace& trace, const GraphRules& rules) {
  const ProgramRows program = FindProgram(trace, rules.drop_pollers);
  const DeviceOrder order = FindDeviceOrder(trace, program);
  std::vector<Event> events = EventsOf(trace, program);
  if (!rules.order_ties) ForgetTies(events);
  Sort(events);
  GrowingGraph graph(trace);
  graph.Reserve(events.size());
  HostEdges host(trace, order, rules, graph);
  DeviceEdges device(trace, program, order, graph);
  for (const Event& event : events) {
    graph.AddInstant(event.ns);
    switch (event.what) {
      case What::kOpBegin: device.AddBegin(event.row, host.last()); break;
      case What::kOpEnd: device.AddEnd(event.row); break;
      case What::kSliceBegin: host.AddBegin(event.row); break;
      case What::kSliceEnd: host.AddEnd(event.row, device.last_begun()); break;
    }
  }
  graph.facts().launch_ns = order.launch_ns, graph.facts().stream_ns = order.stream_ns;
  return graph.Finish();
}

}  // namespace gapless::internal
