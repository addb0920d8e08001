// SPDX-License-Identifier: Apache-2.0
// Measuring commands, comparing them, and remembering the results: what `gapless bench`, `compare`, `history`, `gate`,
// `trend` and `validate` do, from a program.
//
//   gapless::PerformanceValidator validator("sqlite:perf.db");
//   auto report = validator.ValidateOptimization({"python", "train.py"}, {"python", "train.py", "--amp"}, "1f3c9ab");
//   if (report && report->accepted) std::cout << report->comparison.speedup.expected << " times as fast\n";
//
// A command is a program and its arguments; no shell reads it. Every process is a fresh one, started in the current
// folder, its output kept back; Python training takes its steps under an agent that leaves the script as it is. A
// command that fails is an Error with code kCommand and the end of what it printed. The definitions of the figures are
// in docs/BENCHMARKING.md, how often the verdicts are wrong in docs/STATISTICS.md.
//
// Threads: the functions may be used from several threads, but what runs at the same time disturbs what is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gapless/export.h"
#include "gapless/metrics.h"
#include "gapless/result.h"
#include "gapless/speedup.h"

namespace gapless {

// Options for measuring one process. Where no steps are seen, the whole process is the step.
struct MeasureOptions {
  size_t warmup_steps = 10, num_steps = 100;  // then the program is stopped
  std::string pattern{};       // ECMAScript pattern of numbers in the output to measure instead; the first group counts
  bool whole_process = false;  // measure the whole process, also where steps are seen
  double timeout_s = 0;        // 0: none
};

struct PerformanceBenchmark {
  // One process; where no steps are seen its whole time is the step.
  GAPLESS_API static Result<PerformanceMetrics> BenchmarkTraining(const std::vector<std::string>& command,
                                                                  const MeasureOptions& options = {});
  // Measures the command with each number of ranks, ascending, through torch.distributed.run or in place of {n} in the
  // command. Efficiency is throughput per rank divided by that of the first number.
  GAPLESS_API static Result<std::vector<PerformanceMetrics>> BenchmarkMultiGpuScaling(
      const std::vector<std::string>& command, std::span<const int> gpu_counts, const MeasureOptions& options = {});
};

// Options for comparing two commands. The budget, in seconds, ends a comparison also without a decision.
struct CompareOptions {
  MeasureOptions measure{};
  double margin = 0.01;   // differences below it do not matter
  size_t max_pairs = 30;  // maximum number of process pairs
  std::optional<double> budget_s{};
  std::optional<uint64_t> seed{};  // seed of the random order within a pair; absent: a new seed each time
};

// The result of a paired comparison. Savings are of the optimised command, below 0: it needs more.
struct SpeedComparison {
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  SpeedupInterval speedup{};  // 95 %
  double p_value = 1;         // holds at whatever pair one stops
  bool statistically_significant = false;
  std::optional<double> mde_share{};  // smallest share that this number of pairs detects with power 80 %
  size_t pairs = 0;
  PerformanceMetrics baseline_metrics{}, optimized_metrics{};
  std::optional<double> memory_saved_gb{}, energy_saved_j{};
  std::optional<bool> loss_parity{};  // is B the same training (docs/parity.md)? absent: no decision
};

struct ABTestValidator {
  // Runs pairs of processes in random order until the comparison is decided.
  GAPLESS_API static Result<SpeedComparison> CompareConfigurations(const std::vector<std::string>& baseline,
                                                                   const std::vector<std::string>& optimized,
                                                                   const CompareOptions& options = {});
};

// Facts about a benchmark beside its metrics. Runs of another benchmark or on other GPUs are no baseline.
struct BenchmarkMetadata {
  std::string benchmark{}, gpu_type{};
  std::optional<int64_t> num_gpus{}, batch_size{};
};

// The judgement of one result against the history of a branch.
struct RegressionReport {
  bool regression_detected = false;
  std::optional<double> current_samples_per_sec{}, baseline_samples_per_sec{};  // absent: step time was judged
  std::optional<double> performance_delta{};                                    // percent; below 0 is worse
  double threshold = 0.05;
  std::string likely_culprit_commit{};  // empty: not known
  std::string recommendation{};
  bool alarm_pending = false;  // it looks slower, but too few runs agree to tell it from a slow machine
};

// Keeps results in a history and judges new ones against it. Opens the history in each call; several processes may use
// one history at the same time.
class RegressionDetector {
 public:
  // "sqlite:FILE", a file, or "postgresql://…"; empty: the user's own history.
  explicit RegressionDetector(std::string metrics_db) : metrics_db_(std::move(metrics_db)) {}

  // Returns when it is on the disk; gives the number of the run.
  GAPLESS_API Result<int64_t> RecordBenchmark(const std::string& commit_sha, const std::string& branch,
                                              const PerformanceMetrics& metrics,
                                              const BenchmarkMetadata& metadata = {});
  // Against the branch's runs of the same benchmark on the same kind of GPUs; see docs/CHANGE_POINTS.md.
  GAPLESS_API Result<RegressionReport> DetectRegression(const PerformanceMetrics& current,
                                                        const std::string& baseline_branch = "main",
                                                        double regression_threshold = 0.05,
                                                        const BenchmarkMetadata& metadata = {});

 private:
  std::string metrics_db_;
};

// The decision on an optimisation, with everything it rests on.
struct ValidationReport {
  bool accepted = false;
  std::vector<std::string> reasons_against{};  // empty when it is accepted
  SpeedComparison comparison{};
  RegressionReport regression{};
  int64_t recorded_run = 0;
};

// Decides if an optimisation may replace its baseline. An error means that no decision was possible, not "no".
class PerformanceValidator {
 public:
  explicit PerformanceValidator(std::string metrics_db) : metrics_db_(std::move(metrics_db)) {}

  // Accepted when the optimised command is faster, its losses differ no more than those of two runs of the baseline,
  // and it is no regression against the history of `baseline_branch`; it is recorded there as a run of `commit_sha`
  // (empty: the commit that is checked out).
  GAPLESS_API Result<ValidationReport> ValidateOptimization(const std::vector<std::string>& baseline,
                                                            const std::vector<std::string>& optimized,
                                                            const std::string& commit_sha = {},
                                                            const CompareOptions& options = {},
                                                            const std::string& baseline_branch = "main");

 private:
  std::string metrics_db_;
};

}  // namespace gapless
