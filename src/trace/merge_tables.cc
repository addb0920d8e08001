// SPDX-License-Identifier: Apache-2.0
// Merges the tables but gpu_op. Rows of the smaller ones are collected in file order, sorted by time, and turned into
// columns; memory events and slices are ordered by time, and each column is gathered in that order. Collectives come
// last: their GPU operation and slice are found by place and time in the finished tables.
#include <map>
#include <tuple>

#include "trace/merge.h"
#include "trace/merge_columns.h"
#include "trace/order.h"

namespace gapless::internal::merging {
namespace {

// Finds rows by their time and a key. The rows of one instant are put into a map when that instant is first asked for,
// so that any number of them at once costs no square; instants must be asked for in ascending order to profit.
template <class Key>
class RowsAtInstant {
 public:
  // `key_of` returns the key of a row; of several rows with one key the first counts.
  template <class KeyOf>
  uint32_t Find(const Column<int64_t>& times_ns, int64_t ts_ns, const Key& key, KeyOf&& key_of) {
    if (ts_ns_ != ts_ns) {
      rows_.clear();
      ts_ns_ = ts_ns;
      auto at = std::lower_bound(times_ns.begin(), times_ns.end(), ts_ns);
      for (; at != times_ns.end() && *at == ts_ns; ++at) {
        const auto row = static_cast<uint32_t>(at - times_ns.begin());
        rows_.try_emplace(key_of(row), row);
      }
    }
    const auto found = rows_.find(key);
    return found == rows_.end() ? kNoRowValue : found->second;
  }

