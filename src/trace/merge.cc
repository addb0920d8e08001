// SPDX-License-Identifier: Apache-2.0
// TraceBuilder::Finish: from the shards of several threads to one sorted trace.
//
// 1. Texts of all shards become one pool, in alphabetical order, so that ids do not depend on who read what.
// 2. A row is named by (segment, place in segment), with the segments of all shards numbered through. The rows in file order
//    are ordered by time.
// 3. Each column is gathered in that order into its final place and its segments are freed at once. So the peak is the columns
//    plus the order plus one column per thread, never two copies of the table.
// 4. What follows from the rows is derived (derive.h).
#include <algorithm>
#include <functional>

#include "base/thread_pool.h"
#include "trace/builder_impl.h"
#include "trace/derive.h"
#include "trace/order.h"

namespace gapless {
namespace {

using Shard = TraceBuilder::Shard;
using Shards = std::vector<std::unique_ptr<Shard>>;

// A run of rows of one list of one shard, in file order.
struct Piece {
  uint32_t shard, begin, end;
};

std::vector<Piece> PiecesInFileOrder(const Shards& shards, ListIndex list) {
  struct Ordered {
    uint64_t order;
    Piece piece;
  };
  std::vector<Ordered> found;
  for (uint32_t s = 0; s < shards.size(); ++s) {
    const auto& chunks = shards[s]->impl->chunks;
    for (size_t c = 0; c < chunks.size(); ++c) {
      const uint32_t begin = chunks[c].rows[list];
      const uint32_t end = c + 1 < chunks.size() ? chunks[c + 1].rows[list] : shards[s]->impl->Sizes()[list];
      if (begin < end) found.push_back({chunks[c].order, {s, begin, end}});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Ordered& a, const Ordered& b) { return a.order < b.order; });
  std::vector<Piece> pieces;
  for (const Ordered& o : found) pieces.push_back(o.piece);
  return pieces;
}

// All rows of a small list in file order, then by time. Frees the shards' copies.
template <class Row, class RowTime>
std::vector<Row> TakeRows(const Shards& shards, ListIndex list, RowList<Row> Shard::Impl::* member, RowTime time,
                          const std::function<void(Row&, uint32_t shard)>& adjust) {
  std::vector<Row> rows;
  size_t count = 0;
  for (const auto& shard : shards) count += (shard->impl.get()->*member).size();
  rows.reserve(count);
  for (const Piece& piece : PiecesInFileOrder(shards, list))
    for (uint32_t row = piece.begin; row < piece.end; ++row) {
      rows.push_back((shards[piece.shard]->impl.get()->*member)[row]);
      adjust(rows.back(), piece.shard);
    }
  for (const auto& shard : shards) (shard->impl.get()->*member).Free();
  const auto earlier = [&](const Row& a, const Row& b) { return time(a) < time(b); };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
  return rows;
}

template <class Row, class Get>
auto ColumnFrom(const std::vector<Row>& rows, Get get) {
  using T = std::decay_t<decltype(get(rows.front()))>;
  auto column = Column<T>::OfSize(rows.size());
  T* out = column.mutable_data();
  for (size_t i = 0; i < rows.size(); ++i) out[i] = get(rows[i]);
  return column;
}

class Merger {
 public:
  Merger(Shards& shards, Trace& trace, ThreadPool* pool) : shards_(shards), trace_(trace), pool_(pool) {}

  void MergeTexts();
  void MergeThreads(const TraceBuilder::Impl& impl);
  void FindOrigin();
  void MergeSlices();
  void MergeGpuOps();
  void MergeSmallTables();
  int64_t MergeFlows();  // returns ends without a partner
  std::vector<SyncRow> TakeSyncs();
  std::vector<StepRow> TakeSteps();

 private:
  StringId Text(StringId id, uint32_t shard) const { return text_ids_[shard][static_cast<uint32_t>(id)]; }
  void Each(std::vector<std::function<void()>>& tasks);
  void NumberSegments();
  template <class T>
  std::function<void()> GatherTask(Segments<T> SliceStore::* from, Column<T>& to, std::function<T(T, uint32_t)> map = nullptr);

