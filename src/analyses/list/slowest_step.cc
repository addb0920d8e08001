// SPDX-License-Identifier: Apache-2.0
// The content of the slowest complete step, for a picture of it: device operations by stream, idle gaps, host calls by
// thread. Without complete steps it is the whole analysed window.
//
// A step can hold a million events, a picture a few thousand. So neighbours in one lane that are short, with no long
// gap between them, become one row that says how many they are and how much of its length they fill: nothing is left
// out, and what is drawn is where it was. "Short" is the least power of two of ns with which a trace's rows fit its
// share of kMaxRows; a trace that fits as it is has no such row.
#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/drawn_traces.h"

namespace gapless::internal::slowest_step_analysis {
namespace {

constexpr size_t kMaxRows = 16'000;  // rows of device, idle and host lanes together, over all traces

struct SlowestStepRows : TypedRows<SlowestStepRows> {
  static constexpr std::string_view kName = "slowest_step";
  static constexpr std::string_view kHelp =
      "What ran in the slowest step, by lane, short neighbours together: a picture of it";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"step", kInt, "", "step number; NULL: no complete step, the whole analysed window"},
      {"lane", kText, "", "step (its window), idle, gpu, host"},
      {"device", kInt, "", "device number; NULL: not on a device"},
      {"stream", kInt, "", "stream; NULL: not on one"},
      {"tid", kInt, "", "host thread; NULL: not on the host"},
      {"thread", kText, "", "its name; NULL: not recorded"},
      {"depth", kInt, "", "how many of the rows of its lane are around it"},
      {"name", kText, "", "of several: the longest; of an idle gap: what the host had open, NULL: nothing"},
      {"kind", kText, "", "class of the operation, cause of the gap, category of the call"},
      {"ts_ns", kInt, "ns", "when it began"},
      {"dur_ns", kInt, "ns", "how long it took; of several: from the first start to the last end"},
      {"count", kInt, "", "how many the row stands for"},
      {"busy_ns", kInt, "ns", "their durations added up"},
      {"gpu_op_id", kInt, "id:gpu_op", "the operation, or the longest of them"},
      {"slice_id", kInt, "id:slice", "the call, or the longest of them"},
  };
};

enum class Lane : uint8_t { kIdle, kGpu, kHost };
constexpr std::string_view kLaneNames[] = {"idle", "gpu", "host"};

struct Item {
  int64_t start = 0, end = 0, busy = 0, longest = 0, count = 1;
  uint32_t row = 0;   // row of the longest item, in gpu_ops, gaps or slices
  uint32_t line = 0;  // items of one line (lane, stream or thread, depth) follow each other in time
};

struct Line {
  Lane lane = Lane::kGpu;
  const DeviceTimeline* device = nullptr;
  int64_t stream = kAbsent;
  ThreadId thread{};
  int64_t depth = 0;
};

// One trace's part of the picture, unmerged. Items are sorted by line, then by start.
struct Scene {
  const TraceTimeline* timeline = nullptr;
  StepId step{};
  Interval span{};
  std::vector<Line> lines{};
  std::vector<Item> items{};
};

void AddOperations(Scene& scene) {
  const GpuOpTable& ops = scene.timeline->trace().gpu_ops;
  std::map<std::pair<int32_t, int64_t>, std::vector<Item>> streams;
  for (uint32_t row = 0; row < ops.size() && ops.ts_ns[row] < scene.span.end; ++row) {
    const int64_t start = ops.ts_ns[row], dur = ops.dur_ns[row];
    if (start + dur > scene.span.start)
      streams[{ops.device[row], ops.stream[row]}].push_back({start, start + dur, dur, dur, 1, row, 0});
  }
  for (const DeviceTimeline& device : scene.timeline->devices) {
    const auto idle_line = static_cast<uint32_t>(scene.lines.size());
    scene.lines.push_back({.lane = Lane::kIdle, .device = &device});
    for (uint32_t gap = 0; gap < device.gaps.size(); ++gap) {
      const Interval span = device.gaps[gap].span;
      if (span.start < scene.span.end && span.end > scene.span.start)
        scene.items.push_back({span.start, span.end, span.length(), span.length(), 1, gap, idle_line});
    }
    for (auto at = streams.lower_bound({device.device, INT64_MIN});
         at != streams.end() && at->first.first == device.device; ++at) {
      const auto line = static_cast<uint32_t>(scene.lines.size());
      scene.lines.push_back({.lane = Lane::kGpu, .device = &device, .stream = at->first.second});
      for (Item& item : at->second) item.line = line, scene.items.push_back(item);
    }
  }
}

