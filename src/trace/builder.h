// SPDX-License-Identifier: Apache-2.0
// TraceBuilder: rows in, a finished Trace out. Readers and tests are its users.
//
// A Shard takes the rows of one thread; several threads fill several shards at once. Rows come in chunks, each
// with its place in the file, so that the result does not depend on which thread read which chunk. Times are
// absolute, on the recorder's clock; Finish() moves the zero to the first event. Columns are appended in segments
// that go back to the system one column at a time while they are merged, so the peak is the columns plus the
// widest one.
//
//   TraceBuilder builder;
//   auto& shard = builder.NewShard();
//   shard.Add(SliceRow{.name = shard.Text("aten::mm"), .category = SliceCategory::kOperator,
//                      .pid = 1, .tid = 1, .ts_ns = 10, .dur_ns = 5});
//   Trace trace = std::move(builder).Finish();
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

class ThreadPool;

inline constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A SliceRow is one span of a host thread (schema/slice.h). Times are absolute, in ns.
struct SliceRow {
  StringId name = StringId::kNone;
  SliceCategory category = SliceCategory::kOther;
  ApiKind api = ApiKind::kNone;
  int64_t pid = 0, tid = 0;
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t external_id = kAbsent, correlation = kAbsent, sequence = kAbsent;
  StringId input_shapes = StringId::kNone, input_types = StringId::kNone, concrete_inputs = StringId::kNone;
  StringId source_line = StringId::kNone;
};

// A GpuOpRow is a kernel, copy or memset on a stream (schema/gpu_op.h). Its launch is found by the correlation.
struct GpuOpRow {
  StringId name = StringId::kNone;
  GpuOpKind kind = GpuOpKind::kKernel;
  GpuOpClass op_class = GpuOpClass::kOther;
  MatrixUnit matrix_unit = MatrixUnit::kUnknown;
  KernelPrecision precision = KernelPrecision::kUnknown;
  CopyKind copy_kind = CopyKind::kNone;
  int32_t device = 0, context = kAbsent32;
  int64_t stream = 0;
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t correlation = kAbsent, external_id = kAbsent, graph_id = kAbsent, bytes = kAbsent;
  double bandwidth_gbps = kNan;
  int32_t grid_x = kAbsent32, grid_y = kAbsent32, grid_z = kAbsent32;
  int32_t block_x = kAbsent32, block_y = kAbsent32, block_z = kAbsent32;
  int32_t registers = kAbsent32, shared_bytes = kAbsent32;
  int64_t graph_node_id = kAbsent;
  int32_t channel = kAbsent32, priority = kAbsent32;
  float occupancy_pct = kNanF, blocks_per_sm = kNanF, warps_per_sm = kNanF;
};

struct GpuAnnotationRow {
  StringId name = StringId::kNone;
  int32_t device = 0;
  int64_t stream = 0, ts_ns = 0, dur_ns = 0;
};

// A synchronisation row of the recorder itself. Host calls that synchronise are found from SliceRow::api.
struct SyncRow {
  SyncKind kind = SyncKind::kDevice;
  int32_t device = kAbsent32;
  int64_t stream = kAbsent, event = kAbsent, correlation = kAbsent;
  // The stream that a waited-for event was recorded on, and the correlation of the call that recorded it.
  int64_t event_stream = kAbsent, event_correlation = kAbsent;
  int64_t ts_ns = 0, dur_ns = 0;
};

// One device kernel of a collective, or one host call where the backend has no kernels. Its gpu_op (device given) or
// slice is the row with the same place and time.
struct CollectiveRow {
  StringId name = StringId::kNone, kind = StringId::kNone, group = StringId::kNone, dtype = StringId::kNone;
  int32_t device = kAbsent32;  // kAbsent32: on the host, then pid and tid say where
  int64_t stream = kAbsent, pid = kAbsent, tid = kAbsent;
  int64_t ts_ns = 0, dur_ns = 0;
  int32_t group_size = kAbsent32;
  int64_t in_elements = kAbsent, out_elements = kAbsent, bytes = kAbsent;
  int64_t seq = kAbsent;
  int32_t src_rank = kAbsent32, dst_rank = kAbsent32;
  StringId group_ranks = StringId::kNone;
};

// A StepRow is one step, as the recorder or the agent marked it. Steps that overlap an earlier one are dropped.
struct StepRow {
  int64_t number = 0;
  StringId name = StringId::kNone;
  int64_t ts_ns = 0, dur_ns = 0;
  bool complete = true;
  StepSource source = StepSource::kProfiler;
  int64_t samples = kAbsent, wait_ns = kAbsent;
  double loss = kNan;
};

// One end of an arrow; ends with the same id and kind are joined.
struct FlowEndRow {
  FlowKind kind = FlowKind::kOther;
  bool start = true;
  int64_t id = 0, tid = 0, ts_ns = 0;
};

