// SPDX-License-Identifier: Apache-2.0
// The data of a TraceBuilder's shards until Finish() merges them. Internal to trace/.
#pragma once

#include <map>
#include <unordered_map>

#include "trace/builder.h"
#include "trace/segments.h"

namespace gapless::internal {

// The large tables of one shard, as columns. Visit() calls f(column of the store, field of the row, column of the
// trace's table) for each column, all as pointers to members.
struct SliceStore {
  GrowingColumn<StringId> name, input_shapes, input_types, source_line, concrete_inputs;
  GrowingColumn<SliceCategory> category;
  GrowingColumn<ApiKind> api;
  GrowingColumn<int64_t> ts_ns, dur_ns, external_id, correlation, sequence;
  GrowingColumn<uint32_t> thread;  // the shard's own numbering; not visited
  size_t rows = 0;

  template <class F>
  static void Visit(F&& f) {
    using Store = SliceStore;
    using Row = SliceRow;
    using Table = SliceTable;
    f(&Store::name, &Row::name, &Table::name), f(&Store::category, &Row::category, &Table::category);
    f(&Store::api, &Row::api, &Table::api);
    f(&Store::ts_ns, &Row::ts_ns, &Table::ts_ns), f(&Store::dur_ns, &Row::dur_ns, &Table::dur_ns);
    f(&Store::external_id, &Row::external_id, &Table::external_id);
    f(&Store::correlation, &Row::correlation, &Table::correlation);
    f(&Store::sequence, &Row::sequence, &Table::sequence);
    f(&Store::input_shapes, &Row::input_shapes, &Table::input_shapes);
    f(&Store::input_types, &Row::input_types, &Table::input_types);
    f(&Store::source_line, &Row::source_line, &Table::source_line);
    f(&Store::concrete_inputs, &Row::concrete_inputs, &Table::concrete_inputs);
  }
};

struct GpuOpStore {
  GrowingColumn<StringId> name;
  GrowingColumn<GpuOpKind> kind;
  GrowingColumn<GpuOpClass> op_class;
  GrowingColumn<MatrixUnit> matrix_unit;
  GrowingColumn<KernelPrecision> precision;
  GrowingColumn<CopyKind> copy_kind;
  GrowingColumn<int32_t> device, context, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, shared_bytes;
  GrowingColumn<int32_t> channel, priority;
  GrowingColumn<int64_t> stream, ts_ns, dur_ns, correlation, external_id, graph_id, graph_node_id, bytes;
  GrowingColumn<double> bandwidth_gbps;
  GrowingColumn<float> occupancy_pct, blocks_per_sm, warps_per_sm;
  size_t rows = 0;

  template <class F>
  static void Visit(F&& f) {
    using Store = GpuOpStore;
    using Row = GpuOpRow;
    using Table = GpuOpTable;
    f(&Store::name, &Row::name, &Table::name), f(&Store::kind, &Row::kind, &Table::kind);
    f(&Store::op_class, &Row::op_class, &Table::op_class);
    f(&Store::matrix_unit, &Row::matrix_unit, &Table::matrix_unit);
    f(&Store::precision, &Row::precision, &Table::precision);
    f(&Store::copy_kind, &Row::copy_kind, &Table::copy_kind);
    f(&Store::device, &Row::device, &Table::device), f(&Store::context, &Row::context, &Table::context);
    f(&Store::stream, &Row::stream, &Table::stream);
    f(&Store::ts_ns, &Row::ts_ns, &Table::ts_ns), f(&Store::dur_ns, &Row::dur_ns, &Table::dur_ns);
    f(&Store::correlation, &Row::correlation, &Table::correlation);
    f(&Store::external_id, &Row::external_id, &Table::external_id);
    f(&Store::graph_id, &Row::graph_id, &Table::graph_id);
    f(&Store::graph_node_id, &Row::graph_node_id, &Table::graph_node_id);
    f(&Store::channel, &Row::channel, &Table::channel), f(&Store::priority, &Row::priority, &Table::priority);
    f(&Store::bytes, &Row::bytes, &Table::bytes);
    f(&Store::bandwidth_gbps, &Row::bandwidth_gbps, &Table::bandwidth_gbps);
    f(&Store::grid_x, &Row::grid_x, &Table::grid_x), f(&Store::grid_y, &Row::grid_y, &Table::grid_y);
    f(&Store::grid_z, &Row::grid_z, &Table::grid_z), f(&Store::block_x, &Row::block_x, &Table::block_x);
    f(&Store::block_y, &Row::block_y, &Table::block_y), f(&Store::block_z, &Row::block_z, &Table::block_z);
    f(&Store::registers, &Row::registers, &Table::registers);
    f(&Store::shared_bytes, &Row::shared_bytes, &Table::shared_bytes);
    f(&Store::occupancy_pct, &Row::occupancy_pct, &Table::occupancy_pct);
    f(&Store::blocks_per_sm, &Row::blocks_per_sm, &Table::blocks_per_sm);
    f(&Store::warps_per_sm, &Row::warps_per_sm, &Table::warps_per_sm);
  }
};

struct MemoryEventStore {
  GrowingColumn<int32_t> device;
  GrowingColumn<uint8_t> device_type;
  GrowingColumn<MemoryAction> action;
  GrowingColumn<int64_t> ts_ns, bytes, address, total_allocated, total_reserved;
  GrowingColumn<uint32_t> thread;  // the shard's own numbering; not visited
  size_t rows = 0;

