// SPDX-License-Identifier: Apache-2.0
// The data of a TraceBuilder's shards until Finish() merges them. Internal to trace/.
#pragma once

#include <map>
#include <unordered_map>

#include "trace/builder.h"
#include "trace/segments.h"

namespace gapless::internal {

struct ThreadKey {
  int64_t pid = 0, tid = 0;
  friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
};
struct ThreadKeyHash {
  size_t operator()(const ThreadKey& key) const {
    return static_cast<size_t>(key.pid) * 0x9E3779B97F4A7C15ULL ^ static_cast<size_t>(key.tid) * 0xC2B2AE3D27D4EB4FULL;
  }
};

// A frame with the row of its caller.
struct FrameKey {
  uint32_t parent = 0, file = 0, function = 0;
  int64_t line = 0;
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};
struct FrameKeyHash {
  size_t operator()(const FrameKey& key) const {
    const uint64_t code = (uint64_t{key.file} << 32 | key.function) * 0x9E3779B97F4A7C15ULL;
    return (code ^ (uint64_t{key.parent} << 32 | static_cast<uint32_t>(key.line))) * 0xC2B2AE3D27D4EB4FULL;
  }
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
  kMemoryList,
  kSampleList,
  kOsCallList,
  kThreadRunList,
  kPageFaultList,
  kMessageCallList,
  kLists
};

// The number of rows that each list had when a chunk began.
struct ChunkMark {
  uint64_t order = 0;
  std::array<uint32_t, kLists> rows{};
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
  RowList<SampleRow> samples;
  RowList<OsCallRow> os_calls;
  RowList<ThreadRunRow> thread_runs;
  RowList<PageFaultRow> page_faults;
  RowList<CollectiveRow> message_calls;
  std::vector<ChunkMark> chunks{ChunkMark{}};
  std::vector<ThreadKey> threads;
  std::unordered_map<ThreadKey, uint32_t, ThreadKeyHash> thread_index;
  uint32_t last_thread = 0;

  uint32_t ThreadIndex(int64_t pid, int64_t tid);
  std::array<uint32_t, kLists> Sizes() const;
  void Truncate(const std::array<uint32_t, kLists>& sizes);
};

struct TraceBuilder::Impl {
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<DeviceRow> devices;
  StringPool metric_strings;  // texts of the tables that follow
  std::vector<KernelMetricColumns<InDraft>> kernel_metrics;
  std::vector<KernelLineColumns<InDraft>> kernel_lines;
  std::vector<HostFunctionColumns<InDraft>> host_functions;
  StoreFor<MemoryBlockColumns> memory_blocks;  // there may be millions
  std::vector<CommBenchmarkColumns<InDraft>> comm_benchmarks;
  std::vector<CommChannelColumns<InDraft>> comm_channels;
  std::vector<CommCallColumns<InDraft>> comm_calls;
  std::vector<CommMessageColumns<InDraft>> comm_messages;
  std::vector<StackColumns<InDraft>> frames;
  std::unordered_map<FrameKey, StackId, FrameKeyHash> frame_index;
  std::map<std::string, std::string, std::less<>> environment;
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names;
  std::map<int64_t, std::string> process_names;
  std::map<std::string, ReadStatsRow, std::less<>> stats;  // by kind, summed over all calls of Count()
};

}  // namespace gapless::internal
