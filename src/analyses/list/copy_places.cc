// SPDX-License-Identifier: Apache-2.0
// Lists where data is moved without being computed on: copies between host and device, and on the device what an
// operator moves with a kernel of its own, by what for: a change of type (cast), of memory layout or for an own memory
// (layout), or to join tensors (join). By the outermost operator and the line that asks for it.
//
// A cast is a copy whose two tensors have different element types; where types were not recorded a copying kernel under
// aten::to or aten::_to_copy is one, because what has the right type already is not copied. What the optimiser, the
// accumulation of gradients and the data loader copy is theirs and not listed.
//
// One call that takes long (the first of a recording, mostly) is no cost of every step: `steady_ns` is what the median
// step's copies cost, taken for all steps.
//
// A round trip is a large copy to the device of as many bytes as a copy to the host in the same step before it. Equal
// sizes alone show little: batches and results are often as large. So a size whose first copy goes to the device, or of
// which more copies go to the device than come back, is that of inputs.
#include "analyses/rows/copy_places.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/open_slice.h"
#include "analyses/surroundings.h"
#include "analyses/timeline.h"

namespace gapless::internal::copy_places_analysis {
namespace {

constexpr uint8_t kNotMine = kInOptimizer | kInAccumulateGrad | kInLoader;

enum class Moves : uint8_t { kNothing, kCast, kLayout, kJoin };
constexpr std::string_view kMovesNames[] = {"", "cast", "layout", "join"};

struct Group {
  int64_t calls = 0, small = 0, bytes = kAbsent, device_ns = 0, exposed_ns = 0, idle_ns = 0, large_exposed_ns = 0;
  int64_t round_trips = 0;
  uint32_t longest = 0;
  std::map<size_t, int64_t> of_steps;  // large_exposed_ns and idle_ns by complete step; those without any are left out
};
// kind, outermost operator, directly inside compiled code, source line, types of a cast
using Key = std::tuple<std::string_view, StringId, bool, StringId, StringId>;

constexpr size_t kStepsForMedian = 3;

int64_t SteadyOf(const Group& group, size_t steps) {
  const int64_t all = group.large_exposed_ns + group.idle_ns;
  if (steps < kStepsForMedian) return all;
  if (2 * group.of_steps.size() + 1 < steps) return 0;  // no time is negative, so the median is 0
  std::vector<int64_t> of_steps;
  for (const auto& [step, ns] : group.of_steps) of_steps.push_back(ns);
  of_steps.resize(steps);
  return std::min(all, Percentile(of_steps, 0.5) * static_cast<int64_t>(steps));
}

// ["float", "c10::Half", …]: do the first two differ? A copy writes the first and reads the second.
bool DifferentTypes(std::string_view types) {
  std::string_view first;
  for (size_t at = 0, seen = 0; (at = types.find('"', at)) != types.npos; ++seen) {
    const size_t end = types.find('"', at + 1);
    if (end == types.npos) return false;
    const std::string_view type = types.substr(at + 1, end - at - 1);
    at = end + 1;
    if (seen == 0)
      first = type;
    else
      return !first.empty() && !type.empty() && type != "Scalar" && first != type;
  }
  return false;
}

class Places {
 public:
  Places(const TraceTimeline& timeline, const std::vector<uint8_t>& around)
      : trace_(timeline.trace()), around_(around), differ_(trace_.strings.size(), 2) {
    sizes_that_return_ = SizesThatReturn();
    idle_.resize(trace_.gpu_ops.size());
    place_of_step_.resize(trace_.steps.size(), -1);
    for (size_t i = 0; i < timeline.window.steps.size(); ++i)
      place_of_step_[timeline.window.steps[i].step.value] = static_cast<int64_t>(i);
    for (const DeviceTimeline& device : timeline.devices) AddIdle(device);
    for (const DeviceTimeline& device : timeline.devices) AddOps(device);
  }

  std::map<Key, Group> groups;

 private:
  void AddIdle(const DeviceTimeline& device) {
    for (const IdleGap& gap : device.gaps)
      for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
        if (IsCopyAtWork(trace_, gap, device.parts[part]))
          idle_[gap.next.value] += device.PartEnd(gap, part) - device.parts[part].start;
  }