// Adds host calls without Python frames: a line per thread and depth.
void AddCalls(Scene& scene) {
  const SliceTable& slices = scene.timeline->trace().slices;
  struct Open {
    std::vector<int64_t> ends;              // ends of the slices that are open at the next slice
    std::vector<std::vector<Item>> levels;  // by depth
  };
  std::map<uint32_t, Open> threads;
  for (uint32_t row = 0; row < slices.size() && slices.ts_ns[row] < scene.span.end; ++row) {
    const int64_t start = slices.ts_ns[row], dur = slices.dur_ns[row];
    if (start + dur <= scene.span.start || slices.category[row] == SliceCategory::kPython) continue;
    Open& open = threads[slices.thread[row].value];
    while (!open.ends.empty() && open.ends.back() <= start) open.ends.pop_back();
    if (open.levels.size() <= open.ends.size()) open.levels.emplace_back();
    open.levels[open.ends.size()].push_back({start, start + dur, dur, dur, 1, row, 0});
    open.ends.push_back(start + dur);
  }
  for (auto& [thread, open] : threads) {
    for (size_t depth = 0; depth < open.levels.size(); ++depth) {
      const auto line = static_cast<uint32_t>(scene.lines.size());
      scene.lines.push_back({.lane = Lane::kHost, .thread = ThreadId(thread), .depth = static_cast<int64_t>(depth)});
      for (Item& item : open.levels[depth]) item.line = line, scene.items.push_back(item);
    }
  }
}

// Calls `emit` with each item, those shorter than `short_ns` with less than that between them as one.
template <class Emit>
void Merge(const std::vector<Item>& items, int64_t short_ns, Emit&& emit) {
  Item run;
  bool open = false;
  for (const Item& item : items) {
    const bool is_short = item.end - item.start < short_ns;
    if (open && is_short && item.line == run.line && item.start - run.end < short_ns) {
      if (item.longest > run.longest) run.longest = item.longest, run.row = item.row;
      run.end = std::max(run.end, item.end), run.busy += item.busy, ++run.count;
      continue;
    }
    if (open) emit(run);
    open = is_short;
    if (is_short) run = item;
    if (!is_short) emit(item);
  }
  if (open) emit(run);
}

std::vector<Item> Fitted(const std::vector<Item>& items, size_t most) {
  std::vector<Item> fitted = items;
  for (int64_t short_ns = 1024; fitted.size() > most && short_ns < (int64_t{1} << 60); short_ns *= 2) {
    fitted.clear();
    Merge(items, short_ns, [&](const Item& item) { fitted.push_back(item); });
  }
  return fitted;
}

class Writer {
 public:
  Writer(TableOf<SlowestStepRows>& table, const Scene& scene)
      : table_(table), scene_(scene), of_(*scene.timeline->of), trace_(scene.timeline->trace()) {}

  void Write(size_t most) {
    auto row = Begin();
    row.Set("lane", "step").Set("depth", 0).Set("count", 1).Set("ts_ns", scene_.span.start + of_.ts_shift_ns);
    row.Set("dur_ns", scene_.span.length()).Set("busy_ns", scene_.span.length());
    if (scene_.step.valid()) row.Set("name", trace_.Text(trace_.steps.name[scene_.step.value]));
    for (const Item& item : Fitted(scene_.items, most)) WriteItem(item);
  }

