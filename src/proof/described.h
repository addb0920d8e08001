// SPDX-License-Identifier: Apache-2.0
// Descriptions of what a measurement shows (base/describe.h): the parts that documents of several commands share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/described_times.h"
#include "proof/inference.h"
#include "proof/metrics.h"
#include "validate/metric_change.h"
#include "validate/pair_sequence.h"
#include "validate/parity.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<SampleSource> = static_cast<int64_t>(SampleSource::kPattern) + 1;
template <>
inline constexpr int64_t kValuesOf<SpeedVerdict> = static_cast<int64_t>(SpeedVerdict::kCannotTell) + 1;
template <>
inline constexpr int64_t kValuesOf<ParityVerdict> = static_cast<int64_t>(ParityVerdict::kCannotTell) + 1;
template <>
inline constexpr int64_t kValuesOf<Precision> = static_cast<int64_t>(Precision::kInt8) + 1;

template <>
struct Described<RatioInterval> {
  static constexpr FieldInfo kFields[] = {
      Field<&RatioInterval::low>("low", "ratio", "lower end of the 95 % interval; missing: not bounded yet"),
      Field<&RatioInterval::expected>("expected", "ratio", "speed-up"),
      Field<&RatioInterval::high>("high", "ratio", "upper end of the interval; missing: not bounded yet"),
  };
};

template <>
struct Described<InferenceMetrics> {
  static constexpr FieldInfo kFields[] = {
      Field<&InferenceMetrics::latency_mean_ms>("latency_mean_ms", "ms", "mean latency of a request"),
      Field<&InferenceMetrics::latency_p50_ms>("latency_p50_ms", "ms", "50th percentile"),
      Field<&InferenceMetrics::latency_p95_ms>("latency_p95_ms", "ms", "95th percentile; from 20 requests"),
      Field<&InferenceMetrics::latency_p99_ms>("latency_p99_ms", "ms", "99th percentile; from 100 requests"),
      Field<&InferenceMetrics::requests_per_second>("requests_per_second", "1/s", "one request after the other"),
      Field<&InferenceMetrics::samples_per_second>("samples_per_second", "1/s", "rows of all requests"),
      Field<&InferenceMetrics::time_to_first_token_p50_ms>("time_to_first_token_p50_ms", "ms", "50th percentile"),
      Field<&InferenceMetrics::time_to_first_token_p95_ms>("time_to_first_token_p95_ms", "ms",
                                                           "95th percentile; from 20 requests"),
      Field<&InferenceMetrics::time_per_output_token_ms>("time_per_output_token_ms", "ms", "median after the first"),
      Field<&InferenceMetrics::tokens_per_second>("tokens_per_second", "1/s", "tokens of all requests"),
      Hidden<&InferenceMetrics::requests>(),
      Hidden<&InferenceMetrics::writes_text>(),
      Hidden<&InferenceMetrics::latencies_ms>(),
  };
};

