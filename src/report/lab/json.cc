// SPDX-License-Identifier: Apache-2.0
// The document of `gapless report --style lab --json`: the numbers that the write-up is made of, without its sentences.
// Pictures and texts are Hidden, because they follow from the numbers.
#include "base/described_json.h"
#include "report/described.h"
#include "report/lab/lab.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kStepMsHelp = "median duration of a step", kRateHelp = "samples a second";

}  // namespace

template <>
struct Described<LabRatio> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabRatio::low>(
          "low", "ratio",
          "lower end of the interval: 95 % of what was measured, 80 % of what was predicted; missing: not bounded"),
      Field<&LabRatio::expected>("expected", "ratio", "speed-up"),
      Field<&LabRatio::high>("high", "ratio", "upper end of the interval; missing: not bounded"),
  };
};

template <>
struct Described<LabStage> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabStage::name>("name", "", "the stage: baseline, a fix, or all"),
      Field<&LabStage::step_ms>("step_time_ms", "ms", kStepMsHelp),
      Field<&LabStage::samples_per_second>("samples_per_second", "1/s", kRateHelp),
      Field<&LabStage::predicted>("predicted", "", "predicted speed-up"),
      Field<&LabStage::measured>("measured", "", "measured speed-up"),
      Field<&LabStage::memory_bytes>("memory_bytes", "bytes", "peak of the GPU's memory"),
      Field<&LabStage::memory_source>("memory_source", "", "how the memory was measured", kUnlessEmpty),
      Field<&LabStage::gpu_utilization>("gpu_utilization", "percent", "mean over the GPUs"),
      Field<&LabStage::gpu_utilization_source>("gpu_utilization_source", "", "how it was measured", kUnlessEmpty),
      Field<&LabStage::loss>("loss", "", "the last loss"),
      Field<&LabStage::metric>("metric", "", "the metric of the command"),
      Field<&LabStage::losses>("losses", "", "loss of each step; null where none was seen", kUnlessEmptyOrNull),
      Field<&LabStage::noise>("noise", "", "what disturbed the measurement", kUnlessEmpty),
  };
};

template <>
struct Described<LabOperator> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabOperator::name>("name", "", "operator or kernel"),
      Field<&LabOperator::calls>("calls_per_step", "", "calls a step"),
      Field<&LabOperator::self_ns>("self_ns_per_step", "ns", "self time a step"),
  };
};

template <>
struct Described<LabReason> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabReason::fix>("fix", "", "fix and its value"),
      Field<&LabReason::text>("reason", "", "why it was not kept or not tried"),
  };
};

template <>
struct Described<LabOptimization> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabOptimization::name>("name", "", "as the user gave it"),
      Field<&LabOptimization::command>("command", "", "the command that was optimised"),
      Field<&LabOptimization::about>("about", "", "where it ran, and on what", kUnlessEmpty),
      Field<&LabOptimization::proved>("proved", "", "true: all fixes together are faster, and the same training"),
      Field<&LabOptimization::conclusion>("conclusion", "", "the result as a sentence", kUnlessEmpty),
      Field<&LabOptimization::speedup>("speedup", "", "measured speed-up of all fixes together"),
      Field<&LabOptimization::stages>("table", "", "the baseline, each fix that stayed, then all together"),
      Field<&LabOptimization::refused>("refused", "", "fixes that were tried and not kept"),
      Field<&LabOptimization::untried>("untried", "", "fixes that were not tried"),
      Field<&LabOptimization::training>("training", "", "verdict on the training: is it the same?", kUnlessEmpty),
      Hidden<&LabOptimization::metric_name>(),
      Hidden<&LabOptimization::warnings>(),
      Hidden<&LabOptimization::took_s>(),
      Hidden<&LabOptimization::budget_s>(),
  };
};

template <>
struct Described<LabScalingPoint> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabScalingPoint::ranks>("ranks", "count", "processes that trained"),
      Field<&LabScalingPoint::step_ms>("step_time_ms", "ms", kStepMsHelp),
      Field<&LabScalingPoint::samples_per_second>("samples_per_second", "1/s", kRateHelp),
      Field<&LabScalingPoint::speedup>("speedup", "", "against the fewest ranks"),
      Field<&LabScalingPoint::efficiency>("efficiency", "", "speed-up per rank, 1 is perfect"),
  };
};

template <>
struct Described<LabScaling> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabScaling::name>("name", "", "as the user gave it"),
      Field<&LabScaling::kind>("scaling", "", "weak, strong or unknown"),
      Field<&LabScaling::points>("points", "", "one for each number of ranks"),
  };
};

template <>
struct Described<LabTuning> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabTuning::name>("name", "", "as the user gave it"),
      Field<&LabTuning::settings>("settings", "", "the settings that were measured"),
      Field<&LabTuning::best>("best", "count", "index of the fastest"),
  };
};

template <>
struct Described<LabHistory> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabHistory::heading>("heading", "", "the history in one line"),
      Hidden<&LabHistory::svg>(),
      Hidden<&LabHistory::sentences>(),
  };
};

