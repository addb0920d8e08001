// SPDX-License-Identifier: Apache-2.0
// The rows of a recording of Nsight Systems, whichever container they come from: its own file or the SQLite export of
// it. Numbers are nsys' own, times count in ns from the start of the session; what is absent is kAbsent. Meaning turns
// them into rows of the tables.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/ids.h"

namespace gapless::internal::nsys {

// A device's part of a row.
struct Work {
  int64_t start = kAbsent, end = kAbsent;
  int32_t device = kAbsent32;  // as CUDA numbers it in the process
  int32_t context = kAbsent32;
  int64_t stream = kAbsent;
  int64_t global_pid = kAbsent, correlation = kAbsent;
};

struct Kernel {
  Work work{};
  int64_t name = kAbsent, short_name = kAbsent;  // numbers of texts
  int32_t registers = kAbsent32;
  int32_t grid[3] = {kAbsent32, kAbsent32, kAbsent32}, block[3] = {kAbsent32, kAbsent32, kAbsent32};
  int32_t static_shared = kAbsent32, dynamic_shared = kAbsent32;
  int64_t graph = kAbsent, graph_node = kAbsent;
};

struct Copy {
  Work work{};
  int64_t bytes = kAbsent;
  int64_t operation = kAbsent, from = kAbsent, to = kAbsent;  // direction, kinds of memory
  int64_t cause = kAbsent;                                    // why pages of managed memory moved
};

struct Memset {
  Work work{};
  int64_t bytes = kAbsent, memory = kAbsent;
};

// One launch of a whole graph, where its kernels were not recorded.
struct Graph {
  Work work{};
  int64_t graph = kAbsent;
};

struct Sync {
  Work work{};
  int64_t type = kAbsent, event = kAbsent;
};

// A call of CUDA's runtime (class 0) or driver (class 1).
struct Call {
  int64_t start = kAbsent, end = kAbsent, global_tid = kAbsent, correlation = kAbsent;
  int64_t name = kAbsent;
  int64_t event_class = kAbsent;
};

// An event of NVTX: a range, or one of the types that are no ranges.
struct Range {
  int64_t start = kAbsent, end = kAbsent, global_tid = kAbsent;
  int64_t type = kAbsent;
  std::string_view text{};  // empty: see text_id
  int64_t text_id = kAbsent;
};

// Time that the profiler itself took.
struct Overhead {
  int64_t start = kAbsent, end = kAbsent, global_tid = kAbsent;
  int64_t name = kAbsent;
};

// One value of a metric of a GPU.
struct Metric {
  int64_t time = kAbsent;
  std::string_view name{};
  int32_t device = kAbsent32;
  double value = 0;
};

// An allocation (operation 0) or release (1) of memory by CUDA.
struct Allocation {
  int64_t time = kAbsent, global_pid = kAbsent, address = kAbsent, bytes = kAbsent;
  int32_t device = kAbsent32;
  int64_t memory = kAbsent, operation = kAbsent;
};

// A frame of a sampled stack.
struct CpuFrame {
  int64_t symbol = kAbsent, module = kAbsent;  // numbers of texts
};

// A sample of a thread on a processor. The innermost frame comes first; empty: the stack was not recorded.
struct CpuSample {
  int64_t time = kAbsent, global_tid = kAbsent;
  std::vector<CpuFrame> stack{};
};

// A call of the operating system's library.
struct OsCall {
  int64_t start = kAbsent, end = kAbsent, global_tid = kAbsent;
  int64_t name = kAbsent;  // number of a text
};

// The scheduler switched a thread in or out.
struct Switch {
  int64_t time = kAbsent, global_tid = kAbsent;
  int32_t cpu = kAbsent32;
  bool in = false;
};

// A page of managed memory was touched where it was not: by a GPU, or by a function of the host.
struct PageFault {
  int64_t start = kAbsent, end = kAbsent;  // of the host: no end
  int64_t global_pid = kAbsent;
  int32_t device = kAbsent32;
  int64_t count = kAbsent;
  int64_t function = kAbsent;  // number of a text
};

// A message of nsys about the recording.
struct Diagnostic {
  int64_t severity = kAbsent;  // 1 information, 2 warning, 3 error
  std::string_view text{};
};

}  // namespace gapless::internal::nsys