namespace documents {

// The number of --metric on both sides, and whether it stays.
struct PrintedMetric {
  std::string name{};
  double before = 0, after = 0, allowed = 0;
  std::string basis{};
  size_t runs_before = 0, runs_after = 0;
  bool changed = false;
  static constexpr FieldInfo kFields[] = {
      Field<&PrintedMetric::name>("name", "", "name of --metric"),
      Field<&PrintedMetric::before>("before", "", "mean over the runs without the change"),
      Field<&PrintedMetric::after>("after", "", "mean over the runs with it"),
      Field<&PrintedMetric::allowed>("allowed", "", "a larger difference is a change"),
      Field<&PrintedMetric::basis>("basis", "",
                                   "noise: 99 % interval of what runs differ by; floor: 1 % of the number; exact"),
      Field<&PrintedMetric::runs_before>("runs_before", "count", "runs without the change"),
      Field<&PrintedMetric::runs_after>("runs_after", "count", "runs with it"),
      Field<&PrintedMetric::changed>("changed", "", "it is another result"),
  };
};

struct Metrics {
  std::optional<double> samples_per_second{}, gpu_utilization{};
  std::string gpu_utilization_source{};
  std::optional<double> memory_usage_gb{};
  std::string memory_usage_source{};
  std::optional<double> memory_bytes{}, energy_j{};
  double step_time_ms = 0;
  std::optional<double> step_time_p50_ms{}, step_time_p95_ms{}, step_time_p99_ms{};
  std::optional<double> step_time_std_ms{};
  std::optional<StepTimes> step_ns{};
  std::optional<double> joules_per_step{}, samples_per_joule{};
  static constexpr FieldInfo kFields[] = {
      Field<&Metrics::samples_per_second>("samples_per_second", "1/s", "samples a second, of all ranks"),
      Field<&Metrics::gpu_utilization>("gpu_utilization", "percent", "mean over the GPUs"),
      Field<&Metrics::gpu_utilization_source>("gpu_utilization_source", "", "how it was measured", kUnlessEmpty),
      Field<&Metrics::memory_usage_gb>("memory_usage_gb", "1e9 bytes", "peak memory"),
      Field<&Metrics::memory_usage_source>("memory_usage_source", "", "how it was measured", kUnlessEmpty),
      Field<&Metrics::memory_bytes>("memory_bytes", "bytes", "the same peak memory"),
      Field<&Metrics::energy_j>("energy_j", "J", "energy of the GPUs"),
      Field<&Metrics::step_time_ms>("step_time_ms", "ms", "mean of a step, a process or a value of the pattern"),
      Field<&Metrics::step_time_p50_ms>("step_time_p50_ms", "ms", "50th percentile"),
      Field<&Metrics::step_time_p95_ms>("step_time_p95_ms", "ms", "95th percentile"),
      Field<&Metrics::step_time_p99_ms>("step_time_p99_ms", "ms", "99th percentile"),
      Field<&Metrics::step_time_std_ms>("step_time_std_ms", "ms", "standard deviation"),
      Field<&Metrics::step_ns>("step_ns", "", "the same durations in ns; missing for values of a pattern"),
      Field<&Metrics::joules_per_step>("joules_per_step", "J", "energy of a step, all GPUs that did work"),
      Field<&Metrics::samples_per_joule>("samples_per_joule", "1/J", "samples for a joule of these GPUs"),
  };
};

struct Environment {
  std::string host{}, cpu{};
  int64_t cores = 0;
  std::string fingerprint{}, kernel{}, framework{}, driver{}, gpu_type{};
  size_t num_gpus = 0;
  std::string device{};
  std::optional<double> gpu_clock_mean_hz{};
  std::optional<std::string> commit{};
  std::string branch{};
  std::optional<bool> dirty{};
  static constexpr FieldInfo kFields[] = {
      Field<&Environment::host>("host", "", "name of the machine"),
      Field<&Environment::cpu>("cpu", "", "model of the processor"),
      Field<&Environment::cores>("cores", "count", "cores that the process may use"),
      Field<&Environment::fingerprint>("fingerprint", "", "the same for machines of a kind: processor, cores, GPUs"),
      Field<&Environment::kernel>("kernel", "", "operating system"),
      Field<&Environment::framework>("framework", "", "versions of PyTorch and CUDA", kUnlessEmpty),
      Field<&Environment::driver>("driver", "", "version of the GPU's driver", kUnlessEmpty),
      Field<&Environment::gpu_type>("gpu_type", "", "model of the first GPU", kUnlessEmpty),
      Field<&Environment::num_gpus>("num_gpus", "count", "GPUs of the machine", kUnlessEmpty),
      Field<&Environment::device>("device", "", "gpu or cpu: what the steps ran on", kUnlessEmpty),
      Field<&Environment::gpu_clock_mean_hz>("gpu_clock_mean_hz", "Hz", "mean clock of the multiprocessors"),
      Field<&Environment::commit>("commit", "", "commit of the working folder"),
      Field<&Environment::branch>("branch", "", "its branch", kUnlessEmpty),
      Field<&Environment::dirty>("dirty", "", "true: with changes that are not committed"),
  };
};

// Parity is the decision about two trainings, as all commands print it.
struct Parity {
  ParityVerdict verdict = ParityVerdict::kCannotTell;
  std::optional<Precision> unit{};
  std::string reason{};
  size_t steps = 0;
  std::string test{};
  std::optional<size_t> step{};
  std::string tensor{};
  std::optional<double> value{}, limit{}, seen_from{};
  std::vector<std::string> differences{};
  static constexpr FieldInfo kFields[] = {
      Field<&Parity::verdict>("verdict", "", "is B the same training as A?"),
      Field<&Parity::unit>("unit", "", "with rounding: the finest precision that explains it"),
      Field<&Parity::reason>("reason", "", "the decision as a sentence"),
      Field<&Parity::steps>("steps", "count", "steps that were compared"),
      Field<&Parity::test>("test", "", "id of the test that decided", kUnlessEmpty),
      Field<&Parity::step>("step", "count", "step where it shows first, from 1"),
      Field<&Parity::tensor>("tensor", "", "parameter or buffer that decided", kUnlessEmpty),
      Field<&Parity::value>("value", "", "what the test compared"),
      Field<&Parity::limit>("limit", "", "what it was compared with"),
      Field<&Parity::seen_from>(
          "seen_from", "share",
          "smallest difference of gradients (with other random numbers: of loss and gradient norm, "
          "in nine of ten comparisons) that would have been seen"),
      Field<&Parity::differences>(
          "differences", "", "what the two programs are: transforms, sampler, loss, schedule, code, …", kUnlessEmpty),
  };
};

}  // namespace documents

documents::Metrics MetricsDocument(const PerformanceMetrics& metrics, SampleSource source);
documents::Environment EnvironmentDocument(const RunSample& sample);
documents::Parity ParityDocument(const ParityReport& report);
std::optional<documents::PrintedMetric> MetricDocument(std::string_view name,
                                                       const std::optional<MetricChange>& change);
// Absent where the document counts steps from 0, which no comparison does.
std::optional<ParityReport> ParityFrom(const documents::Parity& parity);

}  // namespace gapless::internal
