// SPDX-License-Identifier: Apache-2.0
// What the verbs that measure commands share (bench, compare, gate, bisect): their options, what is asked of a run,
// what is said of it in text and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "cli/command.h"
#include "trial/process_run.h"

namespace gapless::internal {

inline constexpr auto kTakesValue = OptionSpec::Takes::kValue;
inline constexpr OptionSpec kWarmupOption = {
    .name = "warmup", .takes = kTakesValue, .value = "N", .help = "Steps of each process that do not count (10)"};
inline constexpr OptionSpec kStepsOption = {
    .name = "steps", .takes = kTakesValue, .value = "N", .help = "Steps to measure; then the program is stopped (100)"};
inline constexpr OptionSpec kPatternOption = {.name = "pattern",
                                              .takes = kTakesValue,
                                              .value = "REGEX",
                                              .help = "Measure the numbers that match in the output instead"};
inline constexpr OptionSpec kWholeOption = {.name = "whole",
                                            .help = "Measure the time of the whole process, also where steps are seen"};
inline constexpr OptionSpec kToTheEndOption = {.name = "to-the-end",
                                               .help = "Do not stop the program once it is measured"};
inline constexpr OptionSpec kTimeoutOption = {
    .name = "timeout", .takes = kTakesValue, .value = "TIME", .help = "End a process that runs longer: 90s, 10m, 2h"};
inline constexpr OptionSpec kShowOutputOption = {.name = "show-output", .help = "Let the program's output through"};

// "90", "90s", "10m", "2h" as seconds.
Result<std::optional<double>> TimeFrom(const Arguments& arguments, std::string_view option);
// "2%" or "0.02" as a share below one.
Result<double> ShareFrom(const Arguments& arguments, std::string_view option, double fallback);

// By the options above, where the verb has them.
Result<RunRequest> RequestFrom(const Arguments& arguments, std::vector<std::string> command);

// Runs it once. An error when it failed, was interrupted, or measured nothing above zero.
Result<RunSample> RunMeasured(const RunRequest& request);

// What a failed process means for the verb: exit status 5, with the end of what the program said.
Unexpected FailureOf(const RunSample& sample, const std::vector<std::string>& command);

// The metrics of docs/BENCHMARKING.md; absent where unknown.
struct BenchMetrics {
  std::optional<double> samples_per_second{}, gpu_utilization{}, memory_usage_gb{}, energy_j{};
  std::string gpu_utilization_source{}, memory_source{};
  double step_time_ms = 0;  // mean
  double p50_ms = 0, p95_ms = 0, p99_ms = 0;
  std::optional<double> std_ms{};
};
// Of one process, or of several of the same command: their steps together; where whole processes are measured, a
// process counts as a step.
std::optional<BenchMetrics> MetricsOf(const std::vector<RunSample>& samples);

void WriteMetrics(JsonWriter& json, const BenchMetrics& metrics);
// Host, GPUs, driver, framework, commit: what a result must be compared with.
void WriteEnvironment(JsonWriter& json, const RunSample& sample);
// What was seen that makes the numbers worse than they need be: other processes, throttling, a changing clock.
std::vector<std::string> NoiseSeen(const RunSample& sample);

}  // namespace gapless::internal
