// SPDX-License-Identifier: Apache-2.0
// Operators by name and by the shapes and types of their inputs: which sizes cost, where table operators says only
// which operator. As in the TensorBoard plugin's view "operator + input shape". Definitions of the times are those of
// table operators; calls of one name with other shapes inside count in both.
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::operator_shapes_analysis {
namespace {

struct OperatorShapesRows : TypedRows<OperatorShapesRows> {
  static constexpr std::string_view kName = "operator_shapes";
  static constexpr std::string_view kHelp = "Operators by name, input shapes and types: calls, host and device time";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"name", kText, "", "name of the operator"},
      {"shapes", kText, "", "shapes of its inputs, as recorded; NULL: not recorded"},
      {"types", kText, "", "their element types, as recorded; NULL: not recorded"},
      {"calls", kInt, "", "how often it was called"},
      {"host_self_ns", kInt, "ns", "host time without what it calls"},
      {"host_total_ns", kInt, "ns", "host time"},
      {"device_self_ns", kInt, "ns", "time of the device work it launched itself"},
      {"device_total_ns", kInt, "ns", "time of the device work launched while it was open"},
      {"share", kReal, "share", "device_self_ns of all device work of the trace"},
      {"slice_id", kInt, "id:slice", "its longest call"},
  };
};

struct Key {
  StringId name, shapes, types;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = static_cast<uint32_t>(key.name);
    for (const StringId id : {key.shapes, key.types})
      hash = (hash ^ static_cast<uint32_t>(id)) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29;
    return static_cast<size_t>(hash);
  }
};

struct Group {
  Key key;
  uint32_t longest = kNoRowValue;
  int64_t calls = 0, host_self_ns = 0, host_total_ns = 0, device_self_ns = 0, device_total_ns = 0;
};

class ByShape {
 public:
  explicit ByShape(const TraceTimeline& timeline) : trace_(timeline.trace()) {
    const SliceTable& slices = trace_.slices;
    std::vector<int64_t> self(slices.size());
    const RowRange rows = RowsWithin(trace_.gpu_ops.ts_ns, timeline.window.span);
    for (size_t row = rows.first; row < rows.last; ++row) {
      device_ns += trace_.gpu_ops.dur_ns[row];
      if (const SliceId op = trace_.gpu_ops.op[row]; op.valid()) self[op.value] += trace_.gpu_ops.dur_ns[row];
    }
    std::vector<int64_t> total = self;  // children come after their parents
    for (size_t row = total.size(); row-- > 0;)
      if (const SliceId parent = slices.parent[row]; total[row] != 0 && parent.valid())
        total[parent.value] += total[row];
    const RowRange host = RowsWithin(slices.ts_ns, timeline.window.host);
    for (uint32_t row = 0; row < slices.size(); ++row) {
      if (slices.category[row] != SliceCategory::kOperator) continue;
      const bool in_window = row >= host.first && row < host.last;
      if (in_window || total[row] != 0) Add(row, in_window, self[row], total[row]);
    }
  }

  std::vector<Group> groups;
  int64_t device_ns = 0;

 private:
  void Add(uint32_t row, bool in_window, int64_t self_ns, int64_t total_ns) {
    const SliceTable& slices = trace_.slices;
    const Key key{slices.name[row], slices.input_shapes[row], slices.input_types[row]};
    const auto [found, is_new] = index_.try_emplace(key, static_cast<uint32_t>(groups.size()));
    if (is_new) groups.push_back({.key = key});
    Group& group = groups[found->second];
    group.device_self_ns += self_ns;
    const bool inside_itself = InsideItself(row, key);
    if (!inside_itself) group.device_total_ns += total_ns;
    if (!in_window) return;
    ++group.calls;
    group.host_self_ns += slices.self_ns[row];
    if (!inside_itself) group.host_total_ns += slices.dur_ns[row];
    if (group.longest == kNoRowValue || slices.dur_ns[row] > slices.dur_ns[group.longest]) group.longest = row;
  }

  // Only its parent matters: an operator that calls itself does so directly.
  bool InsideItself(uint32_t row, const Key& key) const {
    const SliceId parent = trace_.slices.parent[row];
    return parent.valid() && trace_.slices.name[parent.value] == key.name &&
           trace_.slices.input_shapes[parent.value] == key.shapes;
  }

  const Trace& trace_;
  std::unordered_map<Key, uint32_t, KeyHash> index_;
};

void AddRows(const TraceTimeline& timeline, TableOf<OperatorShapesRows>& table) {
  const Trace& trace = timeline.trace();
  ByShape by_shape(timeline);
  std::vector<Group>& groups = by_shape.groups;
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.device_self_ns != b.device_self_ns ? a.device_self_ns > b.device_self_ns : a.host_self_ns > b.host_self_ns;
  });
  table.Reserve(table.rows() + groups.size());
  for (const Group& group : groups) {
    auto row = table.Row(*timeline.of);
    row.Set("name", trace.Text(group.key.name)).Set("shapes", trace.Text(group.key.shapes));
    row.Set("types", trace.Text(group.key.types)).Set("calls", group.calls).Set("host_self_ns", group.host_self_ns);
    row.Set("host_total_ns", group.host_total_ns).Set("device_self_ns", group.device_self_ns);
    row.Set("device_total_ns", group.device_total_ns).Set("share", ShareOf(group.device_self_ns, by_shape.device_ns));
    row.Set("slice_id", timeline.of->Id(group.longest == kNoRowValue ? SliceId() : SliceId(group.longest)));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<OperatorShapesRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(operator_shapes) = AnalysisOf<OperatorShapesRows>({.run = Compute});

}  // namespace gapless::internal::operator_shapes_analysis
