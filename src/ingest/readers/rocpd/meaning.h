// SPDX-License-Identifier: Apache-2.0
// The meaning of what ROCm's profilers record for the tables, said once for all their files: the database (rocpd), the
// JSON and the tables of rocprofv3, and the tables of the older rocprof.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ingest/names.h"
#include "trace/builder.h"

namespace gapless::internal::rocm {

// The fields that any work of a device has. Times are ns of one clock of the host.
struct Work {
  int64_t start = kAbsent, end = kAbsent;
  int64_t correlation = kAbsent;
  int64_t stream = kAbsent;  // stream of HIP; without it the queue stands for it
  int64_t queue = kAbsent;
  int32_t device = kAbsent32;
};

// A Dispatch is a kernel; its grid is in work items, as ROCm counts it.
struct Dispatch {
  Work work{};
  std::string_view name{};
  std::array<int64_t, 3> grid{kAbsent, kAbsent, kAbsent}, workgroup{kAbsent, kAbsent, kAbsent};
  int64_t registers = kAbsent, shared_bytes = kAbsent;
};

// A Copy has the name of its direction: "MEMORY_COPY_HOST_TO_DEVICE", "HOST_TO_DEVICE", "CopyHostToDevice".
struct Copy {
  Work work{};
  std::string_view direction{};
  int64_t bytes = kAbsent;
  bool between_devices = false;  // they differ
};

// A Call is one of an interface of the host, or a range that the program marks; `domain` says which:
// "HIP_RUNTIME_API", "HSA_CORE_API", "MARKER_CORE_RANGE_API", …
struct Call {
  std::string_view name{}, domain{};
  int64_t pid = 0, tid = 0, start = kAbsent, end = kAbsent, correlation = kAbsent;
};

// An Allocation takes memory of a device, or gives it back.
struct Allocation {
  int32_t device = kAbsent32;  // absent: of the host
  bool is_free = false;
  int64_t time = kAbsent, address = kAbsent, bytes = kAbsent;
};

// A Meaning takes the rows of one process; its rows go into one shard. Correlations are unique within a process only.
class Meaning {
 public:
  Meaning(TraceBuilder& builder, TraceBuilder::Shard& shard) : builder_(builder), shard_(shard) {}

  // Begins the rows of another process: their correlations are none of the ones before.
  void BeginProcess();
  void Add(const Dispatch& row);
  void Add(const Copy& row);
  void Add(const Call& row);
  // Allocations come in the order of time.
  void Add(const Allocation& row);
  // Adds a value of a counter of the hardware to those of one dispatch: of several instances the sum is kept.
  void AddCounter(std::string_view kernel, int64_t dispatch, std::string_view counter, double value);
  // Describes a measured dispatch beside its counters.
  void DescribeMeasured(const Dispatch& row, int64_t dispatch);
  // Adds a sample of a counter over time.
  void AddSample(std::string_view name, int32_t device, int64_t time, double value);
  void LeaveOut(std::string_view what, int64_t rows = 1);

  // Counts what was odd, and hands over the metrics.
  void Finish();
  int64_t events() const { return events_; }

 private:
  struct Measured {
    std::string kernel{};
    std::map<std::string, double, std::less<>> values{};
    std::map<std::string, std::string, std::less<>> texts{};
  };
  bool TimeOf(int64_t start, int64_t end);
  int64_t Unique(int64_t correlation) const;
  void Place(const Work& work, GpuOpRow& row) const;
  void AddKernel(GpuOpRow row);

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  int64_t processes_ = 0, events_ = 0, bad_times_ = 0, marks_ = 0;
  std::unordered_map<uint32_t, KernelTraits> kernels_{};  // traits by name
  std::unordered_map<uint32_t, ApiKind> calls_{};         // by name
  std::map<std::pair<int64_t, int64_t>, Measured> measured_{};
  std::map<int32_t, int64_t> allocated_{};
  std::map<int64_t, std::pair<int32_t, int64_t>> blocks_{};  // device and bytes, by address
  std::map<std::string, int64_t, std::less<>> left_out_{};
};

// Describes a GPU of AMD; what is 0 or below is not known.
struct Agent {
  int32_t device = kAbsent32;
  std::string_view name{}, arch{};
  int64_t compute_units = 0, memory_bytes = 0, clock_mhz = 0;
};
void AddAgent(const Agent& agent, TraceBuilder& builder);

// Finds steps and classes in a finished trace.
void CompleteTrace(Trace& trace);

}  // namespace gapless::internal::rocm
