// SPDX-License-Identifier: Apache-2.0
#include "lanes/selection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyses/columns.h"
#include "base/strings.h"
#include "lanes/device_states.h"
#include "lanes/flame.h"

namespace gapless::internal {
namespace {

struct SelectedOpsRows : TypedRows<SelectedOpsRows> {
  static constexpr std::string_view kName = "device_operations";
  static constexpr std::string_view kHelp = "Device operations in the selection, by name";
  static constexpr ColumnSpec kColumns[] = {
      {"name", kText, "", "name of the operation"},
      {"class", kText, "", "class of the operation"},
      {"calls", kInt, "", "operations that are in the selection, or reach into it"},
      {"total_ns", kInt, "ns", "their time in the selection"},
      {"mean_ns", kInt, "ns", "its mean"},
  };
};

struct SelectedIdleRows : TypedRows<SelectedIdleRows> {
  static constexpr std::string_view kName = "device_time";
  static constexpr std::string_view kHelp = "Time of the devices in the selection, idle time by cause";
  static constexpr ColumnSpec kColumns[] = {
      kDeviceColumn,
      {"state", kText, "", "what the device did, or the cause for which it was idle"},
      {"total_ns", kInt, "ns", "time in the selection"},
      {"share", kReal, "share", "fraction of the selection"},
  };
};

struct SelectedCallsRows : TypedRows<SelectedCallsRows> {
  static constexpr std::string_view kName = "host_calls";
  static constexpr std::string_view kHelp = "Calls of the host in the selection, by name, Python frames apart";
  static constexpr ColumnSpec kColumns[] = {
      {"name", kText, "", "what ran"},
      {"category", kText, "", "operator, annotation, python, runtime, driver, overhead or other"},
      {"calls", kInt, "", "calls that are in the selection, or reach into it"},
      {"total_ns", kInt, "ns", "their time in the selection"},
      {"self_ns", kInt, "ns", "the same without what they called"},
  };
};

struct SelectedSystemRows : TypedRows<SelectedSystemRows> {
  static constexpr std::string_view kName = "system_calls";
  static constexpr std::string_view kHelp = "Calls of the operating system's library in the selection, by name";
  static constexpr ColumnSpec kColumns[] = {
      {"name", kText, "", "function that was called"},
      {"calls", kInt, "", "calls that are in the selection, or reach into it"},
      {"total_ns", kInt, "ns", "their time in the selection, of all threads together"},
  };
};

struct NameSums {
  int64_t calls = 0, total = 0, self = 0;
};

int64_t Inside(const SelectionRange& range, const Span& span) {
  return std::max<int64_t>(0, std::min(range.to, span.end) - std::max(range.from, span.start));
}

class Summer {
 public:
  Summer(const TraceLanes& lanes, const SelectionRange& range) : lanes_(lanes), range_(range) {}

  SelectionSums Sum() {
    SelectionSums sums;
    for (auto add : {&Summer::AddOps, &Summer::AddStates, &Summer::AddCalls, &Summer::AddSystem}) (this->*add)(sums);
    AddSamples();
    sums.flame = flame_.Take(std::max<int64_t>(1, (range_.to - range_.from) / kLeastShare));
    return sums;
  }

 private:
  static constexpr int64_t kLeastShare = 5000;

  bool IsSelected(const Lane& lane, LaneKind kind) const {
    return lane.about.kind == kind && (range_.lanes.empty() || std::ranges::count(range_.lanes, lane.about.lane) > 0);
  }
  template <class Take>
  void ForEach(LaneKind kind, Take&& take) const {
    for (const Lane& lane : lanes_.lanes())
      if (IsSelected(lane, kind))
        lane.Visit(0, range_.from, range_.to, [&](size_t, const Span& span) { take(lane, span); });
  }
  // Rows with the most time first.
  template <class Key>
  static std::vector<std::pair<Key, NameSums>> Sorted(const std::map<Key, NameSums>& sums) {
    std::vector<std::pair<Key, NameSums>> sorted(sums.begin(), sums.end());
    std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& entry) { return entry.second.total; });
    return sorted;
  }
  template <class R>
  static void Keep(SelectionSums& sums, TableOf<R>& table) {
    if (table.rows() > 0) sums.tables.push_back({std::move(table), R::kHelp});
  }

  void AddOps(SelectionSums& sums) {
    const GpuOpTable& ops = trace_.gpu_ops;
    std::map<std::pair<StringId, GpuOpClass>, NameSums> names;
    ForEach(LaneKind::kStream, [&](const Lane&, const Span& span) {
      NameSums& name = names[{ops.name[span.row], ops.op_class[span.row]}];
      ++name.calls, name.total += Inside(range_, span);
    });
    TableOf<SelectedOpsRows> table;
    for (const auto& [key, name] : Sorted(names)) {
      auto row = table.Row();
      row.Set("name", trace_.Text(key.first)).Set("class", ToString(key.second)).Set("calls", name.calls);
      row.Set("total_ns", name.total).Set("mean_ns", MeanOf(name.total, name.calls));
    }
    Keep(sums, table);
  }