  Shards& shards_;
  Trace& trace_;
  ThreadPool* pool_;
  std::vector<std::vector<StringId>> text_ids_;   // [shard][local id]
  std::vector<std::vector<ThreadId>> thread_ids_;  // [shard][local index]
  int64_t origin_ = 0;
  // Slices: segments numbered through all shards.
  std::vector<uint32_t> first_segment_;       // of each shard
  std::vector<uint32_t> shard_of_segment_;
  std::vector<uint32_t> order_;               // sources, (segment << kSegmentBits | place), in final order
};

void Merger::Each(std::vector<std::function<void()>>& tasks) {
  if (pool_ == nullptr) {
    for (auto& task : tasks) task();
    return;
  }
  pool_->ParallelFor(tasks.size(), [&](size_t i) { tasks[i](); });
}

void Merger::MergeTexts() {
  struct Entry {
    std::string_view text;
    uint32_t shard, id;
  };
  auto pools = std::make_shared<std::vector<StringPool>>();
  std::vector<Entry> entries;
  text_ids_.resize(shards_.size());
  for (uint32_t s = 0; s < shards_.size(); ++s) {
    const StringPool& pool = shards_[s]->strings;
    text_ids_[s].resize(pool.size());
    for (uint32_t id = 1; id < pool.size(); ++id) entries.push_back({pool[StringId{id}], s, id});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
  std::vector<std::string_view> views(1);
  for (const Entry& entry : entries) {
    if (entry.text != views.back()) views.push_back(entry.text);
    text_ids_[entry.shard][entry.id] = StringId{static_cast<uint32_t>(views.size() - 1)};
  }
  for (auto& shard : shards_) pools->push_back(std::move(shard->strings));
  trace_.strings = StringPool::FromViews(std::move(views), std::move(pools));
}

void Merger::MergeThreads(const TraceBuilder::Impl& impl) {
  std::vector<ThreadKey> keys;
  for (const auto& shard : shards_) keys.insert(keys.end(), shard->impl->threads.begin(), shard->impl->threads.end());
  const auto less = [](const ThreadKey& a, const ThreadKey& b) { return a.pid != b.pid ? a.pid < b.pid : a.tid < b.tid; };
  std::sort(keys.begin(), keys.end(), less);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const auto& shard : shards_) {
    auto& ids = thread_ids_.emplace_back();
    for (const ThreadKey& key : shard->impl->threads)
      ids.emplace_back(static_cast<uint64_t>(std::lower_bound(keys.begin(), keys.end(), key, less) - keys.begin()));
  }
  trace_.threads.pid = ColumnFrom(keys, [](const ThreadKey& key) { return key.pid; });
  trace_.threads.tid = ColumnFrom(keys, [](const ThreadKey& key) { return key.tid; });
  trace_.threads.name = ColumnFrom(keys, [&](const ThreadKey& key) {
    const auto it = impl.thread_names.find({key.pid, key.tid});
    return it == impl.thread_names.end() ? StringId::kNone : trace_.strings.Intern(it->second);
  });
  trace_.threads.process_name = ColumnFrom(keys, [&](const ThreadKey& key) {
    const auto it = impl.process_names.find(key.pid);
    return it == impl.process_names.end() ? StringId::kNone : trace_.strings.Intern(it->second);
  });
}

// The zero is the first slice or GPU operation; only a trace without either counts from its other rows.
void Merger::FindOrigin() {
  int64_t first = INT64_MAX, last = INT64_MIN, other = INT64_MAX;
  for (const auto& shard : shards_) {
    const Shard::Impl& rows = *shard->impl;
    for (size_t i = 0; i < rows.slices.rows; ++i) {
      first = std::min(first, rows.slices.ts_ns[i]);
      last = std::max(last, rows.slices.ts_ns[i] + rows.slices.dur_ns[i]);
    }
    for (size_t i = 0; i < rows.gpu_ops.size(); ++i) {
      first = std::min(first, rows.gpu_ops[i].ts_ns);
      last = std::max(last, rows.gpu_ops[i].ts_ns + rows.gpu_ops[i].dur_ns);
    }
    for (size_t i = 0; i < rows.counters.size(); ++i) other = std::min(other, rows.counters[i].ts_ns);
    for (size_t i = 0; i < rows.memory_events.size(); ++i) other = std::min(other, rows.memory_events[i].event.ts_ns);
  }
  if (first == INT64_MAX) first = last = other == INT64_MAX ? 0 : other;
  origin_ = first;
  trace_.info.origin_ns = first;
  trace_.info.dur_ns = last - first;
}

void Merger::NumberSegments() {
  uint32_t next = 0;
  for (uint32_t s = 0; s < shards_.size(); ++s) {
    first_segment_.push_back(next);
    next += static_cast<uint32_t>(shards_[s]->impl->slices.name.segments());
    shard_of_segment_.resize(next, s);
  }
}

template <class T>
std::function<void()> Merger::GatherTask(Segments<T> SliceStore::* from, Column<T>& to, std::function<T(T, uint32_t)> map) {
  return [this, from, &to, map = std::move(map)] {
    std::vector<const T*> segments;
    for (const auto& shard : shards_)
      for (size_t i = 0; i < (shard->impl->slices.*from).segments(); ++i) segments.push_back((shard->impl->slices.*from).Data(i));
    to = Column<T>::OfSize(order_.size());
    T* out = to.mutable_data();
    if (map == nullptr) {
      for (const uint32_t source : order_) *out++ = segments[source >> kSegmentBits][source & kSegmentMask];
    } else {
      for (const uint32_t source : order_) {
        const uint32_t segment = source >> kSegmentBits;
        *out++ = map(segments[segment][source & kSegmentMask], shard_of_segment_[segment]);
      }
    }
    for (const auto& shard : shards_) (shard->impl->slices.*from).Free();
  };
}

void Merger::MergeSlices() {
  NumberSegments();
  for (const Piece& piece : PiecesInFileOrder(shards_, kSliceList))
    for (uint32_t row = piece.begin; row < piece.end; ++row) order_.push_back((first_segment_[piece.shard] << kSegmentBits) + row);
  {
    std::vector<const int64_t*> starts, lengths;
    for (const auto& shard : shards_)
      for (size_t i = 0; i < shard->impl->slices.ts_ns.segments(); ++i) {
        starts.push_back(shard->impl->slices.ts_ns.Data(i));
        lengths.push_back(shard->impl->slices.dur_ns.Data(i));
      }
    StableOrder(order_, [&](uint32_t source) {
      const size_t segment = source >> kSegmentBits, at = source & kSegmentMask;
      return SortKey{starts[segment][at], -lengths[segment][at]};
    });
  }
  SliceTable& out = trace_.slices;
  const auto text = [this](StringId id, uint32_t shard) { return Text(id, shard); };
  Column<uint32_t> threads;
  std::vector<std::function<void()>> tasks;
  tasks.push_back(GatherTask<int64_t>(&SliceStore::ts_ns, out.ts_ns, [this](int64_t ts, uint32_t) { return ts - origin_; }));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::dur_ns, out.dur_ns));
  tasks.push_back(GatherTask<StringId>(&SliceStore::name, out.name, text));
  tasks.push_back(GatherTask<SliceCategory>(&SliceStore::category, out.category));
  tasks.push_back(GatherTask<ApiKind>(&SliceStore::api, out.api));
  tasks.push_back(GatherTask<uint32_t>(&SliceStore::thread, threads,
                                       [this](uint32_t local, uint32_t shard) { return thread_ids_[shard][local].value; }));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::external_id, out.external_id));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::correlation, out.correlation));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::sequence, out.sequence));
  tasks.push_back(GatherTask<StringId>(&SliceStore::input_shapes, out.input_shapes, text));
  tasks.push_back(GatherTask<StringId>(&SliceStore::input_types, out.input_types, text));
  tasks.push_back(GatherTask<StringId>(&SliceStore::source_line, out.source_line, text));
  Each(tasks);
  const size_t rows = order_.size();
  order_ = {};
  out.thread = Column<ThreadId>::View({reinterpret_cast<const ThreadId*>(threads.data()), rows},
                                      std::make_shared<Column<uint32_t>>(threads));
  out.self_ns = Column<int64_t>::OfSize(rows);
  out.depth = Column<uint16_t>::OfSize(rows);
  out.parent = Column<SliceId>::OfSize(rows);
  out.step = Column<StepId>::OfSize(rows);
  std::fill_n(out.parent.mutable_data(), rows, SliceId());
  std::fill_n(out.step.mutable_data(), rows, StepId());
}