  void AddOps(const DeviceTimeline& device) {
    const GpuOpTable& ops = trace_.gpu_ops;
    size_t exposed = 0;
    for (const uint32_t row : device.RowsInWindow()) {
      if (ops.kind[row] == GpuOpKind::kMemcpy) {
        const SliceId op = ops.op[row];
        if (ops.copy_kind[row] == CopyKind::kDtoD && op.valid() && (around_[op.value] & kNotMine) != 0) continue;
        AddCopy(device.exposed_copies, exposed, row);
      } else if (const Moves moves = MovesOf(row); moves != Moves::kNothing) {
        const StringId types = moves == Moves::kCast ? trace_.slices.input_types[ops.op[row].value] : StringId::kNone;
        Add(kMovesNames[static_cast<size_t>(moves)], row, types);
      }
    }
  }

  void AddCopy(const Intervals& exposed, size_t& at, uint32_t row) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const CopyKind kind = ops.copy_kind[row];
    const int64_t start = ops.ts_ns[row], end = start + ops.dur_ns[row], bytes = ops.bytes[row];
    while (at < exposed.size() && exposed[at].end <= start) ++at;
    int64_t alone = 0;
    for (size_t i = at; i < exposed.size() && exposed[i].start < end; ++i)
      alone += std::min(end, exposed[i].end) - std::max(start, exposed[i].start);
    Group& group = Add(ToString(kind == CopyKind::kNone ? CopyKind::kOther : kind), row, StringId::kNone);
    group.exposed_ns += alone, group.idle_ns += idle_[row];
    if (const bool large = bytes > kSmallCopyBytes; large || idle_[row] > 0)
      AddToStep(group, ops.step[row], (large ? alone : 0) + idle_[row]);
    if (bytes == kAbsent) return;
    group.bytes = (group.bytes == kAbsent ? 0 : group.bytes) + bytes;
    group.small += bytes <= kSmallCopyBytes;
    if (bytes > kSmallCopyBytes) group.large_exposed_ns += alone;
    group.round_trips += IsRoundTrip(kind, ops.step[row], bytes);
  }

  void AddToStep(Group& group, StepId step, int64_t ns) {
    if (!step.valid() || place_of_step_[step.value] < 0) return;
    group.of_steps[static_cast<size_t>(place_of_step_[step.value])] += ns;
  }

  // The sizes of which data may come back to the device: they are copied to the host first, and at least as often.
  std::unordered_set<int64_t> SizesThatReturn() const {
    struct Copies {
      int64_t to_host = 0, to_device = 0;
      bool to_host_first = false;
    };
    std::unordered_map<int64_t, Copies> by_size;
    const GpuOpTable& ops = trace_.gpu_ops;
    for (size_t row = 0; row < ops.size(); ++row) {
      if (ops.kind[row] != GpuOpKind::kMemcpy || ops.bytes[row] <= kSmallCopyBytes) continue;
      const bool to_host = IsDeviceToHost(ops.copy_kind[row]);
      if (!to_host && !IsHostToDevice(ops.copy_kind[row])) continue;
      Copies& copies = by_size[ops.bytes[row]];
      if (copies.to_host + copies.to_device == 0) copies.to_host_first = to_host;
      ++(to_host ? copies.to_host : copies.to_device);
    }
    std::unordered_set<int64_t> sizes;
    for (const auto& [bytes, copies] : by_size)
      if (copies.to_host_first && copies.to_host >= copies.to_device) sizes.insert(bytes);
    return sizes;
  }

  bool IsRoundTrip(CopyKind kind, StepId step, int64_t bytes) {
    if (bytes <= kSmallCopyBytes || !sizes_that_return_.contains(bytes)) return false;
    if (step != step_) to_host_.clear(), step_ = step;
    if (IsDeviceToHost(kind)) to_host_.insert(bytes);
    return IsHostToDevice(kind) && to_host_.erase(bytes) > 0;
  }

  Moves MovesOf(uint32_t row) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const SliceId op = ops.op[row];
    if (ops.kind[row] != GpuOpKind::kKernel || !op.valid()) return Moves::kNothing;
    const StringId name = trace_.slices.name[op.value];
    if (name == StringId::kNone || (name != copy_ && name != cat_)) return Moves::kNothing;
    if ((around_[op.value] & kNotMine) != 0) return Moves::kNothing;
    if (name == cat_) return Moves::kJoin;
    const StringId types = trace_.slices.input_types[op.value];
    if (types == StringId::kNone) return UnderTo(op) ? Moves::kCast : Moves::kLayout;
    uint8_t& differ = differ_[static_cast<uint32_t>(types)];
    if (differ == 2) differ = DifferentTypes(trace_.Text(types)) ? 1 : 0;
    return differ != 0 ? Moves::kCast : Moves::kLayout;
  }

