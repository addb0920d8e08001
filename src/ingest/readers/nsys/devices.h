// SPDX-License-Identifier: Apache-2.0
// GPUs as nsys describes them, and their rows in the table of devices.
#pragma once

#include <map>
#include <string>

#include "ingest/readers/nsys/facts.h"
#include "trace/builder.h"

namespace gapless::internal::nsys {

struct Gpu {
  int32_t id = kAbsent32;  // nsys' number of it
  std::string name{}, bus{}, uuid{};
  int64_t memory_bytes = kAbsent, clock_khz = kAbsent;
  int32_t sm_count = kAbsent32, compute_major = kAbsent32, compute_minor = kAbsent32;
  int64_t warps_per_sm = kAbsent, lanes_per_warp = kAbsent;
};

class Gpus {
 public:
  void Add(Gpu gpu);
  // The facts that CUDA gave of a GPU in one process, where `gpu.id` is its number there: until 2020 this has all but
  // the name. It is the GPU at the same place on the bus.
  void AddOfCuda(const Gpu& gpu, int64_t pid, Facts& facts);
  void Give(TraceBuilder& builder) const;

 private:
  std::map<int32_t, Gpu> gpus_{};  // by id
};

}  // namespace gapless::internal::nsys