 private:
  int64_t ts_ns_ = kAbsent;
  std::map<Key, uint32_t> rows_{};
};

// Returns, for each collective, its GPU operation: on its device and stream, at its time and as long.
std::vector<GpuOpId> FindGpuOps(const GpuOpTable& ops, const std::vector<CollectiveRow>& rows) {
  RowsAtInstant<std::tuple<int32_t, int64_t, int64_t>> at_instant;
  const auto key_of = [&](uint32_t op) { return std::tuple(ops.device[op], ops.stream[op], ops.dur_ns[op]); };
  std::vector<GpuOpId> found(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const CollectiveRow& row = rows[i];
    if (row.device == kAbsent32) continue;
    const uint32_t op = at_instant.Find(ops.ts_ns, row.ts_ns, {row.device, row.stream, row.dur_ns}, key_of);
    if (op != kNoRowValue) found[i] = GpuOpId(op);
  }
  return found;
}

// Returns, for each collective of the host, its slice: of its name, on its thread, at its time.
std::vector<SliceId> FindSlices(const Trace& trace, const std::vector<CollectiveRow>& rows) {
  RowsAtInstant<std::tuple<StringId, int64_t, int64_t>> at_instant;
  const SliceTable& slices = trace.slices;
  const auto key_of = [&](uint32_t slice) {
    const uint32_t thread = slices.thread[slice].value;
    return std::tuple(slices.name[slice], trace.threads.pid[thread], trace.threads.tid[thread]);
  };
  std::vector<SliceId> found(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const CollectiveRow& row = rows[i];
    if (row.device != kAbsent32) continue;
    const uint32_t slice = at_instant.Find(slices.ts_ns, row.ts_ns, {row.name, row.pid, row.tid}, key_of);
    if (slice != kNoRowValue) found[i] = SliceId(slice);
  }
  return found;
}

}  // namespace

void Merger::MergeCollectives() {
  const Trace& trace = trace_;
  const auto rows = TakeRows<CollectiveRow>(
      shards_, kCollectiveList, &Shard::Impl::collectives,
      [](const CollectiveRow& row) {
        const bool on_host = row.device == kAbsent32;
        return std::tuple(row.ts_ns, !on_host, on_host && row.dur_ns != kAbsent ? -row.dur_ns : 0);
      },
      [this](CollectiveRow& row, uint32_t shard) { return Adjust(row, shard); });
  CollectiveTable& out = trace_.collectives;
  FillFrom(rows, out);
  out.gpu_op = FindGpuOps(trace.gpu_ops, rows);
  out.slice = FindSlices(trace, rows);
  std::map<StringId, int64_t> next;  // ordinal within each group
  out.sequence = ColumnFrom(rows, [&](const CollectiveRow& row) { return next[row.group]++; });
}

void Merger::MergeGpuAnnotations() {
  FillFrom(TakeRows<GpuAnnotationRow>(
               shards_, kGpuAnnotationList, &Shard::Impl::gpu_annotations,
               [](const GpuAnnotationRow& row) { return row.ts_ns; },
               [this](GpuAnnotationRow& row, uint32_t shard) { return Adjust(row, shard); }),
           trace_.gpu_annotations);
}

void Merger::MergeCounters() {
  FillFrom(TakeRows<CounterRow>(
               shards_, kCounterList, &Shard::Impl::counters, [](const CounterRow& row) { return row.ts_ns; },
               [this](CounterRow& row, uint32_t shard) { return Adjust(row, shard); }),
           trace_.counters);
}

void Merger::MergeSamples() {
  FillFrom(TakeRows<SampleRow>(
               shards_, kSampleList, &Shard::Impl::samples, [](const SampleRow& row) { return row.ts_ns; },
               [this](SampleRow& row, uint32_t shard) { return Adjust(row, shard); }),
           trace_.samples);
}

void Merger::MergeSystem() {
  const auto start = [](const auto& row) { return row.ts_ns; };
  FillFrom(TakeRows<OsCallRow>(shards_, kOsCallList, &Shard::Impl::os_calls, start,
                               [this](OsCallRow& row, uint32_t shard) { return Adjust(row, shard); }),
           trace_.os_calls);
  FillFrom(TakeRows<ThreadRunRow>(shards_, kThreadRunList, &Shard::Impl::thread_runs, start,
                                  [this](ThreadRunRow& row, uint32_t shard) { return Adjust(row, shard); }),
           trace_.thread_runs);
  FillFrom(TakeRows<PageFaultRow>(shards_, kPageFaultList, &Shard::Impl::page_faults, start,
                                  [this](PageFaultRow& row, uint32_t shard) { return Adjust(row, shard); }),
           trace_.page_faults);
}

// Arrow ends with the same id and kind: each end that finishes takes the latest start before it.
void Merger::MergeFlows() {
  auto ends = TakeRows<FlowEndRow>(
      shards_, kFlowList, &Shard::Impl::flows, [](const FlowEndRow&) { return 0; },
      [this](FlowEndRow& row, uint32_t) { return Rebase(row.ts_ns); });
  std::vector<uint32_t> order(ends.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  StableOrder(order, [&](uint32_t i) { return SortKey{ends[i].id, ends[i].ts_ns * 2 + (ends[i].start ? 0 : 1)}; });
  std::vector<FlowRow> flows;
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
  FillFrom(flows, trace_.flows);
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
      [this](StepRow& row, uint32_t shard) { return Adjust(row, shard); });
}

std::vector<CollectiveRow> Merger::TakeMessageCalls() {
  return TakeRows<CollectiveRow>(
      shards_, kMessageCallList, &Shard::Impl::message_calls, [](const CollectiveRow& row) { return row.ts_ns; },
      [this](CollectiveRow& row, uint32_t shard) { return Adjust(row, shard); });
}

// Events of one time keep their order in the file: a release comes before the allocation that takes its place.
void Merger::OrderMemoryEvents() {
  memory_order_ = OrderByTime(&Shard::Impl::memory_events, kMemoryList, [](uint32_t) { return int64_t{0}; });
}

void Merger::GatherMemoryEvents(Tasks& tasks) {
  AddGatherTasks(tasks, memory_order_, &Shard::Impl::memory_events, trace_.memory_events);
}

// The slices that events lie in are found when slices are nested.
void Merger::FinishMemoryEvents() {
  trace_.memory_events.slice = Column<SliceId>::OfSize(memory_order_.rows.size(), SliceId());
  memory_order_ = {};
}

// Longer slices come first among equal starts, so that parents come before their children.
void Merger::OrderSlices() {
  const ColumnSegments<SliceStore, int64_t> lengths(shards_, &Shard::Impl::slices, &SliceStore::dur_ns);
  slice_order_ =
      OrderByTime(&Shard::Impl::slices, kSliceList, [&](uint32_t source) -> int64_t { return -lengths[source]; });
}

void Merger::GatherSlices(Tasks& tasks) { AddGatherTasks(tasks, slice_order_, &Shard::Impl::slices, trace_.slices); }

// The columns that are derived later start out absent.
void Merger::FinishSlices() {
  SliceTable& out = trace_.slices;
  const size_t rows = slice_order_.rows.size();
  slice_order_ = {};
  out.self_ns = Column<int64_t>::OfSize(rows);
  out.depth = Column<uint16_t>::OfSize(rows);
  out.parent = Column<SliceId>::OfSize(rows, SliceId());
  out.step = Column<StepId>::OfSize(rows, StepId());
}

}  // namespace gapless::internal::merging