void Merger::MergeGpuOps() {
  const auto rows = TakeRows<GpuOpRow>(shards_, kGpuOpList, &Shard::Impl::gpu_ops, [](const GpuOpRow& row) { return row.ts_ns; },
                                       [this](GpuOpRow& row, uint32_t shard) { row.name = Text(row.name, shard), row.ts_ns -= origin_; });
  GpuOpTable& out = trace_.gpu_ops;
  std::vector<std::function<void()>> tasks;
  const auto add = [&](auto& column, auto member) {
    tasks.push_back([&rows, &column, member] { column = ColumnFrom(rows, [member](const GpuOpRow& row) { return row.*member; }); });
  };
  add(out.name, &GpuOpRow::name), add(out.kind, &GpuOpRow::kind), add(out.op_class, &GpuOpRow::op_class);
  add(out.matrix_unit, &GpuOpRow::matrix_unit), add(out.copy_kind, &GpuOpRow::copy_kind), add(out.device, &GpuOpRow::device);
  add(out.context, &GpuOpRow::context), add(out.stream, &GpuOpRow::stream), add(out.ts_ns, &GpuOpRow::ts_ns);
  add(out.dur_ns, &GpuOpRow::dur_ns), add(out.correlation, &GpuOpRow::correlation), add(out.external_id, &GpuOpRow::external_id);
  add(out.graph_id, &GpuOpRow::graph_id), add(out.bytes, &GpuOpRow::bytes), add(out.bandwidth_gbps, &GpuOpRow::bandwidth_gbps);
  add(out.grid_x, &GpuOpRow::grid_x), add(out.grid_y, &GpuOpRow::grid_y), add(out.grid_z, &GpuOpRow::grid_z);
  add(out.block_x, &GpuOpRow::block_x), add(out.block_y, &GpuOpRow::block_y), add(out.block_z, &GpuOpRow::block_z);
  add(out.registers, &GpuOpRow::registers), add(out.shared_bytes, &GpuOpRow::shared_bytes);
  add(out.occupancy_pct, &GpuOpRow::occupancy_pct), add(out.blocks_per_sm, &GpuOpRow::blocks_per_sm);
  add(out.warps_per_sm, &GpuOpRow::warps_per_sm);
  Each(tasks);
  out.launch = Column<SliceId>::OfSize(rows.size()), out.op = Column<SliceId>::OfSize(rows.size());
  out.step = Column<StepId>::OfSize(rows.size());
  std::fill_n(out.launch.mutable_data(), rows.size(), SliceId());
  std::fill_n(out.op.mutable_data(), rows.size(), SliceId());
  std::fill_n(out.step.mutable_data(), rows.size(), StepId());
}

