// SPDX-License-Identifier: Apache-2.0
// Groups operators and kernels by their path of operators. Each distinct path is written once: a slice's is that of its
// parent and one more name.
#include "diagnose/run_outline.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include "analyses/kernel_names.h"
#include "analyses/rows/memory.h"
#include "analyses/timeline.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kDeepest = 12;  // operators of a path: code that calls itself would otherwise write pages

using Groups = std::map<std::tuple<std::string, std::string, std::string>, OutlineRow>;

OutlineRow& RowFor(Groups& groups, const std::string& path, std::string name, std::string_view shapes) {
  std::tuple key(path, std::move(name), std::string(shapes));
  const auto [at, is_new] = groups.try_emplace(std::move(key));
  if (is_new) std::tie(at->second.path, at->second.name, at->second.shapes) = at->first;
  return at->second;
}

// The operators of one process.
class Operators {
 public:
  explicit Operators(const Trace& trace) : trace_(trace), inside_(trace.slices.size()) {
    paths_.emplace_back();
    for (uint32_t row = 0; row < trace.slices.size(); ++row) {
      const SliceId parent = trace.slices.parent[row];
      const uint32_t around = parent.valid() ? inside_[parent.value] : 0;
      inside_[row] = trace.slices.category[row] == SliceCategory::kOperator ? Inside(around, row) : around;
    }
  }

  // The path of what stands around a slice, and with it.
  const std::string& PathAround(SliceId slice) const {
    const SliceId parent = slice.valid() ? trace_.slices.parent[slice.value] : SliceId();
    return paths_[parent.valid() ? inside_[parent.value] : 0].text;
  }
  const std::string& PathOf(SliceId slice) const { return paths_[slice.valid() ? inside_[slice.value] : 0].text; }

 private:
  struct Path {
    std::string text{};
    size_t depth = 0;
  };

  uint32_t Inside(uint32_t around, uint32_t row) {
    if (paths_[around].depth == kDeepest) return around;
    const auto [at, is_new] = numbers_.try_emplace({around, trace_.slices.name[row]}, paths_.size());
    if (is_new) {
      const std::string& outer = paths_[around].text;
      paths_.push_back(
          {StrCat(outer, outer.empty() ? "" : " > ", trace_.Text(trace_.slices.name[row])), paths_[around].depth + 1});
    }
    return static_cast<uint32_t>(at->second);
  }

  const Trace& trace_;
  std::vector<uint32_t> inside_;  // by slice: the path that what it calls has
  std::vector<Path> paths_;
  std::map<std::pair<uint32_t, StringId>, size_t> numbers_;
};

void AddTrace(const TraceTimeline& timeline, Groups& operators, Groups& kernels) {
  const Trace& trace = timeline.trace();
  const SliceTable& slices = trace.slices;
  const GpuOpTable& ops = trace.gpu_ops;
  const Operators paths(trace);
  std::vector<int64_t> device_ns(slices.size());
  for (const DeviceTimeline& device : timeline.devices)
    for (const uint32_t row : device.RowsInWindow()) {
      const SliceId op = ops.op[row];
      if (op.valid()) device_ns[op.value] += ops.dur_ns[row];
      if (ops.kind[row] != GpuOpKind::kKernel) continue;
      OutlineRow& sum = RowFor(kernels, paths.PathOf(op), PlainKernelName(trace.Text(ops.name[row])),
                               op.valid() ? trace.Text(slices.input_shapes[op.value]) : std::string_view());
      ++sum.calls, sum.ns += ops.dur_ns[row];
    }
  const RowRange rows = RowsWithin(slices.ts_ns, timeline.window.host);
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (slices.category[row] != SliceCategory::kOperator) continue;
    OutlineRow& sum = RowFor(operators, paths.PathAround(SliceId(static_cast<uint32_t>(row))),
                             std::string(trace.Text(slices.name[row])), trace.Text(slices.input_shapes[row]));
    ++sum.calls, sum.ns += slices.dur_ns[row], sum.device_ns += device_ns[row];
  }
}

std::vector<OutlineRow> RowsOf(Groups groups) {
  std::vector<OutlineRow> rows;
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
  return rows;
}

template <class T>
void TakeMost(std::optional<T>& most, bool is_null, T value) {
  if (!is_null && (!most || value > *most)) most = value;
}

std::vector<OutlineMemory> MemoryOf(const MemoryRows& rows) {
  std::map<std::optional<int64_t>, OutlineMemory> devices;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const std::optional<int64_t> device =
        rows.IsNull(row, "device") ? std::nullopt : std::optional(rows.Int(row, "device"));
    OutlineMemory& memory = devices[device];
    memory.device = device;
    TakeMost(memory.peak_allocated_bytes, rows.IsNull(row, "peak_allocated_bytes"),
             rows.Int(row, "peak_allocated_bytes"));
    TakeMost(memory.peak_reserved_bytes, rows.IsNull(row, "peak_reserved_bytes"), rows.Int(row, "peak_reserved_bytes"));
    TakeMost(memory.allocations, rows.IsNull(row, "allocations_per_step"), rows.Real(row, "allocations_per_step"));
  }
  std::vector<OutlineMemory> memory;
  for (auto& [device, of] : devices) memory.push_back(of);
  return memory;
}

}  // namespace

RunOutline OutlineOf(Tables& tables) {
  Groups operators, kernels;
  for (const TraceTimeline& timeline : tables.Timelines()) AddTrace(timeline, operators, kernels);
  return {RowsOf(std::move(operators)), RowsOf(std::move(kernels)), MemoryOf(tables.Get<MemoryRows>())};
}

std::vector<OutlineChange> ChangesOf(const std::vector<OutlineRow>& a, int64_t a_units,
                                     const std::vector<OutlineRow>& b, int64_t b_units, bool are_operators) {
  std::map<std::tuple<std::string, std::string, std::string>, OutlineChange> changes;
  const auto add = [&](const OutlineRow& row, int64_t units, bool is_b) {
    const auto [at, is_new] = changes.try_emplace({row.path, row.name, row.shapes});
    OutlineChange& change = at->second;
    if (is_new) change.path = row.path, change.name = row.name, change.shapes = row.shapes;
    change.presence = is_new ? (is_b ? Presence::kOnlyB : Presence::kOnlyA) : Presence::kBoth;
    const auto per = static_cast<double>(units);
    (is_b ? change.b_calls : change.a_calls) = static_cast<double>(row.calls) / per;
    (is_b ? change.b_ns : change.a_ns) = std::llround(static_cast<double>(row.ns) / per);
    if (are_operators)
      (is_b ? change.b_device_ns : change.a_device_ns) = std::llround(static_cast<double>(row.device_ns) / per);
  };
  for (const OutlineRow& row : a) add(row, a_units, false);
  for (const OutlineRow& row : b) add(row, b_units, true);
  std::vector<OutlineChange> sorted;
  for (auto& [key, change] : changes)
    if (change.ns() != 0 || change.a_calls != change.b_calls || change.a_device_ns != change.b_device_ns)
      sorted.push_back(std::move(change));
  std::ranges::stable_sort(sorted, std::greater<>(), [](const OutlineChange& one) { return std::abs(one.ns()); });
  return sorted;
}

}  // namespace gapless::internal
