// SPDX-License-Identifier: Apache-2.0
// Implements the public Validator: translates options to those of proof/ and the results back to public types. It makes
// no decision of its own.
//
// Commands are checked before a process starts. Whatever the measured program prints goes to standard error, because
// standard output belongs to the caller.
#include "gapless/validator.h"

#include <algorithm>
#include <random>
#include <utility>

#include "proof/measure.h"
#include "proof/metrics.h"
#include "proof/same_training.h"
#include "proof/scaling.h"
#include "proof/validation.h"

namespace gapless {
namespace {

// Returns the request for one measured process. A run of no steps cannot be measured, so 0 steps become 1.
internal::RunRequest RequestFor(const std::vector<std::string>& command, const MeasureOptions& options) {
  internal::RunRequest request;
  request.command = command;
  request.warmup = options.warmup_steps;
  request.measure = std::max<size_t>(1, options.num_steps);
  request.pattern = options.pattern;
  request.whole_process = options.whole_process;
  request.timeout_s = options.timeout_s;
  request.output_to_stderr = true;
  return request;
}

Result<void> CheckCommand(const std::vector<std::string>& command) {
  if (!command.empty() && !command[0].empty()) return {};
  return internal::Fail(ErrorCode::kUsage, "cannot run: no command given");
}

PerformanceMetrics MetricsFrom(const std::vector<internal::RunSample>& samples) {
  return internal::MetricsOf(samples).value_or(PerformanceMetrics{});
}

// Translates a comparison. Loss parity stays absent as long as the recordings of losses allow no decision.
SpeedComparison ComparisonFrom(const internal::Comparison& found) {
  SpeedComparison comparison;
  comparison.verdict = found.Verdict();
  comparison.speedup = found.Speedup();
  comparison.p_value = found.sequence().AnytimeP();
  comparison.statistically_significant = found.IsSignificant();
  comparison.mde_share = found.sequence().DetectableShare();
  comparison.pairs = found.pairs();
  const PerformanceMetrics a = MetricsFrom(found.a()), b = MetricsFrom(found.b());
  comparison.baseline_metrics = a, comparison.optimized_metrics = b;
  comparison.memory_saved_gb = internal::MemorySavedGb(a, b);
  comparison.energy_saved_j = internal::EnergySavedJ(a, b);
  if (const auto& training = found.training(); training && training->verdict != internal::ParityVerdict::kCannotTell)
    comparison.loss_parity = internal::IsSameTraining(*training);
  return comparison;
}

// Returns the plan of the pairs, A is the baseline. Without a seed each call draws another order.
internal::PairPlan PlanFor(const std::vector<std::string>& baseline, const std::vector<std::string>& optimized,
                           const CompareOptions& options) {
  internal::PairPlan plan;
  plan.a = RequestFor(baseline, options.measure);
  plan.b = RequestFor(optimized, options.measure);
  plan.most_pairs = std::max<size_t>(1, options.max_pairs);
  plan.budget_s = options.budget_s;
  plan.seed = options.seed ? *options.seed : std::random_device()();
  return plan;
}

// Returns the record that the history keeps; absent metrics are left out, also a step time of 0.
internal::BenchmarkRecord RecordFrom(const PerformanceMetrics& metrics, const BenchmarkMetadata& metadata) {
  internal::BenchmarkRecord record;
  const auto add = [&](const char* name, const char* unit, std::optional<double> value, bool higher_is_better) {
    if (value)
      record.metrics.push_back({.name = name, .value = *value, .unit = unit, .higher_is_better = higher_is_better});
  };
  add("samples_per_second", "1/s", metrics.samples_per_second, true);
  add("gpu_utilization", "%", metrics.gpu_utilization, true);
  add("memory_usage_gb", "GB", metrics.memory_usage_gb, false);
  add("multi_gpu_scaling_efficiency", "", metrics.multi_gpu_scaling_efficiency, true);
  if (metrics.step_time_ms > 0) add("step_time_ms", "ms", metrics.step_time_ms, false);
  add("step_time_p50_ms", "ms", metrics.step_time_p50_ms, false);
  add("step_time_p95_ms", "ms", metrics.step_time_p95_ms, false);
  add("step_time_p99_ms", "ms", metrics.step_time_p99_ms, false);
  add("step_time_std_ms", "ms", metrics.step_time_std_ms, false);
  add("joules_per_step", "J", metrics.joules_per_step, false);
  add("samples_per_joule", "1/J", metrics.samples_per_joule, true);
  record.benchmark = metadata.benchmark;
  record.gpu_type = metadata.gpu_type;
  record.num_gpus = metadata.num_gpus;
  record.batch_size = metadata.batch_size;
  return record;
}

// Reports the first metric that was judged. The two throughputs are filled in only if that metric is the throughput.
RegressionReport ReportFrom(const internal::Judgement& judgement) {
  RegressionReport report;
  report.regression_detected = judgement.IsRegression();
  report.alarm_pending = judgement.IsPending();
  report.threshold = judgement.threshold;
  report.likely_culprit_commit = judgement.culprit;
  report.recommendation = internal::NextStepOf(judgement);
  if (judgement.metrics.empty()) return report;
  const internal::MetricJudgement& first = judgement.metrics[0];
  if (const auto change = internal::PerformanceChange(first)) report.performance_delta = 100 * *change;
  if (first.metric != "samples_per_second") return report;
  report.current_samples_per_sec = first.current;
  report.baseline_samples_per_sec = first.baseline;
  return report;
}

}  // namespace

Result<PerformanceMetrics> PerformanceBenchmark::BenchmarkTraining(const std::vector<std::string>& command,
                                                                   const MeasureOptions& options) {
  GAPLESS_TRY(CheckCommand(command));
  GAPLESS_ASSIGN(const auto sample, internal::RunMeasured(RequestFor(command, options)));
  return MetricsFrom({sample});
}

Result<std::vector<PerformanceMetrics>> PerformanceBenchmark::BenchmarkMultiGpuScaling(
    const std::vector<std::string>& command, std::span<const int> gpu_counts, const MeasureOptions& options) {
  GAPLESS_TRY(CheckCommand(command));
  std::vector<int> counts(gpu_counts.begin(), gpu_counts.end());
  const bool ascending = std::is_sorted(counts.begin(), counts.end()) && !counts.empty() && counts[0] >= 1;
  if (!ascending) return internal::Fail(ErrorCode::kUsage, "the counts are to be ascending, from 1 on");
  // Without a place for the number of ranks every point of the curve would measure the same command.
  if (!internal::CanHaveRanks(command))
    return internal::Fail(ErrorCode::kUsage,
                          "cannot start several ranks: the number of ranks has no place in the command", command[0],
                          "put {n} where the number of ranks stands");
  GAPLESS_ASSIGN(const auto curve, internal::MeasureScaling(RequestFor(command, options), counts));
  std::vector<PerformanceMetrics> all;
  for (const internal::ScalingPoint& point : curve.points) {
    all.push_back(MetricsFrom({point.sample}));
    all.back().multi_gpu_scaling_efficiency = point.efficiency;
  }
  return all;
}

Result<SpeedComparison> ABTestValidator::CompareConfigurations(const std::vector<std::string>& baseline,
                                                               const std::vector<std::string>& optimized,
                                                               const CompareOptions& options) {
  GAPLESS_TRY(CheckCommand(baseline));
  GAPLESS_TRY(CheckCommand(optimized));
  const internal::PairPlan plan = PlanFor(baseline, optimized, options);
  internal::Comparison comparison({.margin = options.margin});
  GAPLESS_TRY(internal::RunPairs(plan, comparison, [&] { return !comparison.IsDecided(); }));
  GAPLESS_TRY(internal::AskWhetherSame(plan, comparison));
  return ComparisonFrom(comparison);
}

Result<int64_t> RegressionDetector::RecordBenchmark(const std::string& commit_sha, const std::string& branch,
                                                    const PerformanceMetrics& metrics,
                                                    const BenchmarkMetadata& metadata) {
  GAPLESS_ASSIGN(auto history, internal::History::Open(metrics_db_));
  internal::BenchmarkRecord record = RecordFrom(metrics, metadata);
  if (record.metrics.empty()) return internal::Fail(ErrorCode::kUsage, "there is no metric to record");
  record.commit_sha = commit_sha;
  record.branch = branch;
  record.uid = internal::NewUid();
  GAPLESS_ASSIGN(const auto recorded, history.Record(record));
  return recorded.id;
}

Result<RegressionReport> RegressionDetector::DetectRegression(const PerformanceMetrics& current,
                                                              const std::string& baseline_branch,
                                                              double regression_threshold,
                                                              const BenchmarkMetadata& metadata) {
  GAPLESS_ASSIGN(auto history, internal::History::OpenToRead(metrics_db_, internal::History::IfAbsent::kEmpty));
  GAPLESS_ASSIGN(const auto judgement,
                 internal::JudgeRecord(RecordFrom(current, metadata), history,
                                       {.branch = baseline_branch, .effect = regression_threshold}));
  return ReportFrom(judgement);
}

Result<ValidationReport> PerformanceValidator::ValidateOptimization(const std::vector<std::string>& baseline,
                                                                    const std::vector<std::string>& optimized,
                                                                    const std::string& commit_sha,
                                                                    const CompareOptions& options,
                                                                    const std::string& baseline_branch) {
  GAPLESS_TRY(CheckCommand(baseline));
  GAPLESS_TRY(CheckCommand(optimized));
  GAPLESS_ASSIGN(auto history, internal::History::Open(metrics_db_));
  const internal::ValidationQuestion question{.pairs = PlanFor(baseline, optimized, options),
                                              .options = {.margin = options.margin},
                                              .history = {.branch = baseline_branch},
                                              .commit_sha = commit_sha};
  GAPLESS_ASSIGN(const auto found, internal::ValidateOptimization(question, history));
  ValidationReport report;
  report.accepted = found.IsAccepted();
  report.reasons_against = found.against;
  report.comparison = ComparisonFrom(found.comparison);
  report.regression = ReportFrom(found.judgement);
  report.recorded_run = found.recorded.value_or(0);
  return report;
}

}  // namespace gapless