// The row of `ops` on this device and stream at this time; kNoRow if there is none.
GpuOpId FindGpuOp(const GpuOpTable& ops, const CollectiveRow& row) {
  const auto* at = std::lower_bound(ops.ts_ns.begin(), ops.ts_ns.end(), row.ts_ns);
  for (; at != ops.ts_ns.end() && *at == row.ts_ns; ++at) {
    const auto i = static_cast<size_t>(at - ops.ts_ns.begin());
    if (ops.device[i] == row.device && ops.stream[i] == row.stream && ops.dur_ns[i] == row.dur_ns) return GpuOpId(i);
  }
  return {};
}

SliceId FindSlice(const Trace& trace, const CollectiveRow& row) {
  const SliceTable& slices = trace.slices;
  const auto* at = std::lower_bound(slices.ts_ns.begin(), slices.ts_ns.end(), row.ts_ns);
  for (; at != slices.ts_ns.end() && *at == row.ts_ns; ++at) {
    const auto i = static_cast<size_t>(at - slices.ts_ns.begin());
    const uint32_t thread = slices.thread[i].value;
    if (slices.name[i] == row.name && trace.threads.pid[thread] == row.pid && trace.threads.tid[thread] == row.tid) return SliceId(i);
  }
  return {};
}

void MergeCollectives(Trace& trace, const std::vector<CollectiveRow>& rows) {
  CollectiveTable& out = trace.collectives;
  const auto get = [&](auto member) { return ColumnFrom(rows, [member](const CollectiveRow& row) { return row.*member; }); };
  out.name = get(&CollectiveRow::name), out.kind = get(&CollectiveRow::kind), out.group = get(&CollectiveRow::group);
  out.dtype = get(&CollectiveRow::dtype), out.device = get(&CollectiveRow::device), out.stream = get(&CollectiveRow::stream);
  out.group_size = get(&CollectiveRow::group_size), out.in_elements = get(&CollectiveRow::in_elements);
  out.out_elements = get(&CollectiveRow::out_elements), out.bytes = get(&CollectiveRow::bytes);
  out.ts_ns = get(&CollectiveRow::ts_ns), out.dur_ns = get(&CollectiveRow::dur_ns);
  out.gpu_op = ColumnFrom(rows, [&](const CollectiveRow& row) {
    return row.device == kAbsent32 ? GpuOpId() : FindGpuOp(trace.gpu_ops, row);
  });
  out.slice = ColumnFrom(rows, [&](const CollectiveRow& row) {
    return row.device == kAbsent32 ? FindSlice(trace, row) : SliceId();
  });
  std::map<StringId, int64_t> next;  // ordinal within each group
  out.sequence = ColumnFrom(rows, [&](const CollectiveRow& row) { return next[row.group]++; });
}

