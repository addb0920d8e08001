// SPDX-License-Identifier: Apache-2.0
// Measures how much launched work waits before each stream. A launch puts one in, the start of its (first) operation
// takes one out; a graph launch counts once. A queue that is empty most of the time means the device is as fast as the
// host; one that is full (1024 on CUDA) makes launch calls block, which looks like slow launching and is not.
#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::queue_analysis {
namespace {

// Launches that CUDA lets a stream have pending before the next launch call blocks; HTA's "full queue".
constexpr int64_t kFull = 1024;

struct QueueRows : TypedRows<QueueRows> {
  static constexpr std::string_view kName = "queue";
  static constexpr std::string_view kHelp =
      "Work launched and not started, per stream: mean and longest, time empty, time full";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"stream", kInt, "", "stream"},
      {"launches", kInt, "", "calls whose work was pending or started in the analysed window"},
      {"mean_length", kReal, "", "launched and not started, mean over the window's time"},
      {"max_length", kInt, "", "most at once"},
      {"empty_share", kReal, "share", "of the window: nothing waits"},
      {"full_ns", kInt, "ns", "time with 1024 or more waiting: launch calls block"},
      {"full_share", kReal, "share", "of the window"},
  };
};

struct Queue {
  std::vector<int64_t> in, out;  // times, clipped to the window
};

// Returns the queue of each device and stream.
std::map<std::pair<int32_t, int64_t>, Queue> QueuesOf(const TraceTimeline& timeline) {
  const Trace& trace = timeline.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  const Interval window = timeline.window.span;
  std::map<std::pair<int32_t, int64_t>, Queue> queues;
  std::vector<uint8_t> seen(trace.slices.size());  // launches already counted: those of graphs have many operations
  Queue* queue = nullptr;
  std::pair<int32_t, int64_t> last{kAbsent32, kAbsent};
  for (size_t row = 0; row < ops.size(); ++row) {
    const SliceId launch = ops.launch[row];
    if (!launch.valid() || seen[launch.value] != 0) continue;
    seen[launch.value] = 1;
    const int64_t in = trace.slices.ts_ns[launch.value], out = std::max(in, ops.ts_ns[row]);
    if (out < window.start || in >= window.end) continue;
    if (const std::pair at{ops.device[row], ops.stream[row]}; queue == nullptr || at != last)
      queue = &queues[at], last = at;
    queue->in.push_back(std::max(in, window.start));
    queue->out.push_back(std::min(out, window.end));
  }
  return queues;
}

struct Lengths {
  double weighted_ns = 0;
  int64_t empty_ns = 0, full_ns = 0, most = 0;
};

// Walks both sorted lists; at the same instant work enters before it leaves, so the length is never negative.
Lengths Walk(Queue& queue, Interval window) {
  std::sort(queue.in.begin(), queue.in.end());
  std::sort(queue.out.begin(), queue.out.end());
  Lengths lengths;
  int64_t length = 0, at = window.start;
  size_t in = 0;
  const auto pass = [&](int64_t until) {
    const int64_t ns = until - at;
    lengths.weighted_ns += static_cast<double>(length) * static_cast<double>(ns);
    if (length == 0) lengths.empty_ns += ns;
    if (length >= kFull) lengths.full_ns += ns;
    at = until;
  };
  for (const int64_t out : queue.out) {
    for (; in < queue.in.size() && queue.in[in] <= out; ++in) {
      pass(queue.in[in]);
      lengths.most = std::max(lengths.most, ++length);
    }
    pass(out);
    --length;
  }
  pass(window.end);
  return lengths;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<QueueRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Interval window = timeline.window.span;
    auto queues = QueuesOf(timeline);
    std::vector<std::pair<const std::pair<int32_t, int64_t>, Queue>*> ordered;
    for (auto& queue : queues) ordered.push_back(&queue);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto* a, const auto* b) { return a->second.in.size() > b->second.in.size(); });
    for (auto* item : ordered) {
      const Lengths lengths = Walk(item->second, window);
      auto row = table.Row(*timeline.of);
      row.Set("device", item->first.first).Set("stream", item->first.second).Set("launches", item->second.in.size());
      if (window.length() > 0) row.Set("mean_length", lengths.weighted_ns / static_cast<double>(window.length()));
      row.Set("max_length", lengths.most).Set("empty_share", ShareOf(lengths.empty_ns, window.length()));
      row.Set("full_ns", lengths.full_ns).Set("full_share", ShareOf(lengths.full_ns, window.length()));
    }
  }
  return table;
}

}  // namespace

ANALYSIS(queue) = AnalysisOf<QueueRows>({.run = Compute});

}  // namespace gapless::internal::queue_analysis