struct CounterRow {
  StringId name = StringId::kNone, unit = StringId::kNone;
  int32_t device = kAbsent32;
  int64_t ts_ns = 0;
  double value = 0;
};

// A MemoryEventRow is one allocation or release; `bytes` is negative for a release.
struct MemoryEventRow {
  int32_t device = kAbsent32;
  uint8_t device_type = 0;
  MemoryAction action = MemoryAction::kAlloc;
  int64_t pid = 0, tid = 0, ts_ns = 0, bytes = 0;
  int64_t address = kAbsent, total_allocated = kAbsent, total_reserved = kAbsent;
};

// One metric of one launch, as measured by a kernel profiler: a number (value) or a text.
struct KernelMetricRow {
  std::string_view kernel_name{};
  int64_t launch_index = 0;
  std::string_view metric{};
  double value = kNan;
  std::string_view text{}, unit{};
};

// One function of the host program, or one line of it (`function` empty), as a host profiler summed it up.
struct HostFunctionRow {
  std::string_view file{};
  int64_t line = kAbsent;
  std::string_view function{};
  int64_t calls = kAbsent, self_ns = kAbsent, total_ns = kAbsent, bytes = kAbsent;
};

// A DeviceRow describes a device; of several with one number the first counts.
struct DeviceRow {
  int32_t device = 0;
  Vendor vendor = Vendor::kOther;
  std::string name{}, arch{}, uuid{}, pcie_bus_id{};
  int32_t compute_major = kAbsent32, compute_minor = kAbsent32, sm_count = kAbsent32, max_threads_per_sm = kAbsent32;
  int64_t memory_bytes = kAbsent, clock_khz = kAbsent;
};

// A TraceBuilder collects the rows of one recording. Shards may be filled by one thread each at the same time;
// nothing else is thread-safe.
class TraceBuilder {
 public:
  class Shard;

  TraceBuilder();
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  // A new shard; the builder owns it. Not thread-safe itself: make the shards first, then hand them out.
  Shard& NewShard();
  // Forgets all shards and their rows, to start over.
  void DropShards();
  // Path, format, rank … as the reader knows them. origin_ns, dur_ns and pid are set by Finish().
  TraceInfo& info() { return info_; }

  // Small tables, from one thread.
  void AddDevice(DeviceRow row);
  void AddKernelMetric(const KernelMetricRow& row);
  void AddHostFunction(const HostFunctionRow& row);
  void AddEnvironment(std::string_view key, std::string_view value);
  void NameThread(int64_t pid, int64_t tid, std::string_view name);
  void NameProcess(int64_t pid, std::string_view name);
  // Counts something odd, lost or wrong for read_stats; a count of 0 does nothing. `first_offset` is in bytes,
  // kAbsent if not known; `text` is one sentence for people.
  void Count(std::string_view kind, Severity severity, int64_t count, int64_t first_offset, std::string_view text);

  // Merges, sorts, nests, links launches to GPU operations, finds synchronisations, assigns steps. Uses `pool` if
  // given. A trace without rows is a trace all the same. All shards together hold fewer than 2^32 rows of each kind.
  Trace Finish(ThreadPool* pool = nullptr) &&;

  struct Impl;  // builder_impl.h

 private:
  std::unique_ptr<Impl> impl_;
  TraceInfo info_;
};

// One thread's rows. Texts are interned per shard: a StringId from Text() is good for rows of this shard only.
class TraceBuilder::Shard {
 public:
  StringId Text(std::string_view text) { return strings.Intern(text); }
  // The same of a name. Of one longer than kMaxNameBytes the beginning is kept, with "…": analyses search names for
  // many words, and those of generated kernels have some kilobytes.
  static constexpr size_t kMaxNameBytes = size_t{16} << 10;
  StringId Name(std::string_view name) { return name.size() <= kMaxNameBytes ? Text(name) : ShortName(name); }
  StringId ShortName(std::string_view name);

  // The rows that follow belong to place `order` of the file (default 0); orders come in any sequence, each once per
  // shard.
  void BeginChunk(uint64_t order);
  // Forgets the rows since BeginChunk.
  void DropChunk();

  void Add(const SliceRow& row);
  void Add(const GpuOpRow& row);
  void Add(const GpuAnnotationRow& row);
  void Add(const SyncRow& row);
  void Add(const CollectiveRow& row);
  void Add(const StepRow& row);
  void Add(const FlowEndRow& row);
  void Add(const CounterRow& row);
  void Add(const MemoryEventRow& row);

  // Takes these source lines from the slices of all categories but `except`.
  void ForgetSourceLines(SliceCategory except, const std::vector<StringId>& lines);

  StringPool strings;

  struct Impl;
  explicit Shard(std::unique_ptr<Impl> impl);
  ~Shard();
  std::unique_ptr<Impl> impl;
};

}  // namespace gapless::internal
