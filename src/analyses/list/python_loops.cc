// SPDX-License-Identifier: Apache-2.0
// Loops over tensors in the program: a sequence of 1 to 8 operators, called from outside of any other operator, that
// one thread repeats at least 16 times in a row with the same shapes (where they were recorded). One operator on the
// whole tensor does the same with one launch.
//
// Not loops: what the optimiser, the backward pass, a compiled region, the data loader and DistributedDataParallel's
// broadcast of buffers do; and the layers of a model.
// A model's layers repeat as well, but they have weights: a sequence with an operator that takes weights (linear,
// convolution, normalisation, embedding, attention) counts only when it also takes a slice of a tensor (select, slice,
// unbind …), as a loop over time steps does. Sequences that only make views, and allocate, move no data and are left
// out too.
#include "analyses/rows/python_loops.h"

#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/open_slice.h"
#include "analyses/repeats.h"
#include "analyses/surroundings.h"

namespace gapless::internal::python_loops_analysis {
namespace {

enum NameKind : uint8_t { kPlain = 0, kView = 1, kTakesPart = 2, kHasWeights = 4, kUnseen = 0xFF };

uint8_t KindOf(std::string_view name) {
  static constexpr std::string_view kViews[] = {
      "view", "reshape",    "transpose", "permute", "expand",  "squeeze",     "detach",     "alias",    "empty",
      "t",    "as_strided", "unsqueeze", "flatten", "resize_", "result_type", "lift_fresh", "is_pinned"};
  static constexpr std::string_view kParts[] = {"select", "slice", "unbind", "index",        "narrow",
                                                "split",  "chunk", "gather", "index_select", "unsafe_split"};
  static constexpr std::string_view kWeights[] = {"linear",  "conv", "addmm", "norm", "embedding", "attention",
                                                  "dropout", "lstm", "gru",   "pool", "multi_head"};
  if (!name.starts_with("aten::")) return kHasWeights;  // an extension or a region; its work is not known
  name.remove_prefix(6);
  for (const std::string_view part : kParts)
    if (name == part) return kTakesPart | kView;
  for (const std::string_view view : kViews)
    if (name == view) return kView;
  for (const std::string_view weights : kWeights)
    if (name.find(weights) != name.npos) return kHasWeights;
  return kPlain;
}

struct Group {
  int64_t loops = 0, repeats = 0, calls = 0, host_ns = 0, gpu_ops = 0, device_ns = 0, idle_ns = 0;
  SliceId first;
};
struct Loop {
  Interval span;
  uint32_t first = 0, last = 0;  // rows of the first and the last operator
  size_t group = 0;
};

using Pattern = std::pair<std::vector<StringId>, StringId>;  // names, source line

class Loops {
 public:
  Loops(const TraceTimeline& timeline, const std::vector<uint8_t>& around)
      : timeline_(timeline),
        trace_(timeline.trace()),
        kinds_(trace_.strings.size(), kUnseen),
        outer_(trace_.threads.size()) {
    Collect(around);
    for (std::vector<uint32_t>& rows : outer_) FindIn(rows);
    std::sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) { return a.span.start < b.span.start; });
    AddDeviceWork();
    AddIdle();
  }

  std::map<Pattern, size_t> by_pattern;
  std::vector<Group> groups;

 private:
  // Operators that no other operator calls, by thread.
  void Collect(const std::vector<uint8_t>& around) {
    constexpr uint8_t kNotMine = kInOptimizer | kInAutograd | kInCompiled | kInLoader;
    const SliceTable& slices = trace_.slices;
    std::vector<uint8_t> inside(slices.size());  // an operator is open
    for (uint32_t row = 0; row < slices.size(); ++row) {
      const SliceId parent = slices.parent[row];
      const bool within = parent.valid() && inside[parent.value] != 0;
      const bool op = slices.category[row] == SliceCategory::kOperator;
      inside[row] = within || op;
      if (op && !within && (around[row] & kNotMine) == 0 && slices.ts_ns[row] >= timeline_.window.host.start &&
          slices.ts_ns[row] < timeline_.window.host.end)
        outer_[slices.thread[row].value].push_back(row);
    }
  }

  uint8_t Kind(StringId name) {
    uint8_t& kind = kinds_[static_cast<uint32_t>(name)];
    if (kind == kUnseen) kind = KindOf(trace_.Text(name));
    return kind;
  }

  void FindIn(const std::vector<uint32_t>& rows) {
    const SliceTable& slices = trace_.slices;
    const auto found = [&](const Repeat& repeat) { AddLoop(rows, repeat); };
    RepeatFinder finder(found);
    // A sequence that repeats once per step is no loop, even between the marks of steps.
    StepId step;
    const auto& starts = trace_.steps.ts_ns;
    size_t begun = 0;  // steps
    for (const uint32_t row : rows) {
      const size_t before = begun;
      while (begun < starts.size() && starts[begun] <= slices.ts_ns[row]) ++begun;
      if (slices.step[row] != step || begun != before) finder.Finish(), step = slices.step[row];
      finder.Add(uint64_t{static_cast<uint32_t>(slices.name[row])} << 32 |
                 static_cast<uint32_t>(slices.input_shapes[row]));
    }
    finder.Finish();
  }

