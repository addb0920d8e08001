// SPDX-License-Identifier: Apache-2.0
// Trace: one process's recording by one profiler, as immutable columns. Plain data; vendor-free.
//
// Times are int64 nanoseconds counted from the trace's own zero, `info.origin_ns`, on the recorder's clock. Rows of a
// table are named by typed ids (SliceId …) that are valid within this trace only; trace/run.h makes them unique over a
// run.
#pragma once

#include <memory>
#include <string>

#include "trace/mapped_file.h"
#include "trace/schema/collective.h"
#include "trace/schema/comm_benchmark.h"
#include "trace/schema/comm_call.h"
#include "trace/schema/comm_channel.h"
#include "trace/schema/comm_message.h"
#include "trace/schema/counter.h"
#include "trace/schema/device.h"
#include "trace/schema/environment.h"
#include "trace/schema/flow.h"
#include "trace/schema/gpu_annotation.h"
#include "trace/schema/gpu_op.h"
#include "trace/schema/host_function.h"
#include "trace/schema/kernel_line.h"
#include "trace/schema/kernel_metric.h"
#include "trace/schema/memory_block.h"
#include "trace/schema/memory_event.h"
#include "trace/schema/os_call.h"
#include "trace/schema/page_fault.h"
#include "trace/schema/read_stats.h"
#include "trace/schema/sample.h"
#include "trace/schema/slice.h"
#include "trace/schema/stack.h"
#include "trace/schema/step.h"
#include "trace/schema/sync.h"
#include "trace/schema/thread.h"
#include "trace/schema/thread_run.h"
#include "trace/string_pool.h"

namespace gapless::internal {

struct TraceSummary;  // trace/summary.h

// TraceInfo holds the facts about a recording that are no rows.
struct TraceInfo {
  std::string path;    // as given; a tar member is "archive.tar.gz!/member"
  std::string format;  // name of the reader
  std::string host;    // empty: not recorded
  std::string framework;
  int64_t rank = kAbsent;
  int64_t world_size = kAbsent;
  int64_t pid = kAbsent;            // process with the most host slices
  int64_t origin_ns = 0;            // the trace's zero on the recorder's clock
  int64_t start_unix_ns = kAbsent;  // the trace's zero on the wall clock, when the recorder said
  int64_t dur_ns = 0;               // from zero to the last end
  // The process lived longer than its events last: its beginning and its last sign of life, if the recorder said.
  int64_t process_start_unix_ns = kAbsent, process_end_unix_ns = kAbsent;
  int64_t event_count = 0;  // events in the file, of every kind
  bool piped = false;       // it came through a pipe: nobody can read it again by its path
};

// A Trace owns its texts and columns. It is filled by TraceBuilder or mapped from a file of columns, and not changed
// after its reader has completed it.
struct Trace {
  TraceInfo info;
  std::shared_ptr<const MappedFile> file{};       // holds the columns and texts; null: they are in memory of their own
  std::shared_ptr<const TraceSummary> summary{};  // not null: this stands for a recording that is not here
  StringPool strings;
  ThreadTable threads;
  DeviceTable devices;
  SliceTable slices;
  GpuOpTable gpu_ops;
  GpuAnnotationTable gpu_annotations;
  SyncTable syncs;
  CollectiveTable collectives;
  StepTable steps;
  FlowTable flows;
  CounterTable counters;
  MemoryEventTable memory_events;
  MemoryBlockTable memory_blocks;
  StackTable stacks;
  SampleTable samples;
  OsCallTable os_calls;
  ThreadRunTable thread_runs;
  PageFaultTable page_faults;
  KernelMetricTable kernel_metrics;
  KernelLineTable kernel_lines;
  HostFunctionTable host_functions;
  CommBenchmarkTable comm_benchmarks;
  CommChannelTable comm_channels;
  CommCallTable comm_calls;
  CommMessageTable comm_messages;
  EnvironmentTable environment;
  ReadStatsTable read_stats;

  std::string_view Text(StringId id) const { return strings[id]; }

  // Calls f(table name, table) for every table: the cache file and memory accounting are written once, over this.
  template <class Self, class F>
  static void VisitTables(Self& self, F&& f) {
    const auto visit = [&](auto&... tables) { (f(std::decay_t<decltype(tables)>::kAbout.name, tables), ...); };
    visit(self.threads, self.devices, self.slices, self.gpu_ops, self.gpu_annotations, self.syncs, self.collectives,
          self.steps, self.flows, self.counters, self.memory_events, self.memory_blocks, self.stacks, self.samples,
          self.os_calls, self.thread_runs, self.page_faults, self.kernel_metrics, self.kernel_lines,
          self.host_functions, self.comm_benchmarks, self.comm_channels, self.comm_calls, self.comm_messages,
          self.environment, self.read_stats);
  }
};

// Returns the row of `device` in the device table, which is sorted by number; devices.size() if the device has no row.
size_t FindDevice(const DeviceTable& devices, int32_t device);
// Returns true if reading stopped before the end of the events: the file was cut off, or damaged.
bool EndsInTheMiddle(const Trace& trace);
// Bytes held by all columns and texts.
size_t MemoryBytes(const Trace& trace);

}  // namespace gapless::internal
