// SPDX-License-Identifier: Apache-2.0
// Descriptions of the public types that JSON documents hold (base/describe.h): for each member its name in JSON, its
// unit and its meaning. Definitions of the quantities are in docs/definitions.md.
//
// The public headers must not include anything of src/, so their descriptions stand here. A member that is missing from
// its list does not compile; one that is not to be written is Hidden. Scripts rely on the names: add, never change.
#pragma once

#include "base/describe.h"
#include "base/described_times.h"
#include "diagnose/cost.h"
#include "gapless/bottleneck.h"
#include "gapless/result.h"
#include "gapless/summary.h"
#include "trace/enums.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<BottleneckType> = static_cast<int64_t>(BottleneckType::kRecording) + 1;
template <>
inline constexpr int64_t kValuesOf<Severity> = std::size(kSeverityNames);
template <>
inline constexpr int64_t kValuesOf<Role> = std::size(kRoleNames);

template <>
struct Described<Gain> {
  static constexpr FieldInfo kFields[] = {
      Field<&Gain::low>("low", "ratio", "lower end of the 80 % prediction interval of the speed-up"),
      Field<&Gain::expected>("expected", "ratio", "expected speed-up of the whole step"),
      Field<&Gain::high>("high", "ratio", "upper end of the interval"),
      Field<&Gain::confidence>("confidence", "share", "confidence in the model"),
      Field<&Gain::method>("method", "", "replay of the recording, or amdahl: estimated from the affected time",
                           kUnlessEmpty),
      Field<&Gain::tested_programs>("tested_programs", "count",
                                    "programs on such a machine on which such a fix was tested; missing: not asked"),
  };
};

template <>
struct Described<Evidence> {
  static constexpr FieldInfo kFields[] = {
      Field<&Evidence::text>("text", "", "one sentence with the numbers in it"),
      Field<&Evidence::value>("value", "", "the number"),
      Field<&Evidence::unit>("unit", "", "unit of value", kUnlessEmpty),
      Field<&Evidence::table>("table", "", "table or analysis that shows it", kUnlessEmpty),
      Field<&Evidence::rows>("rows", "count", "ids of its rows, the 20 largest at most", kUnlessEmpty),
      Field<&Evidence::source>("source", "", "file:line of the user's code; function() (file) where no line is known",
                               kUnlessEmpty),
  };
};

template <>
struct Described<Recommendation> {
  static constexpr FieldInfo kFields[] = {
      Field<&Recommendation::text>("text", "", "the advice, with the values found"),
      Field<&Recommendation::fix>("fix", "", "item of `predict --what` that stands for it", kUnlessEmpty),
      Field<&Recommendation::code>("code", "", "a line or two to paste", kUnlessEmpty),
      Field<&Recommendation::effort>("effort", "", "minutes, hours or days", kUnlessEmpty),
  };
};

template <>
struct Described<Bottleneck> {
  static constexpr FieldInfo kFields[] = {
      Field<&Bottleneck::id>("id", "", "id of the rule"),
      Field<&Bottleneck::type>("type", "", "kind of bottleneck"),
      Field<&Bottleneck::severity>("severity", "share", "above 0.7 critical, from 0.4 a warning"),
      Field<&Bottleneck::title>("title", "", "what is slow, with the cost"),
      Field<&Bottleneck::description>("description", "", "what was measured, and what it means"),
      Field<&Bottleneck::share_of_step>("share_of_step", "share", "fraction of the analysed time that is affected"),
      Field<&Bottleneck::evidence>("evidence", "", "the numbers behind it"),
      Field<&Bottleneck::recommendations>("recommendations", "", "what to do about it"),
      Field<&Bottleneck::gain>("gain", "", "what its fix saves after everything above it is fixed"),
      Field<&Bottleneck::part_of>("part_of", "", "id of a bottleneck that claims the same time in more general terms",
                                  kUnlessEmpty),
      Field<&Bottleneck::cured_by>(
          "cured_by", "", "id of the bottleneck above whose fix cures this one, too: it has no gain of its own",
          kUnlessEmpty),
      Field<&Bottleneck::step_left>("step_left", "ratio",
                                    "fraction of the recorded step that is left when all above it is fixed"),
      Field<&Bottleneck::why_first>("why_first", "", "why it is the first to fix", kUnlessEmpty),
      Field<&Bottleneck::also>("also", "", "what its fix does beside the affected time", kUnlessEmpty),
      Field<&Bottleneck::apart>("apart", "", "its fix changes the training: a choice beside the plan, in no sum",
                                kUnlessEmpty),
  };
};

