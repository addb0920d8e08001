// SPDX-License-Identifier: Apache-2.0
// Merges the smaller tables: rows are collected in file order, sorted by time, and turned into columns.
// Collectives come last: their GPU operation and slice are found by place and time in the finished tables.
#include <map>
#include <tuple>

#include "trace/merge.h"
#include "trace/order.h"

namespace gapless::internal::merging {
namespace {

// Returns the row of `ops` on this device and stream at this time, or kNoRow.
GpuOpId FindGpuOp(const GpuOpTable& ops, const CollectiveRow& row) {
  auto at = std::lower_bound(ops.ts_ns.begin(), ops.ts_ns.end(), row.ts_ns);
  for (; at != ops.ts_ns.end() && *at == row.ts_ns; ++at) {
    const auto i = static_cast<size_t>(at - ops.ts_ns.begin());
    if (ops.device[i] == row.device && ops.stream[i] == row.stream && ops.dur_ns[i] == row.dur_ns) return GpuOpId(i);
  }
  return {};
}

// Returns the slice of this name on this thread at this time; else an invalid id.
SliceId FindSlice(const Trace& trace, const CollectiveRow& row) {
  const SliceTable& slices = trace.slices;
  auto at = std::lower_bound(slices.ts_ns.begin(), slices.ts_ns.end(), row.ts_ns);
  for (; at != slices.ts_ns.end() && *at == row.ts_ns; ++at) {
    const auto i = static_cast<size_t>(at - slices.ts_ns.begin());
    const uint32_t thread = slices.thread[i].value;
    if (slices.name[i] == row.name && trace.threads.pid[thread] == row.pid && trace.threads.tid[thread] == row.tid)
      return SliceId(i);
  }
  return {};
}

}  // namespace

void Merger::MergeCollectives() {
  const Trace& trace = trace_;
  const auto rows = TakeRows<CollectiveRow>(
      shards_, kCollectiveList, &Shard::Impl::collectives,
      [](const CollectiveRow& row) {
        const bool on_host = row.device == kAbsent32;
        return std::tuple(row.ts_ns, !on_host, on_host ? -row.dur_ns : 0);
      },
      [this](CollectiveRow& row, uint32_t shard) {
        row.name = Text(row.name, shard), row.kind = Text(row.kind, shard), row.group = Text(row.group, shard);
        row.dtype = Text(row.dtype, shard), row.group_ranks = Text(row.group_ranks, shard);
        return Rebase(row.ts_ns);
      });
  CollectiveTable& out = trace_.collectives;
  const auto get = [&](auto member) {
    return ColumnFrom(rows, [member](const CollectiveRow& row) { return row.*member; });
  };
  out.name = get(&CollectiveRow::name), out.kind = get(&CollectiveRow::kind), out.group = get(&CollectiveRow::group);
  out.dtype = get(&CollectiveRow::dtype), out.device = get(&CollectiveRow::device),
  out.stream = get(&CollectiveRow::stream);
  out.group_size = get(&CollectiveRow::group_size), out.in_elements = get(&CollectiveRow::in_elements);
  out.out_elements = get(&CollectiveRow::out_elements), out.bytes = get(&CollectiveRow::bytes);
  out.ts_ns = get(&CollectiveRow::ts_ns), out.dur_ns = get(&CollectiveRow::dur_ns);
  out.seq = get(&CollectiveRow::seq), out.src_rank = get(&CollectiveRow::src_rank);
  out.dst_rank = get(&CollectiveRow::dst_rank), out.group_ranks = get(&CollectiveRow::group_ranks);
  out.gpu_op = ColumnFrom(rows, [&](const CollectiveRow& row) {
    return row.device == kAbsent32 ? GpuOpId() : FindGpuOp(trace.gpu_ops, row);
  });
  out.slice = ColumnFrom(
      rows, [&](const CollectiveRow& row) { return row.device == kAbsent32 ? FindSlice(trace, row) : SliceId(); });
  std::map<StringId, int64_t> next;  // ordinal within each group
  out.sequence = ColumnFrom(rows, [&](const CollectiveRow& row) { return next[row.group]++; });
}

void Merger::MergeGpuAnnotations() {
  const auto rows = TakeRows<GpuAnnotationRow>(
      shards_, kGpuAnnotationList, &Shard::Impl::gpu_annotations, [](const GpuAnnotationRow& row) { return row.ts_ns; },
      [this](GpuAnnotationRow& row, uint32_t shard) {
        row.name = Text(row.name, shard);
        return Rebase(row.ts_ns);
      });
  const auto get = [&](auto member) {
    return ColumnFrom(rows, [member](const GpuAnnotationRow& row) { return row.*member; });
  };
  GpuAnnotationTable& out = trace_.gpu_annotations;
  out.name = get(&GpuAnnotationRow::name), out.device = get(&GpuAnnotationRow::device),
  out.stream = get(&GpuAnnotationRow::stream);
  out.ts_ns = get(&GpuAnnotationRow::ts_ns), out.dur_ns = get(&GpuAnnotationRow::dur_ns);
}

void Merger::MergeCounters() {
  const auto rows = TakeRows<CounterRow>(
      shards_, kCounterList, &Shard::Impl::counters, [](const CounterRow& row) { return row.ts_ns; },
      [this](CounterRow& row, uint32_t shard) {
        row.name = Text(row.name, shard), row.unit = Text(row.unit, shard);
        return Rebase(row.ts_ns);
      });
  const auto get = [&](auto member) {
    return ColumnFrom(rows, [member](const CounterRow& row) { return row.*member; });
  };
  CounterTable& out = trace_.counters;
  out.name = get(&CounterRow::name), out.device = get(&CounterRow::device), out.ts_ns = get(&CounterRow::ts_ns);
  out.value = get(&CounterRow::value), out.unit = get(&CounterRow::unit);
}

// Arrow ends with the same id and kind: each end that finishes takes the latest start before it.
void Merger::MergeFlows() {
  auto ends = TakeRows<FlowEndRow>(
      shards_, kFlowList, &Shard::Impl::flows, [](const FlowEndRow&) { return 0; },
      [this](FlowEndRow& row, uint32_t) { return Rebase(row.ts_ns); });
  std::vector<uint32_t> order(ends.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  StableOrder(order, [&](uint32_t i) { return SortKey{ends[i].id, ends[i].ts_ns * 2 + (ends[i].start ? 0 : 1)}; });
  struct Flow {
    FlowKind kind;
    int64_t from_ts, from_tid, to_ts, to_tid;
  };
  std::vector<Flow> flows;
  flows.reserve(ends.size() / 2);
  int64_t unmatched = 0;
  constexpr size_t kKinds = 3;
  for (size_t i = 0; i < order.size();) {
    const int64_t id = ends[order[i]].id;
    const FlowEndRow* open[kKinds] = {};
    bool used[kKinds] = {true, true, true};
    for (; i < order.size() && ends[order[i]].id == id; ++i) {
      const FlowEndRow& end = ends[order[i]];
      const auto kind = static_cast<size_t>(end.kind);
      if (end.start) {
        unmatched += !used[kind];
        open[kind] = &end, used[kind] = false;
      } else if (open[kind] == nullptr) {
        ++unmatched;
      } else {
        flows.push_back({end.kind, open[kind]->ts_ns, open[kind]->tid, end.ts_ns, end.tid});
        used[kind] = true;
      }
    }
    for (const bool was_used : used) unmatched += !was_used;
  }
  std::vector<FlowEndRow>().swap(ends);
  const auto get = [&](auto member) { return ColumnFrom(flows, [member](const Flow& flow) { return flow.*member; }); };
  FlowTable& out = trace_.flows;
  out.kind = get(&Flow::kind), out.from_ts_ns = get(&Flow::from_ts), out.from_tid = get(&Flow::from_tid);
  out.to_ts_ns = get(&Flow::to_ts), out.to_tid = get(&Flow::to_tid);
  unmatched_flow_ends_ = unmatched;
}

std::vector<SyncRow> Merger::TakeSyncs() {
  return TakeRows<SyncRow>(
      shards_, kSyncList, &Shard::Impl::syncs, [](const SyncRow& row) { return row.ts_ns; },
      [this](SyncRow& row, uint32_t) { return Rebase(row.ts_ns); });
}

std::vector<StepRow> Merger::TakeSteps() {
  return TakeRows<StepRow>(
      shards_, kStepList, &Shard::Impl::steps, [](const StepRow& row) { return row.ts_ns; },
      [this](StepRow& row, uint32_t shard) {
        row.name = Text(row.name, shard);
        return Rebase(row.ts_ns);
      });
}

}  // namespace gapless::internal::merging
