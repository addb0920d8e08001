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

// One end of an arrow; ends with the same id and kind are joined.
struct FlowEndRow {
  FlowKind kind = FlowKind::kOther;
  bool start = true;
  int64_t id = 0, tid = 0, ts_ns = 0;
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
  void Add(const KernelLineRow& row);
  void AddHostFunction(const HostFunctionRow& row);
  void AddMemoryBlock(const MemoryBlockRow& row);
  void Add(const CommBenchmarkRow& row);
  void Add(const CommChannelRow& row);
  void Add(const CommCallRow& row);
  void Add(const CommMessageRow& row);
  // Returns the row of a frame; the same for the same frame with the same caller. Callers come before what they call.
  StackId AddFrame(const StackRow& row);
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
  // The call of a message on the host, whose kernel is a row of its own. Kernels of several messages take from it what
  // they do not say themselves (trace/messages.cc).
  void AddMessageCall(const CollectiveRow& row);
  void Add(const StepRow& row);
  void Add(const FlowEndRow& row);
  void Add(const CounterRow& row);
  void Add(const MemoryEventRow& row);
  void Add(const SampleRow& row);
  void Add(const OsCallRow& row);
  void Add(const ThreadRunRow& row);
  void Add(const PageFaultRow& row);

  // Takes these source lines from the slices of all categories but `except`.
  void ForgetSourceLines(SliceCategory except, const std::vector<StringId>& lines);

  StringPool strings;

  struct Impl;
  explicit Shard(std::unique_ptr<Impl> impl);
  ~Shard();
  std::unique_ptr<Impl> impl;
};

}  // namespace gapless::internal