template <>
struct Described<LabRecording> {
  static constexpr FieldInfo kFields[] = {
      Field<&LabRecording::name>("name", "", "as the user gave it"),
      Field<&LabRecording::device>("device", "", "number and model of the GPUs; missing: no GPU worked", kUnlessEmpty),
      Field<&LabRecording::steps>("steps", "count", "recorded steps"),
      Field<&LabRecording::step_ns>("step_ns", "ns", "median of the recorded steps"),
      Field<&LabRecording::step_p95_ns>("step_p95_ns", "ns", "95th percentile of the recorded steps"),
      Field<&LabRecording::added_share>("recording_added_share", "", "fraction of a recorded step that recording adds"),
      Field<&LabRecording::gpu_utilization>("gpu_utilization", "percent", "mean over the GPUs"),
      Field<&LabRecording::gpu_utilization_source>("gpu_utilization_source", "", "how it was measured", kUnlessEmpty),
      Field<&LabRecording::cpu_utilization>("cpu_utilization", "percent", "of all processors of the host"),
      Field<&LabRecording::run_class>("class", "", "what limits the run", kUnlessEmpty),
      Field<&LabRecording::operators>("operators_per_step", "", "operators a step"),
      Field<&LabRecording::launches>("launches_per_step", "", "kernel launches a step"),
      Hidden<&LabRecording::class_evidence>(),
      Hidden<&LabRecording::bottlenecks>(),
      Hidden<&LabRecording::potential>(),
      Hidden<&LabRecording::is_device_time>(),
      Hidden<&LabRecording::top>(),
      Hidden<&LabRecording::picture>(),
      Hidden<&LabRecording::predicted>(),
      Hidden<&LabRecording::losses>(),
  };
};

namespace documents {

// The members of a bottleneck that the write-up shows; `gapless analyze --json` has all of them.
struct LabBottleneck {
  std::string id{};
  BottleneckType type = BottleneckType::kKernelEfficiency;
  double severity = 0;
  std::string title{};
  std::optional<double> share_of_step{};
  std::optional<LabRatio> gain{};
  static constexpr FieldInfo kFields[] = {
      Field<&LabBottleneck::id>("id", "", "id of the rule"),
      Field<&LabBottleneck::type>("type", "", "kind of bottleneck"),
      Field<&LabBottleneck::severity>("severity", "share", "above 0.7 critical, from 0.4 a warning"),
      Field<&LabBottleneck::title>("title", "", "what is slow, with the cost"),
      Field<&LabBottleneck::share_of_step>("share_of_step", "share", "fraction of the analysed time that is affected"),
      Field<&LabBottleneck::gain>("gain", "", "what its fix saves after everything above it is fixed"),
  };
};

// A recording, with its findings in short.
struct LabRecorded {
  Borrowed<LabRecording> recording{};
  std::vector<LabBottleneck> bottlenecks{};
  std::optional<LabRatio> estimated_speedup{};
  Borrowed<std::vector<LabOperator>> operators{};
  Borrowed<std::vector<double>> losses{};
  static constexpr FieldInfo kFields[] = {
      Spliced<&LabRecorded::recording>(),
      Field<&LabRecorded::bottlenecks>("bottlenecks", "", "in the order of the report"),
      Field<&LabRecorded::estimated_speedup>("estimated_speedup", "", "predicted gain of the whole plan"),
      Field<&LabRecorded::operators>("operators", "", "those with the most self time"),
      Field<&LabRecorded::losses>("losses", "", "loss of each step; null where none was seen", kUnlessEmptyOrNull),
  };
};

struct LabReport {
  std::string_view style = "lab";
  std::vector<LabRecorded> recordings{};
  Borrowed<std::vector<LabOptimization>> optimizations{};
  Borrowed<std::vector<LabStage>> stages{};
  Borrowed<std::vector<LabScaling>> scaling{};
  Borrowed<std::vector<LabTuning>> tuning{};
  Borrowed<std::vector<LabHistory>> history{};
  static constexpr FieldInfo kFields[] = {
      Field<&LabReport::style>("style", "", "lab"),
      Field<&LabReport::recordings>("recordings", "", "recordings, in the order given"),
      Field<&LabReport::optimizations>("optimizations", "", "results of gapless optimize"),
      Field<&LabReport::stages>("stages", "", "results of gapless bench"),
      Field<&LabReport::scaling>("scaling", "", "results of gapless bench --scaling"),
      Field<&LabReport::tuning>("tuning", "", "results of gapless tune"),
      Field<&LabReport::history>("history", "", "histories of benchmarks"),
  };
};

}  // namespace documents

namespace {

using namespace documents;

// Takes the interval of a gain; its bounds are those of an 80 % prediction interval.
std::optional<LabRatio> RatioOf(const std::optional<Gain>& gain) {
  if (!gain) return std::nullopt;
  return LabRatio{gain->low, gain->high, gain->expected};
}

}  // namespace

constinit const TypeInfo kLabDocument = describe::MakeType<LabReport>();

std::string LabJson(const LabView& view) {
  LabReport document{.optimizations = {&view.optimizations},
                     .stages = {&view.stages},
                     .scaling = {&view.scalings},
                     .tuning = {&view.tunings},
                     .history = {&view.histories}};
  for (const LabRecording& recording : view.recordings) {
    LabRecorded& recorded = document.recordings.emplace_back();
    recorded = {.recording = {&recording},
                .estimated_speedup = RatioOf(recording.potential),
                .operators = {&recording.top},
                .losses = {&recording.losses}};
    for (const Bottleneck& found : recording.bottlenecks)
      recorded.bottlenecks.push_back(
          {found.id, found.type, found.severity, found.title, found.share_of_step, RatioOf(found.gain)});
  }
  std::vector<std::string> warnings;
  for (const LabOptimization& optimization : view.optimizations)
    warnings.insert(warnings.end(), optimization.warnings.begin(), optimization.warnings.end());
  return DocumentOf("report", kLabDocument, &document, warnings);
}

}  // namespace gapless::internal