void Merger::MergeSmallTables() {
  {
    const auto rows = TakeRows<GpuAnnotationRow>(
        shards_, kGpuAnnotationList, &Shard::Impl::gpu_annotations, [](const GpuAnnotationRow& row) { return row.ts_ns; },
        [this](GpuAnnotationRow& row, uint32_t shard) { row.name = Text(row.name, shard), row.ts_ns -= origin_; });
    const auto get = [&](auto member) { return ColumnFrom(rows, [member](const GpuAnnotationRow& row) { return row.*member; }); };
    GpuAnnotationTable& out = trace_.gpu_annotations;
    out.name = get(&GpuAnnotationRow::name), out.device = get(&GpuAnnotationRow::device), out.stream = get(&GpuAnnotationRow::stream);
    out.ts_ns = get(&GpuAnnotationRow::ts_ns), out.dur_ns = get(&GpuAnnotationRow::dur_ns);
  }
  MergeCollectives(trace_, TakeRows<CollectiveRow>(
      shards_, kCollectiveList, &Shard::Impl::collectives, [](const CollectiveRow& row) { return row.ts_ns; },
      [this](CollectiveRow& row, uint32_t shard) {
        row.name = Text(row.name, shard), row.kind = Text(row.kind, shard), row.group = Text(row.group, shard);
        row.dtype = Text(row.dtype, shard), row.ts_ns -= origin_;
      }));
  {
    const auto rows = TakeRows<CounterRow>(
        shards_, kCounterList, &Shard::Impl::counters, [](const CounterRow& row) { return row.ts_ns; },
        [this](CounterRow& row, uint32_t shard) {
          row.name = Text(row.name, shard), row.unit = Text(row.unit, shard), row.ts_ns -= origin_;
        });
    const auto get = [&](auto member) { return ColumnFrom(rows, [member](const CounterRow& row) { return row.*member; }); };
    CounterTable& out = trace_.counters;
    out.name = get(&CounterRow::name), out.device = get(&CounterRow::device), out.ts_ns = get(&CounterRow::ts_ns);
    out.value = get(&CounterRow::value), out.unit = get(&CounterRow::unit);
  }
  const auto rows = TakeRows<MemoryRow>(
      shards_, kMemoryList, &Shard::Impl::memory_events, [](const MemoryRow& row) { return row.event.ts_ns; },
      [this](MemoryRow& row, uint32_t shard) { row.event.ts_ns -= origin_, row.thread = thread_ids_[shard][row.thread].value; });
  const auto get = [&](auto member) { return ColumnFrom(rows, [member](const MemoryRow& row) { return row.event.*member; }); };
  MemoryEventTable& out = trace_.memory_events;
  out.device = get(&MemoryEventRow::device), out.device_type = get(&MemoryEventRow::device_type);
  out.action = get(&MemoryEventRow::action), out.ts_ns = get(&MemoryEventRow::ts_ns), out.bytes = get(&MemoryEventRow::bytes);
  out.address = get(&MemoryEventRow::address), out.total_allocated = get(&MemoryEventRow::total_allocated);
  out.total_reserved = get(&MemoryEventRow::total_reserved);
  out.thread = ColumnFrom(rows, [](const MemoryRow& row) { return ThreadId(row.thread); });
  out.slice = ColumnFrom(rows, [](const MemoryRow&) { return SliceId(); });
}

