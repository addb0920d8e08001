// SPDX-License-Identifier: Apache-2.0
// The meaning of the rows of Nsight Systems for the tables, said once for both containers.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/names.h"
#include "ingest/readers/nsys/facts.h"
#include "ingest/readers/nsys/rows.h"
#include "trace/builder.h"

namespace gapless::internal::nsys {

// Everything that was met beside the rows that went into tables.
struct Tally {
  int64_t events = 0, bad_times = 0, ops_without_time = 0, nested_calls = 0, open_ranges = 0, other_nvtx = 0;
  int64_t others_switches = 0, open_runs = 0;
  std::set<int64_t> ranged_processes{};                    // with ranges that start and end anywhere
  std::map<std::string, int64_t, std::less<>> left_out{};  // rows that are not read, by nsys' name of their table
  std::map<std::string, std::pair<int64_t, int64_t>, std::less<>> said{};  // texts of nsys; value: severity, count
  void Add(const Tally& other);
};

// A Meaning takes rows of one thread; several fill their own shards at once. Its facts must outlive it.
class Meaning {
 public:
  Meaning(const Facts& facts, TraceBuilder::Shard& shard)
      : facts_(facts), correlations_(facts.correlations), shard_(shard) {}

  void Add(const Kernel& row);
  void Add(const Copy& row);
  void Add(const Memset& row);
  void Add(const Graph& row);
  void Add(const Sync& row);
  void Add(const Range& row);
  void Add(const Overhead& row);
  void Add(const Metric& row);
  void Add(const Allocation& row);
  void Add(const Diagnostic& row);
  void Add(CpuSample row);  // becomes rows in AddSamples()
  void Add(const OsCall& row);
  void Add(const Switch& row);  // becomes rows in AddRuns()
  void Add(const PageFault& row);
  // Calls become slices in AddCalls(), when all are there.
  void Add(const Call& row);
  // Adds `rows` rows of a table that is not read.
  void LeaveOut(std::string_view table, int64_t rows = 1);

  TraceBuilder::Shard& shard() { return shard_; }

  // Turns the calls that all of these took into slices, in the shard of the first.
  static void AddCalls(const std::vector<Meaning*>& all);
  // Turns the samples that all of these took into rows, in the shard of the first.
  static void AddSamples(const std::vector<Meaning*>& all, TraceBuilder& builder);
  // Turns the switches that all of these took into times on a processor, in the shard of the first.
  static void AddRuns(const std::vector<Meaning*>& all);
  // Counts what was odd or left out, over all of these.
  static void Finish(const std::vector<Meaning*>& all, TraceBuilder& builder);

 private:
  struct Span {
    int64_t ts_ns = 0, dur_ns = 0;
  };
  struct Known {
    StringId name = StringId::kNone;
    CopyKind kind = CopyKind::kNone;
  };
  bool TimeOf(int64_t start, int64_t end, Span& span);
  bool OpTimeOf(const Work& work, Span& span);
  GpuOpRow OpOf(const Work& work, const Span& span, StringId name, GpuOpKind kind);
  StringId NameOf(int64_t text);
  void Own(int64_t global_tid) {
    if (const int64_t process = ProcessOf(global_tid); process != last_owner_)
      last_owner_ = process, processes_.insert(process);
  }
  void AddKernel(GpuOpRow row);
  void AddCopy(const Work& work, int64_t bytes, GpuOpKind kind, const Known& known);
  void AddCall(const Call& call, std::string_view name);

  const Facts& facts_;
  Correlations correlations_;
  TraceBuilder::Shard& shard_;
  Tally tally_{};
  std::vector<Call> calls_{};
  std::vector<CpuSample> samples_{};
  std::vector<Switch> switches_{};
  int64_t last_owner_ = kAbsent;
  std::set<int64_t> processes_{};  // with calls or ranges of their own
  std::unordered_map<int64_t, StringId> names_{};
  std::unordered_map<int64_t, std::pair<StringId, ApiKind>> calls_by_name_{};
  std::unordered_map<uint32_t, KernelTraits> kernels_{};          // by name
  std::map<std::array<int64_t, 4>, Known> copies_{};              // by operation, memory from and to, and cause
  std::map<int64_t, Known> memsets_{};                            // by kind of memory
  std::map<std::pair<int32_t, bool>, int64_t> allocated_{};       // by device; or on the host
  std::map<std::pair<int64_t, int64_t>, int64_t> allocations_{};  // bytes, by process and address
};

// Completes a trace whose start_unix_ns is that of the session, from which its times count: start, steps, classes.
void CompleteTrace(Trace& trace);

}  // namespace gapless::internal::nsys
