// SPDX-License-Identifier: Apache-2.0
// Merges the GPU operations: orders them by time, leaves out those whose times cannot be, and gathers each column in
// that order.
//
// Left out and counted are
//   - operations without a time: start and duration are 0, which is how CUPTI writes that the device reported none;
//   - operations that overrun their stream: they would end at least 10 µs after the end of the operation that follows
//     them there. A stream runs one after the other; what overlaps on purpose (programmatic dependent launch) ends in
//     order. The kernels of a graph share a stream's number and may run side by side, so those of graphs, and those of
//     one launch, do not count. A stream on which a fifth of all operations overrun is none that runs in order.
// An operation that is left out leaves a launch without an operation, which lost_work.h counts.
#include <map>
#include <tuple>

#include "trace/merge_columns.h"

namespace gapless::internal::merging {
namespace {

constexpr int64_t kMinOverrunNs = 10'000;
constexpr size_t kInOrderPart = 5;

// The columns that say where an operation ran, and by which launch.
struct Places {
  explicit Places(const Shards& shards)
      : dur_ns(shards, &Shard::Impl::gpu_ops, &GpuOpStore::dur_ns),
        ts_ns(shards, &Shard::Impl::gpu_ops, &GpuOpStore::ts_ns),
        stream(shards, &Shard::Impl::gpu_ops, &GpuOpStore::stream),
        correlation(shards, &Shard::Impl::gpu_ops, &GpuOpStore::correlation),
        graph(shards, &Shard::Impl::gpu_ops, &GpuOpStore::graph_id),
        node(shards, &Shard::Impl::gpu_ops, &GpuOpStore::graph_node_id),
        copy(shards, &Shard::Impl::gpu_ops, &GpuOpStore::copy_kind),
        device(shards, &Shard::Impl::gpu_ops, &GpuOpStore::device),
        context(shards, &Shard::Impl::gpu_ops, &GpuOpStore::context) {}

  int64_t End(uint32_t source) const { return ts_ns[source] + dur_ns[source]; }
  bool IsOfGraph(uint32_t source) const { return graph[source] > 0 || node[source] > 0; }
  // Pages of managed memory move while kernels run, whatever stream they are listed on.
  bool IsPage(uint32_t source) const {
    return copy[source] == CopyKind::kHtoDManaged || copy[source] == CopyKind::kDtoHManaged;
  }
  bool OfOneLaunch(uint32_t a, uint32_t b) const {
    return correlation[a] != kAbsent && correlation[a] == correlation[b];
  }

  ColumnSegments<GpuOpStore, int64_t> dur_ns, ts_ns, stream, correlation, graph, node;
  ColumnSegments<GpuOpStore, CopyKind> copy;
  ColumnSegments<GpuOpStore, int32_t> device, context;
};

struct Stream {
  size_t operations = 0;
  uint32_t last = 0;                // the operation before, as RowOrder names it
  std::vector<uint32_t> overrun{};  // operations that end too late
};

// Returns the operations that overrun their stream, sorted by name of the row.
std::vector<uint32_t> Overrunning(const Places& places, const std::vector<uint32_t>& in_order) {
  std::map<std::tuple<int32_t, int32_t, int64_t>, Stream> streams;
  auto at = streams.end();
  for (const uint32_t op : in_order) {
    if (places.IsPage(op)) continue;
    const std::tuple key(places.device[op], places.context[op], places.stream[op]);
    if (at == streams.end() || at->first != key) at = streams.try_emplace(key).first;
    Stream& stream = at->second;
    const uint32_t before = stream.last;
    stream.last = op;
    if (stream.operations++ == 0 || places.End(before) - places.End(op) < kMinOverrunNs) continue;
    if (places.IsOfGraph(before) || places.IsOfGraph(op) || places.OfOneLaunch(before, op)) continue;
    stream.overrun.push_back(before);
  }
  std::vector<uint32_t> found;
  for (const auto& [key, stream] : streams)
    if (std::get<2>(key) != kAbsent && kInOrderPart * stream.overrun.size() < stream.operations)
      found.insert(found.end(), stream.overrun.begin(), stream.overrun.end());
  std::ranges::sort(found);
  return found;
}

}  // namespace

void Merger::OrderGpuOps() {
  gpu_op_order_ = OrderByTime(&Shard::Impl::gpu_ops, kGpuOpList, [](uint32_t) { return int64_t{0}; });
  std::vector<uint32_t>& rows = gpu_op_order_.rows;
  const Places places(shards_);
  std::erase_if(rows, [&](uint32_t source) { return HasNoTime(places.ts_ns[source], places.dur_ns[source]); });
  const std::vector<uint32_t> overrunning = Overrunning(places, rows);
  overrunning_ops_ = static_cast<int64_t>(overrunning.size());
  if (!overrunning.empty())
    std::erase_if(rows, [&](uint32_t source) { return std::ranges::binary_search(overrunning, source); });
}

void Merger::GatherGpuOps(Tasks& tasks) { AddGatherTasks(tasks, gpu_op_order_, &Shard::Impl::gpu_ops, trace_.gpu_ops); }

void Merger::FinishGpuOps() {
  const size_t rows = gpu_op_order_.rows.size();
  gpu_op_order_ = {};
  trace_.gpu_ops.launch = Column<SliceId>::OfSize(rows, SliceId());
  trace_.gpu_ops.op = Column<SliceId>::OfSize(rows, SliceId());
  trace_.gpu_ops.step = Column<StepId>::OfSize(rows, StepId());
}

}  // namespace gapless::internal::merging