 private:
  struct What {
    std::string_view name, kind;
    int64_t gpu_op = kAbsent, slice = kAbsent;
  };

  TableOf<SlowestStepRows>::RowWriter Begin() {
    auto row = table_.Row(of_);
    if (scene_.step.valid()) row.Set("step", trace_.steps.number[scene_.step.value]);
    return row;
  }

  What WhatOf(const Line& line, uint32_t row) const {
    if (line.lane == Lane::kGpu) {
      return {trace_.Text(trace_.gpu_ops.name[row]), ToString(trace_.gpu_ops.op_class[row]), of_.Id(GpuOpId(row)),
              of_.Id(trace_.gpu_ops.launch[row])};
    }
    if (line.lane == Lane::kHost) {
      return {trace_.Text(trace_.slices.name[row]), ToString(trace_.slices.category[row]), kAbsent,
              of_.Id(SliceId(row))};
    }
    const IdleGap& gap = line.device->gaps[row];
    const SliceId open = gap.part_count > 0 ? line.device->parts[gap.first_part].slice : SliceId();
    return {open.valid() ? trace_.Text(trace_.slices.name[open.value]) : std::string_view(),
            kIdleCauseNames[static_cast<size_t>(line.device->MainCause(gap))], of_.Id(gap.next), of_.Id(open)};
  }

  void WriteItem(const Item& item) {
    const Line& line = scene_.lines[item.line];
    const What what = WhatOf(line, item.row);
    auto row = Begin();
    row.Set("lane", kLaneNames[static_cast<size_t>(line.lane)]).Set("stream", line.stream).Set("depth", line.depth);
    if (line.device) row.Set("device", line.device->device);
    if (line.thread.valid()) {
      row.Set("tid", trace_.threads.tid[line.thread.value]);
      row.Set("thread", trace_.Text(trace_.threads.name[line.thread.value]));
    }
    row.Set("name", what.name).Set("kind", what.kind).Set("ts_ns", item.start + of_.ts_shift_ns);
    row.Set("dur_ns", item.end - item.start).Set("count", item.count).Set("busy_ns", item.busy);
    row.Set("gpu_op_id", what.gpu_op).Set("slice_id", what.slice);
  }

  TableOf<SlowestStepRows>& table_;
  const Scene& scene_;
  const RunTrace& of_;
  const Trace& trace_;
};

// The same step on each trace that has it complete, the owner of the slowest first.
std::vector<Scene> ScenesOf(Tables& tables) {
  const std::vector<TraceTimeline>& timelines = tables.Timelines();
  const TraceTimeline* owner = nullptr;
  const StepWindow* slowest = SlowestStepOf(timelines, owner);
  const int64_t number = slowest ? owner->trace().steps.number[slowest->step.value] : kAbsent;
  std::vector<Scene> scenes;
  if (slowest) scenes.push_back({.timeline = owner, .step = slowest->step, .span = slowest->span});
  for (const TraceTimeline* timeline : FurthestFirst(tables)) {
    if (scenes.size() >= kMaxDrawnTraces) break;
    if (!slowest) scenes.push_back({.timeline = timeline, .step = {}, .span = timeline->window.span});
    if (!slowest || timeline == owner) continue;
    const auto at = std::ranges::find(timeline->window.steps, number, [&](const StepWindow& step) {
      return timeline->trace().steps.number[step.step.value];
    });
    if (at != timeline->window.steps.end())
      scenes.push_back({.timeline = timeline, .step = at->step, .span = at->span});
  }
  return scenes;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<SlowestStepRows> table;
  std::vector<Scene> scenes = ScenesOf(tables);
  for (Scene& scene : scenes) {
    if (scene.span.length() <= 0) continue;
    AddOperations(scene);
    AddCalls(scene);
    Writer(table, scene).Write(kMaxRows / scenes.size());
  }
  return table;
}

}  // namespace

ANALYSIS(slowest_step) = AnalysisOf<SlowestStepRows>({.run = Compute});

}  // namespace gapless::internal::slowest_step_analysis