template <>
struct Described<Amount> {
  static constexpr FieldInfo kFields[] = {
      Field<&Amount::money>("money", "", "in the money of --price"),
      Field<&Amount::kwh>("kwh", "kWh", "energy of the GPUs"),
      Field<&Amount::carbon_kg>("carbon_kg", "kg", "carbon dioxide of that energy"),
  };
};

template <>
struct Described<Saving> {
  static constexpr FieldInfo kFields[] = {
      Field<&Saving::low>("low", "", "at the low end of the gain"),
      Field<&Saving::expected>("expected", "", "at the expected gain"),
      Field<&Saving::high>("high", "", "at the high end of the gain"),
  };
};

template <>
struct Described<DeviceBreakdown> {
  static constexpr FieldInfo kFields[] = {
      Field<&DeviceBreakdown::trace>("trace", "count", "key of table trace"),
      Field<&DeviceBreakdown::rank>("rank", "count", "rank of the process; missing: none was recorded"),
      Field<&DeviceBreakdown::device>("device", "", "number of the device"),
      Field<&DeviceBreakdown::device_name>("device_name", "", "name of the device", kUnlessEmpty),
      Field<&DeviceBreakdown::wall_ns>("wall_ns", "ns", "analysed time"),
      Field<&DeviceBreakdown::compute_ns>("compute_ns", "ns", "a kernel that computes runs"),
      Field<&DeviceBreakdown::exposed_comm_ns>("exposed_comm_ns", "ns", "only communication runs"),
      Field<&DeviceBreakdown::exposed_copy_ns>("exposed_copy_ns", "ns", "only copies run"),
      Field<&DeviceBreakdown::idle_ns>("idle_ns", "ns", "nothing runs"),
      Field<&DeviceBreakdown::idle_data_ns>("idle_data_ns", "ns", "the GPU waits for data"),
      Field<&DeviceBreakdown::idle_launch_ns>("idle_launch_ns", "ns", "the GPU waits for launches"),
      Field<&DeviceBreakdown::idle_sync_ns>("idle_sync_ns", "ns", "the host waited for the GPU before"),
      Field<&DeviceBreakdown::idle_host_ns>("idle_host_ns", "ns", "the GPU waits for other work of the host"),
      Field<&DeviceBreakdown::idle_unknown_ns>("idle_unknown_ns", "ns", "nothing recorded says why"),
  };
};

template <>
struct Described<HostBreakdown> {
  static constexpr FieldInfo kFields[] = {
      Field<&HostBreakdown::trace>("trace", "count", "key of table trace"),
      Field<&HostBreakdown::rank>("rank", "count", "rank of the process; missing: none was recorded"),
      Field<&HostBreakdown::steps>("steps", "count", "analysed steps; 0: none is marked, and all is divided"),
      Field<&HostBreakdown::wall_ns>("wall_ns", "ns", "analysed time"),
      Field<&HostBreakdown::operator_ns>("operator_ns", "ns", "in operators"),
      Field<&HostBreakdown::optimizer_ns>("optimizer_ns", "ns", "in the optimiser"),
      Field<&HostBreakdown::collective_ns>("collective_ns", "ns", "a collective is under way and no operator runs"),
      Field<&HostBreakdown::data_ns>("data_ns", "ns", "waiting for the data loader"),
      Field<&HostBreakdown::python_ns>("python_ns", "ns", "in Python between operators"),
      Field<&HostBreakdown::save_ns>("save_ns", "ns", "writing checkpoints"),
      Field<&HostBreakdown::gc_ns>("gc_ns", "ns", "in Python's garbage collection"),
      Field<&HostBreakdown::compile_ns>("compile_ns", "ns", "compiling"),
  };
};

template <>
struct Described<Scaling> {
  static constexpr FieldInfo kFields[] = {
      Field<&Scaling::devices>("devices", "count", "devices that took part"),
      Field<&Scaling::step_ns>("step_ns", "ns", "median over the devices of their median step", kUnlessEmpty),
      Field<&Scaling::efficiency>("efficiency", "", "0–1; above 1 when the run on one GPU was slower"),
      Field<&Scaling::estimated>("estimated", "", "true: an upper bound, made without a run on one GPU"),
  };
};