// Arrow ends with the same id and kind: each end that finishes takes the latest start before it.
int64_t Merger::MergeFlows() {
  auto ends = TakeRows<FlowEndRow>(shards_, kFlowList, &Shard::Impl::flows, [](const FlowEndRow&) { return 0; },
                                   [this](FlowEndRow& row, uint32_t) { row.ts_ns -= origin_; });
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
  return unmatched;
}

std::vector<SyncRow> Merger::TakeSyncs() {
  return TakeRows<SyncRow>(shards_, kSyncList, &Shard::Impl::syncs, [](const SyncRow& row) { return row.ts_ns; },
                           [this](SyncRow& row, uint32_t) { row.ts_ns -= origin_; });
}

std::vector<StepRow> Merger::TakeSteps() {
  return TakeRows<StepRow>(shards_, kStepList, &Shard::Impl::steps, [](const StepRow& row) { return row.ts_ns; },
                           [this](StepRow& row, uint32_t shard) { row.name = Text(row.name, shard), row.ts_ns -= origin_; });
}

void FillDevices(Trace& trace, const std::vector<DeviceRow>& rows) {
  DeviceTable& out = trace.devices;
  const auto get = [&](auto member) { return ColumnFrom(rows, [member](const DeviceRow& row) { return row.*member; }); };
  const auto text = [&](auto member) {
    return ColumnFrom(rows, [&trace, member](const DeviceRow& row) { return trace.strings.Intern(row.*member); });
  };
  out.device = get(&DeviceRow::device), out.vendor = get(&DeviceRow::vendor), out.name = text(&DeviceRow::name);
  out.arch = text(&DeviceRow::arch), out.uuid = text(&DeviceRow::uuid), out.pcie_bus_id = text(&DeviceRow::pcie_bus_id);
  out.compute_major = get(&DeviceRow::compute_major), out.compute_minor = get(&DeviceRow::compute_minor);
  out.sm_count = get(&DeviceRow::sm_count), out.memory_bytes = get(&DeviceRow::memory_bytes);
  out.max_threads_per_sm = get(&DeviceRow::max_threads_per_sm), out.clock_khz = get(&DeviceRow::clock_khz);
}

