// SPDX-License-Identifier: Apache-2.0
// Reports how each optimiser updates its parameters: one kernel after the other for each of them (loop), over lists of
// tensors (foreach), or all in one (fused); what that launches, and what it leaves the device idle. The annotation
// `Optimizer.step#…` that PyTorch records marks it. `Optimizer.zero_grad#…` is looked at in the same way: where it
// fills gradients with zeros it launches as the update does. What a closure runs inside a step is not the step's.
#include "analyses/rows/optimizer_steps.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/optimizer_updates.h"

namespace gapless::internal::optimizer_steps_analysis {
namespace {

enum Way : uint8_t { kLoop, kForeach, kFused, kCompiled, kWays, kUnseenWay };
constexpr std::string_view kWayNames[] = {"loop", "foreach", "fused", "compiled"};

struct Call {
  Interval span;
  uint32_t row = 0;
  size_t group = 0;
};
struct Group {
  StringId name = StringId::kNone, line = StringId::kNone;
  std::array<int64_t, kWays> kernels{};
  int64_t calls = 0, host_ns = 0, device_ns = 0, idle_ns = 0;
  uint32_t longest = 0;
  std::map<StringId, int64_t> operators;  // kernels of the loop by the operator that launched them
};

class Optimizers {
 public:
  Optimizers(const TraceTimeline& timeline, const OptimizerUpdates& updates)
      : timeline_(timeline), trace_(timeline.trace()), updates_(updates), ways_(trace_.strings.size(), kUnseenWay) {
    FindCalls();
    if (calls_.empty()) return;
    AddKernels();
    for (const DeviceTimeline& device : timeline.devices) AddIdle(device);
  }

  std::vector<Group> groups;

 private:
  void FindCalls() {
    const SliceTable& slices = trace_.slices;
    const RowRange rows = RowsWithin(slices.ts_ns, timeline_.window.host);
    std::vector<uint8_t> is_step(trace_.strings.size());
    for (size_t id = 0; id < is_step.size(); ++id) {
      const std::string_view name = trace_.strings[static_cast<StringId>(id)];
      is_step[id] = name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#");
    }
    int64_t covered = std::numeric_limits<int64_t>::min();
    for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
      if (is_step[static_cast<uint32_t>(slices.name[row])] == 0) continue;
      const Interval span{slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]};
      const bool by_closure = updates_.InClosure(row) && !trace_.Text(slices.name[row]).starts_with("Optimizer.step");
      if (span.start < covered && !by_closure) continue;  // an optimiser inside another, or a copy of the annotation
      covered = std::max(covered, span.end);
      const size_t group = GroupOf(row);
      Group& of = groups[group];
      if (of.calls++ == 0 || slices.dur_ns[row] > slices.dur_ns[of.longest]) of.longest = row;
      const OptimizerUpdate* update = updates_.At(row);
      for (const Interval& own : update != nullptr ? update->own : Intervals{span}) {
        of.host_ns += own.length();
        calls_.push_back({own, row, group});
      }
    }
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const Call& a, const Call& b) { return a.span.start < b.span.start; });
  }

  size_t GroupOf(uint32_t row) {
    const StringId name = trace_.slices.name[row], line = trace_.slices.source_line[row];
    const auto [at, is_new] = by_place_.try_emplace({name, line}, groups.size());
    if (is_new) groups.emplace_back().name = name, groups.back().line = line;
    return at->second;
  }

  const Call* CallAt(int64_t ts) const {
    const auto after = std::upper_bound(calls_.begin(), calls_.end(), ts,
                                        [](int64_t at, const Call& call) { return at < call.span.start; });
    if (after == calls_.begin() || std::prev(after)->span.end <= ts) return nullptr;
    return &*std::prev(after);
  }

  Way WayOf(StringId name) {
    uint8_t& way = ways_[static_cast<uint32_t>(name)];
    if (way == kUnseenWay) {
      const std::string_view text = trace_.Text(name);
      const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
      way = has("_fused_") || has("FusedAdam") || has("fused_adam") ? kFused
            : has("_foreach_") || has("multi_tensor")               ? kForeach
            : text.starts_with("triton_")                           ? kCompiled
                                                                    : kLoop;
    }
    return static_cast<Way>(way);
  }

  void AddKernels() {
    const GpuOpTable& ops = trace_.gpu_ops;
    const SliceTable& slices = trace_.slices;
    for (size_t row = 0; row < ops.size(); ++row) {
      const SliceId launch = ops.launch[row], op = ops.op[row];
      if (!launch.valid() || ops.kind[row] != GpuOpKind::kKernel || ops.op_class[row] == GpuOpClass::kCommunication)
        continue;
      const Call* call = CallAt(slices.ts_ns[launch.value]);
      if (call == nullptr || slices.thread[call->row] != slices.thread[launch.value]) continue;
      Group& group = groups[call->group];
      Way way = WayOf(ops.name[row]);
      if (way == kLoop && op.valid()) way = WayOf(slices.name[op.value]);
      // Lists of tensors in one kernel have many ways to be called; that they are one is what counts.
      if (way == kLoop && ops.op_class[row] == GpuOpClass::kOptimizer) way = kForeach;
      ++group.kernels[way], group.device_ns += ops.dur_ns[row];
      if (way == kLoop && op.valid()) ++group.operators[slices.name[op.value]];
    }
  }

  void AddIdle(const DeviceTimeline& device) {
    size_t at = 0;
    for (const IdleGap& gap : device.gaps) {
      while (at < calls_.size() && calls_[at].span.end <= gap.span.start) ++at;
      for (size_t i = at; i < calls_.size() && calls_[i].span.start < gap.span.end; ++i)
        groups[calls_[i].group].idle_ns +=
            std::min(gap.span.end, calls_[i].span.end) - std::max(gap.span.start, calls_[i].span.start);
    }
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  const OptimizerUpdates& updates_;
  std::vector<Call> calls_;    // sorted by start, without overlap; a step may have several
  std::vector<uint8_t> ways_;  // by name
  std::map<std::pair<StringId, StringId>, size_t> by_place_;  // into groups, by name and source line
};

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<OptimizerStepsRows>& table) {
  const Trace& trace = timeline.trace();
  Optimizers optimizers(timeline, tables.Once(trace, FindOptimizerUpdates));
  std::vector<Group>& groups = optimizers.groups;
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.host_ns > b.host_ns; });
  const auto devices = static_cast<int64_t>(timeline.devices.size());
  for (const Group& group : groups) {
    const auto most = std::max_element(group.kernels.begin(), group.kernels.end());
    int64_t kernels = 0, tensors = 0;
    for (const int64_t count : group.kernels) kernels += count;
    for (const auto& [name, count] : group.operators) tensors = std::max(tensors, count);
    auto row = table.Row(*timeline.of);
    if (kernels > 0) row.Set("implementation", kWayNames[most - group.kernels.begin()]);
    row.Set("name", trace.Text(group.name)).Set("source_line", trace.Text(group.line)).Set("calls", group.calls);
    row.Set("host_ns", group.host_ns).Set("kernels", kernels).Set("kernels_per_call", ShareOf(kernels, group.calls));
    row.Set("device_ns", group.device_ns);
    if (tensors > 0) row.Set("tensors", tensors / group.calls);
    row.Set("idle_ns", MeanOf(group.idle_ns, devices)).Set("slice_id", timeline.of->Id(SliceId(group.longest)));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<OptimizerStepsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(optimizer_steps) = AnalysisOf<OptimizerStepsRows>({.run = Compute});

}  // namespace gapless::internal::optimizer_steps_analysis