template <>
struct Described<PlanStep> {
  static constexpr FieldInfo kFields[] = {
      Field<&PlanStep::id>("bottleneck", "", "id of the bottleneck that it is for"),
      Field<&PlanStep::fix>(
          "fix", "", "item of `predict --what`; missing: its gain is an estimate of the affected time", kUnlessEmpty),
      Field<&PlanStep::cures>("cures", "", "other bottlenecks that the same fix cures"),
      Field<&PlanStep::gain>("gain", "", "after the fixes before it"),
      Field<&PlanStep::so_far>("so_far", "", "with all fixes up to this one"),
  };
};

template <>
struct Described<Combination> {
  static constexpr FieldInfo kFields[] = {
      Field<&Combination::ids>("bottlenecks", "", "ids of the bottlenecks of the plan"),
      Field<&Combination::fixes>("fixes", "", "items of `predict --what` that were replayed"),
      Field<&Combination::gain>("gain", "", "gain of the whole plan"),
      Field<&Combination::replayed>("replayed", "", "gain of `fixes` alone; missing: nothing could be replayed"),
      Field<&Combination::estimated>("estimated", "", "bottlenecks whose gain is an estimate of the affected time"),
      Field<&Combination::left_out>("left_out", "", "bottlenecks whose fix is a choice beside the plan"),
      Field<&Combination::untested>("untested", "", "fixes of which no prediction was tested on such a machine"),
  };
};

template <>
struct Described<RunSummary> {
  static constexpr FieldInfo kFields[] = {
      Field<&RunSummary::ranks>("ranks", "count", "ranks, ascending; empty: no recording has a rank"),
      Field<&RunSummary::workload>("workload", "", "training, inference or serving", kUnlessEmpty),
      Field<&RunSummary::steps>("steps", "count", "complete steps, of the rank with the most", kUnlessEmpty),
      Field<&RunSummary::step_ns>("step_ns", "", "durations of the complete steps"),
      Field<&RunSummary::gpu_busy_share>("gpu_busy_share", "share",
                                         "fraction of the analysed time in which a GPU works"),
      Field<&RunSummary::gpu_busy_is_least>("gpu_busy_is_least", "",
                                            "true where that is a lower bound: operations are missing", kUnlessEmpty),
      Field<&RunSummary::gpu_utilization>("gpu_utilization", "percent", "mean over the GPUs"),
      Field<&RunSummary::gpu_utilization_source>("gpu_utilization_source", "", "sm_active, nvml or busy_share",
                                                 kUnlessEmpty),
      Field<&RunSummary::mean_step_ns>("mean_step_ns", "ns",
                                       "analysed time per step and device, time between steps included"),
      Field<&RunSummary::run_class>("class", "", "what limits the run, finely: input bound, launch bound, …",
                                    kUnlessEmpty),
      Field<&RunSummary::limit>("limit", "", "the same as I/O, CPU, communication, GPU compute or GPU memory",
                                kUnlessEmpty),
      Field<&RunSummary::class_evidence>("class_evidence", "", "one sentence with the numbers", kUnlessEmpty),
      Field<&RunSummary::matrix_time_share>("matrix_time_share", "share",
                                            "fraction of kernel time: products, convolutions, attention"),
      Field<&RunSummary::matrix_unit_share>("matrix_unit_share", "share", "fraction of that time on tensor cores"),
      Field<&RunSummary::pageable_share>("pageable_share", "share",
                                         "fraction of copy time between host and device from or to pageable memory"),
      Field<&RunSummary::mfu>("mfu", "", "model FLOPs utilisation: FLOPs known from shapes, of the dense peak"),
      Field<&RunSummary::mfu_coverage>(
          "mfu_coverage", "share", "fraction of matrix kernels' time with known FLOPs; below 1 mfu is a lower bound",
          kUnlessEmpty),
      Field<&RunSummary::scaling>("scaling", "", "of several ranks, or against a run on one GPU (--single)"),
      Hidden<&RunSummary::host_breakdown>(),
      Hidden<&RunSummary::breakdown>(),
      Hidden<&RunSummary::total>(),
      Hidden<&RunSummary::plan>(),
      Hidden<&RunSummary::together>(),
      Hidden<&RunSummary::estimated_speedup>(),
  };
};

template <>
struct Described<Error> {
  static constexpr FieldInfo kFields[] = {
      Hidden<&Error::code>(),
      Field<&Error::message>("message", "", "what failed, and why"),
      Field<&Error::place>("place", "", "file or option it is about", kUnlessEmpty),
      Field<&Error::hint>("hint", "", "one thing to do", kUnlessEmpty),
  };
};

}  // namespace gapless::internal