  bool IsLoop(const std::vector<uint32_t>& rows, const Repeat& repeat) {
    uint8_t any = 0, all = kView;
    for (size_t i = repeat.first; i < repeat.first + repeat.period; ++i) {
      const uint8_t kind = Kind(trace_.slices.name[rows[i]]);
      any |= kind, all &= kind;
    }
    if ((all & kView) != 0) return false;
    if (repeat.period == 1 && BufferBroadcast(SliceId(rows[repeat.first]))) return false;
    return (any & kHasWeights) == 0 || (any & kTakesPart) != 0;
  }

  // DistributedDataParallel copies the buffers it broadcast, one by one, before the model's forward pass.
  bool BufferBroadcast(SliceId op) const {
    return trace_.Text(trace_.slices.name[op.value]) == "aten::copy_" &&
           ContextOf(trace_, op).annotation == "DistributedDataParallel.forward";
  }

  void AddLoop(const std::vector<uint32_t>& rows, const Repeat& repeat) {
    if (!IsLoop(rows, repeat)) return;
    const SliceTable& slices = trace_.slices;
    const uint32_t first = rows[repeat.first], last = rows[repeat.last - 1];
    std::vector<StringId> names;
    for (size_t i = repeat.first; i < repeat.first + repeat.period; ++i) names.push_back(slices.name[rows[i]]);
    const auto [at, is_new] = by_pattern.try_emplace({std::move(names), slices.source_line[first]}, groups.size());
    if (is_new) groups.emplace_back();
    Group& group = groups[at->second];
    const Interval span{slices.ts_ns[first], slices.ts_ns[last] + slices.dur_ns[last]};
    ++group.loops, group.calls += static_cast<int64_t>(repeat.last - repeat.first), group.host_ns += span.length();
    if (static_cast<int64_t>(repeat.count()) > group.repeats)
      group.repeats = static_cast<int64_t>(repeat.count()), group.first = SliceId(first);
    loops_.push_back({span, first, last, at->second});
  }

  // The loop during which this thread launched something at `ts`; loops of one thread do not overlap.
  const Loop* LoopAt(int64_t ts, ThreadId thread) const {
    auto at = std::upper_bound(loops_.begin(), loops_.end(), ts,
                               [](int64_t time, const Loop& loop) { return time < loop.span.start; });
    constexpr int kThreads = 8;  // loops of other threads that began later
    for (int back = 0; back < kThreads && at != loops_.begin(); ++back) {
      --at;
      if (ts < at->span.end && (!thread.valid() || trace_.slices.thread[at->first] == thread)) return &*at;
    }
    return nullptr;
  }

  void AddDeviceWork() {
    if (loops_.empty()) return;
    const GpuOpTable& ops = trace_.gpu_ops;
    for (size_t row = 0; row < ops.size(); ++row) {
      const SliceId launch = ops.launch[row];
      if (!launch.valid()) continue;
      const Loop* loop = LoopAt(trace_.slices.ts_ns[launch.value], trace_.slices.thread[launch.value]);
      if (loop == nullptr) continue;
      ++groups[loop->group].gpu_ops, groups[loop->group].device_ns += ops.dur_ns[row];
    }
  }

  void AddIdle() {
    for (const DeviceTimeline& device : timeline_.devices)
      for (const IdleGap& gap : device.gaps)
        for (uint32_t at = gap.first_part; at < gap.first_part + gap.part_count; ++at) {
          const IdlePart& part = device.parts[at];
          if (part.cause == IdleCause::kData || part.cause == IdleCause::kUnknown) continue;
          if (const Loop* loop = LoopAt(part.start, ThreadId()); loop != nullptr)
            groups[loop->group].idle_ns += std::min(device.PartEnd(gap, at), loop->span.end) - part.start;
        }
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  std::vector<uint8_t> kinds_;                // by name
  std::vector<std::vector<uint32_t>> outer_;  // by thread
  std::vector<Loop> loops_;
};

std::string PatternOf(const Trace& trace, const std::vector<StringId>& names) {
  std::string pattern;
  for (const StringId name : names) {
    if (!pattern.empty()) pattern += " > ";
    pattern += trace.Text(name);
  }
  return pattern;
}

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<PythonLoopsRows>& table) {
  const Trace& trace = timeline.trace();
  const Loops loops(timeline, tables.Once(trace, Surroundings));
  std::vector<std::pair<Pattern, size_t>> ordered(loops.by_pattern.begin(), loops.by_pattern.end());
  std::stable_sort(ordered.begin(), ordered.end(), [&](const auto& a, const auto& b) {
    return loops.groups[a.second].host_ns > loops.groups[b.second].host_ns;
  });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  const auto devices = static_cast<int64_t>(timeline.devices.size());
  for (const auto& [key, at] : ordered) {
    const Group& group = loops.groups[at];
    auto row = table.Row(*timeline.of);
    row.Set("pattern", PatternOf(trace, key.first)).Set("source_line", trace.Text(key.second));
    row.Set("annotation", ContextOf(trace, group.first).annotation).Set("loops", group.loops);
    row.Set("loops_per_step", ShareOf(group.loops, steps)).Set("repeats", group.repeats).Set("calls", group.calls);
    row.Set("host_ns", group.host_ns).Set("gpu_ops", group.gpu_ops).Set("device_ns", group.device_ns);
    row.Set("idle_ns", MeanOf(group.idle_ns, devices)).Set("slice_id", timeline.of->Id(group.first));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<PythonLoopsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(python_loops) = AnalysisOf<PythonLoopsRows>({.run = Compute});

}  // namespace gapless::internal::python_loops_analysis
