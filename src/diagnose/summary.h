// SPDX-License-Identifier: Apache-2.0
// RunSummary: what a report says before it goes into detail: whose run, how long a step takes, where its time goes,
// what kind of limit the run is under, and what removing all bottlenecks together would buy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/scaling.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"

namespace gapless::internal {

struct StepTimes {  // of the complete steps' windows, over all ranks
  int64_t median = 0, p50 = 0, p95 = 0, p99 = 0;
};

struct RunSummary {
  std::vector<int64_t> ranks;              // ascending; empty: no trace has a rank
  std::vector<DeviceBreakdown> breakdown;  // one per device that did work, in order of trace and device
  DeviceBreakdown
      total;          // sums over `breakdown`; trace, rank, device and name mean nothing; wall_ns 0: no device did work
  int64_t steps = 0;  // complete steps, of the rank with the most
  std::optional<StepTimes> step_ns;
  std::optional<double> mean_step_ns;  // analysed time per step and device, time between steps included
  std::optional<double> gpu_busy_share;
  std::optional<double> matrix_time_share;  // of kernel time: products, convolutions, attention
  std::optional<double> matrix_unit_share;  // of that time, on matrix units; absent where no kernel name tells
  std::optional<double> mfu;                // FLOPs known from shapes, of the dense peak over the analysed time
  double mfu_coverage = 0;                  // of the time of matrix kernels, whose FLOPs are known: below 1 it is more
  std::optional<Scaling> scaling;           // of several ranks, or against a run on one GPU
  std::optional<double> pageable_share;     // of copy time between host and device, from or to pageable memory
  // What limits the run, finely: "input bound", "launch bound", "sync bound", "host bound", "communication bound",
  // "copy bound", "compute bound", "memory bound", "unknown" (idle, and nothing recorded says why). Empty: no device
  // did work.
  std::string run_class;
  // The same in the five words of the trade: "I/O", "CPU", "communication", "GPU compute", "GPU memory"; empty with
  // an empty or unknown class.
  std::string_view limit;
  std::string class_evidence;             // one sentence with the numbers; empty with run_class
  std::optional<Gain> estimated_speedup;  // of removing all bottlenecks together; absent: none has a gain
};

// `single_step_ns`: the step time of the same job on one GPU, to tell how it scales; absent: not known.
RunSummary Summarise(Tables& tables, const Diagnosis& diagnosis, std::optional<int64_t> single_step_ns = {});

}  // namespace gapless::internal