  bool UnderTo(SliceId op) const {
    const SliceId parent = trace_.slices.parent[op.value];
    if (!parent.valid()) return false;
    const StringId name = trace_.slices.name[parent.value];
    return name != StringId::kNone && (name == to_ || name == to_copy_);
  }

  Group& Add(std::string_view kind, uint32_t row, StringId types) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const SliceId inner = ops.op[row].valid() ? ops.op[row] : ops.launch[row];
    const Asker asker = Outermost(inner);
    Group& group = groups[{kind, asker.name, asker.in_compiled,
                           inner.valid() ? trace_.slices.source_line[inner.value] : StringId::kNone, types}];
    if (group.calls++ == 0 || ops.dur_ns[row] > ops.dur_ns[group.longest]) group.longest = row;
    group.device_ns += ops.dur_ns[row];
    return group;
  }

  // The outermost operator that is neither a node of autograd nor a compiled region, and whether the latter is what is
  // right around it.
  struct Asker {
    StringId name = StringId::kNone;
    bool in_compiled = false;
  };
  Asker Outermost(SliceId slice) const {
    Asker asker;
    const SliceTable& slices = trace_.slices;
    for (SliceId at = slice; at.valid(); at = slices.parent[at.value])
      if (slices.category[at.value] == SliceCategory::kOperator) {
        const uint8_t node = SurroundingOf(trace_.Text(slices.name[at.value])) & (kInAutograd | kInCompiled);
        asker.in_compiled = (node & kInCompiled) != 0;
        if (node != 0) break;
        asker.name = slices.name[at.value];
      }
    return asker;
  }

  const Trace& trace_;
  const std::vector<uint8_t>& around_;  // by slice
  std::vector<uint8_t> differ_;
  std::vector<int64_t> idle_;           // by row of gpu_ops
  std::vector<int64_t> place_of_step_;  // by step: its place among the complete ones, or −1
  const StringId copy_ = trace_.strings.Find("aten::copy_"), cat_ = trace_.strings.Find("aten::cat");
  const StringId to_ = trace_.strings.Find("aten::to"), to_copy_ = trace_.strings.Find("aten::_to_copy");
  std::unordered_set<int64_t> sizes_that_return_;
  StepId step_;
  std::unordered_set<int64_t> to_host_;  // sizes of what this step has copied to the host
};

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<CopyPlacesRows>& table) {
  const Trace& trace = timeline.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  Places places(timeline, tables.Once(timeline.trace(), Surroundings));
  std::vector<std::pair<Key, Group>> ordered(places.groups.begin(), places.groups.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.second.device_ns + a.second.idle_ns > b.second.device_ns + b.second.idle_ns;
  });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  for (const auto& [key, group] : ordered) {
    const auto& [kind, op, in_compiled, line, types] = key;
    const bool engine = ops.kind[group.longest] == GpuOpKind::kMemcpy;
    const auto if_engine = [&](int64_t value) { return engine ? value : kAbsent; };
    const bool to_device = IsHostToDevice(ops.copy_kind[group.longest]);
    auto row = table.Row(*timeline.of);
    row.Set("kind", kind).Set("operator", trace.Text(op)).Set("source_line", trace.Text(line));
    row.Set("inside", in_compiled ? "compiled" : "").Set("types", trace.Text(types)).Set("calls", group.calls);
    row.Set("calls_per_step", ShareOf(group.calls, steps));
    row.Set("small_calls", group.bytes == kAbsent ? kAbsent : group.small).Set("bytes", group.bytes);
    row.Set("device_ns", group.device_ns).Set("exposed_ns", if_engine(group.exposed_ns));
    row.Set("idle_ns", if_engine(group.idle_ns)).Set("large_exposed_ns", if_engine(group.large_exposed_ns));
    row.Set("steady_ns", if_engine(SteadyOf(group, timeline.window.steps.size())));
    row.Set("round_trips", to_device ? group.round_trips : kAbsent);
    const SliceId slice = ops.op[group.longest].valid() ? ops.op[group.longest] : ops.launch[group.longest];
    row.Set("slice_id", timeline.of->Id(slice)).Set("gpu_op_id", timeline.of->Id(GpuOpId(group.longest)));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<CopyPlacesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(copy_places) = AnalysisOf<CopyPlacesRows>({.run = Compute});

}  // namespace gapless::internal::copy_places_analysis
