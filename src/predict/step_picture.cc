// SPDX-License-Identifier: Apache-2.0
// Collects the intervals of each thread and stream from replayed times, merges them by kind, and drops those too short
// to see.
#include "predict/step_picture.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "analyses/intervals.h"
#include "analyses/window.h"
#include "base/strings.h"
#include "predict/program.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

constexpr int64_t kSeen = 400;  // stretches that a lane can show
constexpr size_t kMaxLanes = 4;

// The intervals of each kind of activity in one lane.
struct Layers {
  std::array<Intervals, kBounds> by_bound{};
  int64_t recorded_ns = 0;  // recorded time of the lane's content; the same in every picture
};

Bound BoundOfSlice(const Trace& trace, const Graph& graph, uint32_t row) {
  if (IsDataLoadingMark(trace.Text(trace.slices.name[row]))) return Bound::kData;
  for (const Edge& edge : graph.Into(graph.slice_end[row]))
    if (edge.kind == EdgeKind::kSync || edge.kind == EdgeKind::kQueue) return Bound::kSync;
  return Bound::kHost;
}

void Put(Layers& layers, Bound bound, int64_t start, int64_t end, int64_t recorded_ns) {
  layers.recorded_ns += recorded_ns;
  if (end > start) layers.by_bound[static_cast<size_t>(bound)].push_back({start, end});
}

class Drawing {
 public:
  Drawing(const RankGraph& rank, std::span<const int64_t> times, Interval host)
      : rank_(rank), trace_(*rank.of->trace), times_(times), host_(host) {
    AddThreads();
    AddStreams();
  }

  StepPicture Finish() {
    StepPicture picture;
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (auto* lanes : {&threads_, &streams_})
      for (auto& [key, layers] : *lanes)
        for (Intervals& layer : layers.by_bound) {
          layer = Merge(std::move(layer));
          if (layer.empty()) continue;
          start = std::min(start, layer.front().start), end = std::max(end, layer.back().end);
        }
    if (start >= end) return picture;
    picture.dur_ns = end - start;
    AddLanes(threads_, "thread ", start, picture);
    AddLanes(streams_, "stream ", start, picture);
    return picture;
  }

 private:
  using Lanes = std::map<int64_t, Layers>;

  bool InStep(int64_t ns) const { return ns >= host_.start && ns < host_.end; }

  // A wait hides the activity around it.
  void AddThreads() {
    const SliceTable& slices = trace_.slices;
    for (uint32_t row = 0; row < slices.size(); ++row) {
      const Instant begin = rank_.graph.slice_begin[row];
      if (begin == kNoInstant || !InStep(slices.ts_ns[row])) continue;
      const Bound bound = BoundOfSlice(trace_, rank_.graph, row);
      if (bound == Bound::kHost && slices.api[row] == ApiKind::kNone && !IsOwnWork(trace_, row)) continue;
      Put(threads_[trace_.threads.tid[slices.thread[row].value]], bound, times_[begin],
          times_[rank_.graph.slice_end[row]], slices.dur_ns[row]);
    }
    for (auto& [tid, layers] : threads_) {
      Intervals& host = layers.by_bound[static_cast<size_t>(Bound::kHost)];
      Intervals& sync = layers.by_bound[static_cast<size_t>(Bound::kSync)];
      Intervals& data = layers.by_bound[static_cast<size_t>(Bound::kData)];
      for (Intervals* intervals : {&host, &sync, &data}) *intervals = Merge(std::move(*intervals));
      host = Subtract(Subtract(host, sync), data);
      data = Subtract(data, sync);
    }
  }

  void AddStreams() {
    const GpuOpTable& ops = trace_.gpu_ops;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      const SliceId launch = ops.launch[op];
      const int64_t launched = launch.valid() ? trace_.slices.ts_ns[launch.value] : ops.ts_ns[op];
      if (rank_.graph.op_begin[op] == kNoInstant || !InStep(launched)) continue;
      Put(streams_[ops.stream[op]], BoundOf(ops, op), times_[rank_.graph.op_begin[op]], times_[rank_.graph.op_end[op]],
          ops.dur_ns[op]);
    }
  }

  // Adds the lanes in which most was recorded, in the order of their numbers.
  void AddLanes(const Lanes& lanes, std::string_view word, int64_t start, StepPicture& picture) const {
    std::vector<int64_t> most;
    for (const auto& [key, layers] : lanes) most.push_back(layers.recorded_ns);
    std::sort(most.begin(), most.end(), std::greater<>());
    const int64_t least = most.size() > kMaxLanes ? most[kMaxLanes - 1] : 0;
    for (const auto& [key, layers] : lanes) {
      if (layers.recorded_ns < least) continue;
      PictureLane lane{.name = StrCat(word, key)};
      for (size_t bound = 0; bound < kBounds; ++bound)
        AddSpans(layers.by_bound[bound], static_cast<Bound>(bound), start, picture.dur_ns, lane);
      std::sort(lane.spans.begin(), lane.spans.end(),
                [](const PictureSpan& a, const PictureSpan& b) { return a.start_ns < b.start_ns; });
      picture.lanes.push_back(std::move(lane));
    }
  }

  // Merges intervals with a gap that is too short to see, then drops intervals that are too short to see.
  static void AddSpans(const Intervals& layer, Bound bound, int64_t start, int64_t dur_ns, PictureLane& lane) {
    const int64_t least = dur_ns / kSeen;
    Interval open{0, INT64_MIN};
    const auto close = [&] {
      if (open.end - open.start >= std::max<int64_t>(1, least / 2) && open.end != INT64_MIN)
        lane.spans.push_back({.start_ns = open.start - start, .dur_ns = open.end - open.start, .bound = bound});
    };
    for (const Interval& interval : layer) {
      if (open.end != INT64_MIN && interval.start - open.end <= least) {
        open.end = std::max(open.end, interval.end);
        continue;
      }
      close();
      open = interval;
    }
    close();
  }

  const RankGraph& rank_;
  const Trace& trace_;
  std::span<const int64_t> times_;
  Interval host_;
  Lanes threads_{}, streams_{};
};

}  // namespace

StepPicture DrawStep(const RankGraph& rank, std::span<const int64_t> times) {
  const Trace& trace = *rank.of->trace;
  const Window window = AnalysedWindow(trace);
  if (window.steps.empty()) return {};
  const StepId step = window.steps[window.steps.size() / 2].step;
  const int64_t start = trace.steps.ts_ns[step.value];
  return Drawing(rank, times, {start, start + trace.steps.dur_ns[step.value]}).Finish();
}

}  // namespace gapless::internal