  void AddStates(SelectionSums& sums) {
    std::map<std::pair<int64_t, uint32_t>, NameSums> states;
    ForEach(LaneKind::kDevice, [&](const Lane& lane, const Span& span) {
      states[{lane.about.device.value_or(0), span.row}].total += Inside(range_, span);
    });
    TableOf<SelectedIdleRows> table;
    for (const auto& [key, state] : Sorted(states)) {
      auto row = table.Row();
      row.Set("device", key.first).Set("state", kDeviceStateNames[key.second]).Set("total_ns", state.total);
      row.Set("share", ShareOf(state.total, range_.to - range_.from));
    }
    Keep(sums, table);
  }

  // Puts the slices of all selected threads in the order of the table, in which parents come first.
  std::vector<std::pair<uint32_t, int64_t>> SelectedSlices() const {
    std::vector<std::pair<uint32_t, int64_t>> rows;  // row, its time in the selection
    ForEach(LaneKind::kThread,
            [&](const Lane&, const Span& span) { rows.emplace_back(span.row, Inside(range_, span)); });
    std::ranges::sort(rows);
    return rows;
  }

  void AddCalls(SelectionSums& sums) {
    const SliceTable& slices = trace_.slices;
    const auto rows = SelectedSlices();
    if (rows.empty()) return;
    std::map<std::pair<StringId, SliceCategory>, NameSums> names;
    std::vector<uint32_t> node_of(slices.size(), GrowingFlame::kRoot);
    std::vector<NameSums*> sums_of(slices.size(), nullptr);
    for (const auto& [row, inside] : rows) {
      NameSums& name = names[{slices.name[row], slices.category[row]}];
      ++name.calls, name.total += inside, name.self += inside;
      sums_of[row] = &name;
      SliceId parent = slices.parent[row];
      while (parent.valid() && sums_of[parent.value] == nullptr) parent = slices.parent[parent.value];
      if (parent.valid()) sums_of[parent.value]->self -= inside;
      const uint32_t around = parent.valid() ? node_of[parent.value] : ThreadNode(slices.thread[row], inside);
      node_of[row] = flame_.Child(around, static_cast<uint32_t>(slices.name[row]), trace_.Text(slices.name[row]),
                                  ToString(slices.category[row]));
      flame_.AddTotal(node_of[row], inside);
    }
    TableOf<SelectedCallsRows> table;
    for (const auto& [key, name] : Sorted(names)) {
      auto row = table.Row();
      row.Set("name", trace_.Text(key.first)).Set("category", ToString(key.second)).Set("calls", name.calls);
      row.Set("total_ns", name.total).Set("self_ns", std::max<int64_t>(0, name.self));
    }
    Keep(sums, table);
  }

  void AddSystem(SelectionSums& sums) {
    std::map<StringId, NameSums> names;
    ForEach(LaneKind::kCalls, [&](const Lane&, const Span& span) {
      NameSums& name = names[trace_.os_calls.name[span.row]];
      ++name.calls, name.total += Inside(range_, span);
    });
    TableOf<SelectedSystemRows> table;
    for (const auto& [key, name] : Sorted(names)) {
      auto row = table.Row();
      row.Set("name", trace_.Text(key)).Set("calls", name.calls).Set("total_ns", name.total);
    }
    Keep(sums, table);
  }

  uint32_t ThreadNode(ThreadId thread, int64_t inside) {
    const std::string_view name = trace_.Text(trace_.threads.name[thread.value]);
    const std::string label = name.empty() ? StrCat("thread ", trace_.threads.tid[thread.value]) : std::string(name);
    const uint32_t node = flame_.Child(GrowingFlame::kRoot, thread.value, label, "thread");
    flame_.AddTotal(node, inside);
    return node;
  }

  // A sample says where a thread was: all frames of its stack took its time.
  void AddSamples() {
    constexpr uint32_t kSamplesKey = UINT32_MAX;
    const SampleTable& samples = trace_.samples;
    std::vector<uint32_t> path;
    for (size_t row = 0; row < samples.size() && range_.lanes.empty(); ++row) {
      const int64_t at = samples.ts_ns[row] + lanes_.of().ts_shift_ns, weight = samples.weight_ns[row];
      if (at < range_.from || at >= range_.to || weight == kAbsent) continue;
      path.clear();
      for (StackId frame = samples.stack[row]; frame.valid(); frame = trace_.stacks.parent[frame.value])
        path.push_back(frame.value);
      uint32_t node = flame_.Child(GrowingFlame::kRoot, kSamplesKey, "samples of the host", "samples");
      flame_.AddTotal(node, weight);
      for (auto frame = path.rbegin(); frame != path.rend(); ++frame) {
        const StringId function = trace_.stacks.function[*frame];
        node = flame_.Child(node, static_cast<uint32_t>(function), trace_.Text(function), "sample");
        flame_.AddTotal(node, weight);
      }
    }
  }

  const TraceLanes& lanes_;
  const SelectionRange& range_;
  const Trace& trace_ = *lanes_.of().trace;
  GrowingFlame flame_;
};

}  // namespace

SelectionSums SumSelection(const TraceLanes& lanes, const SelectionRange& range) { return Summer(lanes, range).Sum(); }

}  // namespace gapless::internal
