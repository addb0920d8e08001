// SPDX-License-Identifier: Apache-2.0
// The data of a TraceBuilder's shards until Finish() merges them. Internal to trace/.
#pragma once

#include <map>
#include <unordered_map>

#include "trace/builder.h"
#include "trace/segments.h"

namespace gapless::internal {

// Host slices of one shard, as columns: the bulk of every recording.
struct SliceStore {
  Segments<StringId> name, input_shapes, input_types, source_line, concrete_inputs;
  Segments<SliceCategory> category;
  Segments<ApiKind> api;
  Segments<uint32_t> thread;  // the shard's own numbering
  Segments<int64_t> ts_ns, dur_ns, external_id, correlation, sequence;
  size_t rows = 0;

  void Add(const SliceRow& row, uint32_t thread_index);
};

// A MemoryRow is a memory event with the shard's number of its thread.
struct MemoryRow {
  MemoryEventRow event;
  uint32_t thread = 0;
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
  RowList<GpuOpRow> gpu_ops;
  RowList<GpuAnnotationRow> gpu_annotations;
  RowList<SyncRow> syncs;
  RowList<CollectiveRow> collectives;
  RowList<StepRow> steps;
  RowList<FlowEndRow> flows;
  RowList<CounterRow> counters;
  RowList<MemoryRow> memory_events;
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
