// SPDX-License-Identifier: Apache-2.0
// RunSummary: what a report says before it goes into detail: whose run, how long a step takes, where its time goes,
// what kind of limit the run is under, and what removing all bottlenecks together would buy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gapless/bottleneck.h"

namespace gapless {

struct StepTimes {  // statistics of the durations of complete steps, over all ranks
  int64_t median = 0, p50 = 0, p95 = 0, p99 = 0;
};

// The waste ledger of one device: compute, exposed_comm, exposed_copy and idle add up to wall, the idle parts to idle.
struct DeviceBreakdown {
  int64_t trace = 0;              // key of table `trace`: of several recordings of one process the first
  std::optional<int64_t> rank{};  // absent: none recorded
  int32_t device = 0;
  std::string device_name{};  // "Tesla V100-SXM2-32GB"; empty: not recorded
  int64_t wall_ns = 0;
  int64_t compute_ns = 0, exposed_comm_ns = 0, exposed_copy_ns = 0, idle_ns = 0;
  int64_t idle_data_ns = 0, idle_launch_ns = 0, idle_sync_ns = 0, idle_host_ns = 0, idle_unknown_ns = 0;
};

// The ledger of a process that used no device: the parts add up to wall. Source: table host_steps.
struct HostBreakdown {
  int64_t trace = 0;              // key of table `trace`
  std::optional<int64_t> rank{};  // absent: none recorded
  int64_t steps = 0;              // 0: none is marked, and all that was recorded is divided
  int64_t wall_ns = 0;
  int64_t operator_ns = 0, optimizer_ns = 0, collective_ns = 0, data_ns = 0;
  int64_t python_ns = 0, save_ns = 0, gc_ns = 0, compile_ns = 0;
};

// The scaling of a job over its ranks.
struct Scaling {
  int64_t devices = 0;     // that took part
  int64_t step_ns = 0;     // median over the devices of their median step
  double efficiency = 1;   // 0–1, can pass 1 when the single run was slower
  bool estimated = false;  // true: an upper bound, made without a single run
};

// A place in the plan: what one fix brings after those before it, and what all of them bring up to here.
struct PlanStep {
  std::string id{};                  // id of the bottleneck that the fix is for
  std::string fix{};                 // item of `predict --what`; empty: none stands for it, its gain is an estimate
  std::vector<std::string> cures{};  // ids of the other bottlenecks that it cures
  Gain gain{};
  Gain so_far{};
};

// The speedup of the whole plan.
struct Combination {
  std::vector<std::string> ids{};    // ids of the bottlenecks of the plan, in its order
  std::vector<std::string> fixes{};  // items of `predict --what` that were replayed, in the same order
  Gain gain{};
  std::optional<Gain> replayed{};        // gain of `fixes` alone; absent: nothing could be replayed
  std::vector<std::string> estimated{};  // ids of the plan's bottlenecks that no replay models: by their own estimate
  std::vector<std::string> left_out{};   // ids of bottlenecks whose fix is a choice beside the plan
  std::vector<std::string> untested{};   // names of fixes that were tested on no program on such a machine
};

struct RunSummary {
  // "training", "inference", "serving"; empty: unknown from the recording.
  std::string_view workload;
  std::vector<int64_t> ranks;              // ascending; empty: no trace has a rank
  std::vector<DeviceBreakdown> breakdown;  // one per device that did work, in order of trace and device
  // Sums over `breakdown`; trace, rank, device and name mean nothing; wall_ns 0: no device did work.
  DeviceBreakdown total;
  int64_t steps = 0;  // complete steps, of the rank with the most
  std::optional<StepTimes> step_ns;
  std::optional<double> mean_step_ns;  // analysed time per step and device, time between steps included
  std::optional<double> gpu_busy_share;
  // Is that a lower bound? Operations of the GPU are missing from the recording, and what they took counts as idle.
  bool gpu_busy_is_least = false;
  std::optional<double> matrix_time_share;  // share of kernel time: products, convolutions, attention
  std::optional<double>
      matrix_unit_share;           // share of that time on tensor cores; absent if the kernel names do not show it
  std::optional<double> mfu;       // FLOPs known from shapes, of the dense peak over the analysed time
  double mfu_coverage = 0;         // share of matrix kernel time with known FLOPs; below 1 the MFU is a lower bound
  std::optional<Scaling> scaling;  // scaling of several ranks, or against a run on one GPU
  std::optional<double> pageable_share;  // share of host-device copy time from or to pageable memory
  // The finest class of the limiting resource: "input bound", "launch bound", "sync bound", "host bound",
  // "communication bound", "copy bound", "compute bound", "memory bound", "warm-up" (a cold start: later steps differ),
  // "unknown" (idle, and the recording does not show why). Empty: no device did any work.
  std::string run_class;
  // The same in the five words of the trade: "I/O", "CPU", "communication", "GPU compute", "GPU memory"; empty with
  // an empty or unknown class.
  std::string_view limit;
  std::string class_evidence;             // one sentence with the numbers; empty with run_class
  std::vector<PlanStep> plan{};           // the fixes worth making, each once, the one that brings most first
  std::optional<Combination> together{};  // absent: the plan is empty
  std::optional<Gain> estimated_speedup;  // estimated speedup of `together`
  // 0–100, the mean over the GPUs: the share of time in which multiprocessors have work ("sm_active", by DCGM), else
  // that in which a kernel runs by the driver ("nvml"), else that of the recording ("busy_share"); absent: no GPU.
  std::optional<double> gpu_utilization{};
  std::string_view gpu_utilization_source{};
  std::vector<HostBreakdown> host_breakdown{};  // one per process, where none used a device; else empty
};

}  // namespace gapless