  template <class F>
  static void Visit(F&& f) {
    using Store = MemoryEventStore;
    using Row = MemoryEventRow;
    using Table = MemoryEventTable;
    f(&Store::device, &Row::device, &Table::device), f(&Store::device_type, &Row::device_type, &Table::device_type);
    f(&Store::action, &Row::action, &Table::action), f(&Store::ts_ns, &Row::ts_ns, &Table::ts_ns);
    f(&Store::bytes, &Row::bytes, &Table::bytes), f(&Store::address, &Row::address, &Table::address);
    f(&Store::total_allocated, &Row::total_allocated, &Table::total_allocated);
    f(&Store::total_reserved, &Row::total_reserved, &Table::total_reserved);
  }
};

struct ThreadKey {
  int64_t pid = 0, tid = 0;
  friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
};
struct ThreadKeyHash {
  size_t operator()(const ThreadKey& key) const {
    return static_cast<size_t>(key.pid) * 0x9E3779B97F4A7C15ULL ^ static_cast<size_t>(key.tid) * 0xC2B2AE3D27D4EB4FULL;
  }
};

// How many rows each list had when a chunk began.
struct ChunkMark {
  uint64_t order = 0;
  std::array<uint32_t, 9> rows{};
};
enum ListIndex : uint8_t {
  kSliceList,
  kGpuOpList,
  kGpuAnnotationList,
  kSyncList,
  kCollectiveList,
  kStepList,
  kFlowList,
  kCounterList,
  kMemoryList
};

struct TraceBuilder::Shard::Impl {
  SliceStore slices;
  GpuOpStore gpu_ops;
  RowList<GpuAnnotationRow> gpu_annotations;
  RowList<SyncRow> syncs;
  RowList<CollectiveRow> collectives;
  RowList<StepRow> steps;
  RowList<FlowEndRow> flows;
  RowList<CounterRow> counters;
  MemoryEventStore memory_events;
  std::vector<ChunkMark> chunks{ChunkMark{}};
  std::vector<ThreadKey> threads;
  std::unordered_map<ThreadKey, uint32_t, ThreadKeyHash> thread_index;
  uint32_t last_thread = 0;

  uint32_t ThreadIndex(int64_t pid, int64_t tid);
  std::array<uint32_t, 9> Sizes() const;
  void Truncate(const std::array<uint32_t, 9>& sizes);
};

// A StatEntry is one kind of note, summed over all calls of Count().
struct StatEntry {
  Severity severity = Severity::kInfo;
  int64_t count = 0, first_offset = kAbsent;
  std::string text;
};

// Texts are of TraceBuilder::Impl::metric_strings.
struct StoredKernelMetric {
  StringId kernel_name, metric, text, unit;
  int64_t launch_index;
  double value;
};

// Texts are of TraceBuilder::Impl::metric_strings.
struct StoredHostFunction {
  StringId file, function;
  int64_t line, calls, self_ns, total_ns, bytes;
};

struct TraceBuilder::Impl {
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<DeviceRow> devices;
  StringPool metric_strings;
  std::vector<StoredKernelMetric> kernel_metrics;
  std::vector<StoredHostFunction> host_functions;
  std::map<std::string, std::string, std::less<>> environment;
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names;
  std::map<int64_t, std::string> process_names;
  std::map<std::string, StatEntry, std::less<>> stats;
};

}  // namespace gapless::internal
