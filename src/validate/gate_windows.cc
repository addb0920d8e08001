// SPDX-License-Identifier: Apache-2.0
// A threshold per run cries wolf: at 2 % a run, 100 runs without change give a false alarm nearly always. And a
// threshold that is high enough for one run never sees a small lasting slowdown. So each new run closes several
// windows, the last 1, 2, 3, 5 and 8 runs, and each window's mean is tested against the level of the runs before it: a
// scan by generalised likelihood ratios over the time of a change (Lai 1995, Sequential changepoint detection in
// quality control and dynamical systems, JRSS B 57), with the error of the baseline's own level and spread in it
// (Hawkins, Qiu, Kang 2003, The changepoint model for statistical process control) and the variance of a mean of
// dependent runs. The stated rate is spread over runs, and over the windows by shares that were found by
// simulation (docs/CHANGE_POINTS.md): most to one run, for large slowdowns, and to five, for small ones.
#include "validate/gate_windows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "validate/distributions.h"
#include "validate/series_noise.h"

namespace gapless::internal {
namespace {

struct Window {
  size_t runs;
  double share;  // share of the false alarms per run
};
constexpr std::array<Window, 5> kWindows = {{{1, 0.32}, {2, 0.10}, {3, 0.10}, {5, 0.25}, {8, 0.10}}};
constexpr double kPower = 0.8416;  // normal quantile of 80 %

struct Baseline {
  size_t runs = 0;
  double level = 0, level_variance = 0, freedom = 1;
  SeriesNoise noise;
};

Baseline Learn(std::span<const double> since, double floor_sd) {
  Baseline baseline;
  baseline.runs = since.size();
  const std::vector<double> y = WinsoriseAroundMedian(since, 3.5, floor_sd);
  baseline.noise = NoiseByResiduals(y, {}, floor_sd);
  baseline.noise.phi = CredibleDependence(baseline.noise.phi, y.size());
  for (const double v : y) baseline.level += v / static_cast<double>(y.size());
  const double phi = baseline.noise.phi;
  baseline.level_variance = baseline.noise.MeanVariance(y.size());
  baseline.freedom = std::max(2.0, static_cast<double>(y.size()) * (1 - phi * phi) / (1 + phi * phi) - 1);
  return baseline;
}

double Limit(const Baseline& baseline, double share, const GateOptions& options) {
  const double level =
      options.false_alarm_rate / static_cast<double>(std::max<size_t>(1, options.horizon_runs)) * share;
  return -StudentQuantile(std::clamp(level, 1e-12, 0.5), baseline.freedom);
}

// A window and what its mean shows.
struct Tested {
  std::span<const double> window;
  const Baseline& baseline;
  double limit = 0, raw = 0, statistic = 0;  // raw: how far the mean moved, as a logarithm
  GateKind kind = GateKind::kFine;
};

Tested Test(std::span<const double> window, const Baseline& baseline, double limit, const GateOptions& options) {
  Tested tested{.window = window, .baseline = baseline, .limit = limit};
  const double sd = baseline.noise.sd, size = static_cast<double>(window.size());
  double sum = 0;
  for (const double v : window) {
    const double z = (v - baseline.level) / sd;
    sum += window.size() == 1 ? z : std::clamp(z, -limit, limit);
    tested.raw += (v - baseline.level) / size;
  }
  const double error = std::sqrt(baseline.noise.MeanVariance(window.size()) + baseline.level_variance);
  tested.statistic = sum / size / error;
  if (tested.statistic > limit && tested.raw >= std::log1p(options.effect)) tested.kind = GateKind::kRegression;
  if (tested.statistic < -limit && tested.raw <= std::log1p(-options.effect)) tested.kind = GateKind::kImprovement;
  return tested;
}

void TakeFigures(GateVerdict& verdict, const Tested& tested, const GateBranch& branch, const GateOptions& options) {
  const Baseline& baseline = tested.baseline;
  verdict.baseline_first = branch.at[branch.start];
  verdict.baseline_runs = baseline.runs;
  verdict.window_runs = tested.window.size();
  verdict.window_first = branch.at[branch.at.size() - tested.window.size()];
  verdict.level = std::exp(SignOf(options) * baseline.level);
  verdict.noise = baseline.noise.sd;
  verdict.phi = baseline.noise.phi;
  verdict.change = std::expm1(SignOf(options) * tested.raw);
  verdict.statistic = tested.statistic;
  verdict.limit = tested.limit;
}

// The share that one run shows with 80 % power.
double SeenByOneRun(const Baseline& baseline, double limit, const GateOptions& options) {
  const double one_run = std::sqrt(1 + baseline.level_variance) * baseline.noise.sd;
  const double seen = std::max(limit * one_run, std::log1p(options.effect)) + kPower * one_run;
  return std::fabs(std::expm1(SignOf(options) * seen));
}

}  // namespace

double LeastDeviation(std::span<const double> values) { return std::max(1e-9, ResolutionFloor(values)); }

void TestWindows(GateVerdict& verdict, const GateBranch& branch, const GateOptions& options) {
  const std::span<const double> all(branch.values);
  verdict.kind = GateKind::kFine;
  for (const auto& [size, share] : kWindows) {
    const size_t learned = std::min(branch.learned, all.size() - std::min(all.size(), size));
    if (learned < branch.start + branch.least) break;
    const auto since = all.subspan(branch.start, learned - branch.start);
    const Baseline baseline = Learn(since, LeastDeviation(all.first(learned)));
    const Tested tested = Test(all.last(size), baseline, Limit(baseline, share, options), options);
    const bool is_first = !verdict.statistic;  // the windows start with one run
    if (is_first) verdict.mde = SeenByOneRun(baseline, tested.limit, options);
    const bool is_further =
        verdict.kind == GateKind::kFine || std::fabs(tested.statistic) > std::fabs(verdict.statistic.value_or(0));
    if (!is_first && (tested.kind == GateKind::kFine || !is_further)) continue;
    verdict.kind = tested.kind;
    TakeFigures(verdict, tested, branch, options);
  }
}

void Describe(GateVerdict& verdict, const GateBranch& branch, size_t runs, const GateOptions& options) {
  const std::span<const double> all(branch.values);
  const size_t learned = std::min(branch.learned, all.size() - runs);
  verdict.window_runs = runs;
  verdict.window_first = branch.at[all.size() - runs];
  if (learned < branch.start + branch.least) return;
  const auto since = all.subspan(branch.start, learned - branch.start);
  const Baseline baseline = Learn(since, LeastDeviation(all.first(learned)));
  TakeFigures(verdict, Test(all.last(runs), baseline, Limit(baseline, kWindows[0].share, options), options), branch,
              options);
}

}  // namespace gapless::internal