// The described devices, and those only seen in gpu_op, by number, each once.
void MergeDevices(Trace& trace, std::vector<DeviceRow> rows) {
  std::vector<int32_t> seen(trace.gpu_ops.device.begin(), trace.gpu_ops.device.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const int32_t device : seen) rows.push_back({.device = device});
  std::stable_sort(rows.begin(), rows.end(), [](const DeviceRow& a, const DeviceRow& b) { return a.device < b.device; });
  rows.erase(std::unique(rows.begin(), rows.end(), [](const DeviceRow& a, const DeviceRow& b) { return a.device == b.device; }), rows.end());
  FillDevices(trace, rows);
}

void FillStats(Trace& trace, const std::map<std::string, StatEntry, std::less<>>& stats) {
  std::vector<std::pair<std::string, StatEntry>> rows(stats.begin(), stats.end());
  ReadStatsTable& out = trace.read_stats;
  out.kind = ColumnFrom(rows, [&](const auto& row) { return trace.strings.Intern(row.first); });
  out.severity = ColumnFrom(rows, [](const auto& row) { return row.second.severity; });
  out.count = ColumnFrom(rows, [](const auto& row) { return row.second.count; });
  out.first_offset = ColumnFrom(rows, [](const auto& row) { return row.second.first_offset; });
  out.text = ColumnFrom(rows, [&](const auto& row) { return trace.strings.Intern(row.second.text); });
}

void FindMainProcess(Trace& trace) {
  std::vector<int64_t> slices_of(trace.threads.size());
  for (const ThreadId thread : trace.slices.thread) ++slices_of[thread.value];
  std::map<int64_t, int64_t> of_process;
  for (size_t i = 0; i < slices_of.size(); ++i) of_process[trace.threads.pid[i]] += slices_of[i];
  int64_t most = 0;
  for (const auto& [pid, count] : of_process)
    if (count > most && pid >= 0) most = count, trace.info.pid = pid;
}

}  // namespace

Trace TraceBuilder::Finish(ThreadPool* pool) && {
  Trace trace;
  trace.info = std::move(info_);
  if (impl_->shards.empty()) NewShard();
  Merger merger(impl_->shards, trace, pool);
  merger.MergeTexts();
  merger.MergeThreads(*impl_);
  merger.FindOrigin();
  merger.MergeSlices();
  merger.MergeGpuOps();
  merger.MergeSmallTables();
  DeriveCounts counts;
  counts.unmatched_flow_ends = merger.MergeFlows();
  NestSlices(trace, counts);
  LinkLaunches(trace, counts);
  FindSyncs(trace, merger.TakeSyncs());
  const int64_t overlapping_steps = SetSteps(trace, merger.TakeSteps());
  FindMainProcess(trace);
  MergeDevices(trace, std::move(impl_->devices));
  std::vector<std::pair<std::string, std::string>> environment(impl_->environment.begin(), impl_->environment.end());
  trace.environment.key = ColumnFrom(environment, [&](const auto& entry) { return trace.strings.Intern(entry.first); });
  trace.environment.value = ColumnFrom(environment, [&](const auto& entry) { return trace.strings.Intern(entry.second); });
  Count("overlapping_slices", Severity::kInfo, counts.overlapping_slices, kAbsent, "host slices of one thread overlap without nesting; all are kept");
  Count("unlinked_gpu_ops", Severity::kInfo, counts.unlinked_gpu_ops, kAbsent, "GPU operations whose launch was not recorded");
  Count("duplicate_correlations", Severity::kInfo, counts.duplicate_correlations, kAbsent, "launches share a correlation id; the latest before the operation was taken");
  Count("unmatched_flow_ends", Severity::kInfo, counts.unmatched_flow_ends, kAbsent, "arrows with only one end recorded");
  Count("overlapping_steps", Severity::kInfo, overlapping_steps, kAbsent, "steps that overlap an earlier one were left out");
  FillStats(trace, impl_->stats);
  return trace;
}

}  // namespace gapless
