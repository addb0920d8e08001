// SPDX-License-Identifier: Apache-2.0
// The tables of an nsys export, turned into rows. Each Read… looks at its tables and does nothing where they are not.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "ingest/names.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys/database.h"

namespace gapless::internal::nsys {

// Ids and times as the export has them: globalPid and globalTid hold a process in their upper bits; a correlation id is
// unique within its process only.
class Ids {
 public:
  static constexpr int64_t Process(int64_t global) { return global == kAbsent ? kAbsent : global >> 24; }
  static constexpr int64_t Pid(int64_t global) { return (global >> 24) & 0xFFFFFF; }
  static constexpr int64_t Tid(int64_t global) { return global & 0xFFFFFF; }

  // The correlation, made unique over the processes: that of the first process met stays as it is.
  int64_t Correlation(int64_t correlation, int64_t global);
  size_t processes() const { return index_.size(); }

 private:
  std::map<int64_t, int64_t> index_;
};

class Importer {
 public:
  Importer(Database& database, TraceBuilder& builder)
      : database_(database), builder_(builder), shard_(builder.NewShard()) {}

  void ReadAbout();  // versions, host, start, processes, threads, devices
  void ReadApiCalls();
  void ReadRanges();
  void ReadOverhead();
  void ReadKernels();
  void ReadCopies();
  void ReadGraphs();
  void ReadSyncs();
  // Counts odd rows, and tables with rows that were left out.
  void Finish();

  int64_t events() const { return events_; }
  int64_t session_start_unix_ns() const { return session_start_unix_ns_; }

 private:
  struct Span {
    int64_t ts_ns = 0, dur_ns = 0;
  };
  // False: no usable time; counted. A device that reported none left a start of 0.
  static bool ReadSpan(const Rows& rows, int start, int end, Span& span);
  bool TimeOf(const Rows& rows, int start, int end, Span& span);
  bool OpTimeOf(const Rows& rows, int start, int end, Span& span);
  StringId NameOf(int64_t string_id);
  StringId Interned(std::string_view text) { return shard_.Text(text); }
  int32_t DeviceOf(int32_t device, int64_t global) const;
  void AddKernel(GpuOpRow row);
  void ReadDevices();
  void AddRange(std::string_view text, int64_t type, int64_t global_tid, Span span);

  Database& database_;
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  Ids ids_;
  std::string version_{};  // of the nsys that wrote the export
  std::unordered_map<int64_t, std::string> strings_;
  std::unordered_map<int64_t, StringId> names_;
  std::unordered_map<int64_t, ApiKind> api_kinds_;
  std::unordered_map<uint32_t, KernelTraits> kernels_;     // by name
  std::map<std::pair<int64_t, int64_t>, int32_t> gpu_of_;  // key: (pid, CUDA's number); value: nsys' number of the GPU
  std::set<int64_t> ranged_processes_;
  int64_t session_start_unix_ns_ = kAbsent;
  int64_t events_ = 0, bad_times_ = 0, ops_without_time_ = 0, nested_calls_ = 0, open_ranges_ = 0, other_nvtx_ = 0;
};

}  // namespace gapless::internal::nsys
