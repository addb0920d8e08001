// SPDX-License-Identifier: Apache-2.0
// A threshold per run cries wolf: at 2 % a run, 100 runs without change give a false alarm nearly always. And a
// threshold that is high enough for one run never sees a small lasting slowdown. So each new run closes several
// windows, the last 1, 2, 3, 5 and 8 runs, and each window's mean is tested against the level of the runs before it: a
// scan by generalised likelihood ratios over the time of a change (Lai 1995, Sequential changepoint detection in
// quality control and dynamical systems, JRSS B 57), with the error of the baseline's own level and spread in it
// (Hawkins, Qiu, Kang 2003, The changepoint model for statistical process control) and the variance of a mean of
// dependent runs. The stated rate is spread over runs, and over the windows by shares that were found by
// simulation (docs/CHANGE_POINTS.md): most to one run, for large slowdowns, and to five, for small ones.
//
// Values enter as logarithms, so that a change is a ratio and the noise of most timings is nearer to a normal
// distribution.
#include "validate/history_gate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/result.h"
#include "validate/change_points.h"
#include "validate/distributions.h"
#include "validate/series_noise.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

struct Window {
  size_t runs;
  double share;  // share of the false alarms per run
};
constexpr std::array<Window, 5> kWindows = {{{1, 0.32}, {2, 0.10}, {3, 0.10}, {5, 0.25}, {8, 0.10}}};
constexpr double kMinPhi = 1.3;    // standard errors of the coefficient, 1/sqrt(n), below which it counts as none
constexpr double kPhiPrior = 10;   // runs that "no dependence" counts for: ten runs alone do not show dependence
constexpr double kPower = 0.8416;  // normal quantile of 80 %

Result<void> CheckValue(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return {};
  return Fail(ErrorCode::kInput,
              std::string(what) + " is not a positive number: a change has no size as a share of it");
}

// Logarithms, larger is worse. Runs that are left out of everything are not in it.
struct Branch {
  std::vector<double> values;
  std::vector<size_t> at;  // index in the history of each
  size_t learned = 0;      // values[0, learned) may be learned from; the rest is suspect
};

Branch Usable(std::span<const GateRun> history, double sign) {
  size_t begin = 0, end = history.size();
  for (size_t i = 0; i < history.size(); ++i)
    if (history[i].mark == GateMark::kAccepted) begin = i;
  const auto alarm = [&](size_t i) {
    return history[i].mark == GateMark::kPending || history[i].mark == GateMark::kConfirmed;
  };
  while (end > begin && (alarm(end - 1) || history[end - 1].mark == GateMark::kCleared)) --end;
  Branch branch;
  for (size_t i = begin; i < history.size(); ++i) {
    if (i == end) branch.learned = branch.values.size();
    if (history[i].mark == GateMark::kCleared || (i < end && alarm(i))) continue;
    branch.values.push_back(sign * std::log(history[i].value));
    branch.at.push_back(i);
  }
  if (end == history.size()) branch.learned = branch.values.size();
  return branch;
}

// Variance of the mean of n values that follow each other by phi, over that of one (Priestley 1981, section 5.3.2).
double MeanVariance(size_t n, double phi) {
  const double count = static_cast<double>(n);
  const double power = std::pow(phi, count);
  return ((1 + phi) / (1 - phi) - 2 * phi * (1 - power) / (count * (1 - phi) * (1 - phi))) / count;
}

struct Baseline {
  size_t first = 0, runs = 0;  // index of the first of the branch's values, and their number
  double level = 0, level_variance = 0, freedom = 1;
  SeriesNoise noise;
};

// All runs since the last change point, but at least the last `least`.
size_t LastChange(std::span<const double> values, size_t least) {
  ChangePointOptions options;
  options.min_relative = 0;
  size_t first = 0;
  for (const ChangePoint& change : FindChangePoints(values, options))
    if (change.index + least <= values.size()) first = change.index;
  return first;
}

Baseline Learn(std::span<const double> values, size_t first, double floor_sd) {
  Baseline baseline;
  baseline.first = first;
  const std::span<const double> since = values.subspan(first);
  baseline.runs = since.size();
  const std::vector<double> y = WinsoriseAroundMedian(since, 3.5, floor_sd);
  baseline.noise = NoiseByResiduals(y, {}, floor_sd);
  baseline.noise.phi *= static_cast<double>(y.size()) / (static_cast<double>(y.size()) + kPhiPrior);
  if (baseline.noise.phi < kMinPhi / std::sqrt(static_cast<double>(y.size()))) baseline.noise.phi = 0;
  for (const double v : y) baseline.level += v / static_cast<double>(y.size());
  const double phi = baseline.noise.phi;
  baseline.level_variance = MeanVariance(y.size(), phi);
  baseline.freedom = std::max(2.0, static_cast<double>(y.size()) * (1 - phi * phi) / (1 + phi * phi) - 1);
  return baseline;
}

double Limit(const Baseline& baseline, double share, const GateOptions& options) {
  const double level =
      options.false_alarm_rate / static_cast<double>(std::max<size_t>(1, options.horizon_runs)) * share;
  return -StudentQuantile(std::clamp(level, 1e-12, 0.5), baseline.freedom);
}

double Sign(const GateOptions& options) { return options.higher_is_better ? -1 : 1; }

// Tests one window; keeps it when it is further beyond its limit than the verdict so far.
void Consider(GateVerdict& verdict, std::span<const double> window, const Baseline& baseline, const Branch& branch,
              double limit, const GateOptions& options) {
  const double sd = baseline.noise.sd, size = static_cast<double>(window.size());
  double sum = 0, raw = 0;
  for (const double v : window) {
    const double z = (v - baseline.level) / sd;
    sum += window.size() == 1 ? z : std::clamp(z, -limit, limit);
    raw += (v - baseline.level) / size;
  }
  const double error = std::sqrt(MeanVariance(window.size(), baseline.noise.phi) + baseline.level_variance);
  const double statistic = sum / size / error, share = std::expm1(raw);
  GateKind kind = GateKind::kFine;
  if (statistic > limit && raw >= std::log1p(options.effect)) kind = GateKind::kRegression;
  if (statistic < -limit && raw <= std::log1p(-options.effect)) kind = GateKind::kImprovement;
  const bool better = kind != GateKind::kFine &&
                      (verdict.kind == GateKind::kFine || std::fabs(statistic) > std::fabs(*verdict.statistic));
  const bool is_first = !verdict.statistic;
  if (!is_first && !better) return;
  verdict.kind = kind;
  verdict.baseline_first = branch.at[baseline.first];
  verdict.baseline_runs = baseline.runs;
  verdict.window_runs = window.size();
  verdict.level = std::exp(Sign(options) * baseline.level);
  verdict.noise = sd;
  verdict.phi = baseline.noise.phi;
  verdict.change = Sign(options) > 0 ? share : std::expm1(-raw);
  verdict.statistic = statistic;
  verdict.limit = limit;
  if (!is_first) return;  // the windows start with one run
  const double one_run = std::sqrt(1 + baseline.level_variance) * sd;
  const double seen = std::max(limit * one_run, std::log1p(options.effect)) + kPower * one_run;
  verdict.mde = std::fabs(std::expm1(Sign(options) * seen));
}

}  // namespace

Result<GateVerdict> JudgeAgainstHistory(std::span<const GateRun> history, double current, const GateOptions& options) {
  GAPLESS_TRY(CheckValue(current, "the new value"));
  for (const GateRun& run : history) GAPLESS_TRY(CheckValue(run.value, "a value of the history"));
  GateVerdict verdict;
  verdict.current = current;
  verdict.false_alarm_rate = options.false_alarm_rate;
  verdict.horizon_runs = options.horizon_runs;
  Branch branch = Usable(history, Sign(options));
  const size_t least = std::max<size_t>(options.min_baseline, 3);
  if (branch.learned < least) {
    verdict.reason = "too few runs to learn the level and noise from";
    return verdict;
  }
  const double floor_sd = std::max(1e-9, ResolutionFloor(branch.values));
  branch.values.push_back(Sign(options) * std::log(current));
  const std::span<const double> all(branch.values);
  const size_t start = LastChange(all.first(branch.learned), least);
  verdict.kind = GateKind::kFine;
  for (const auto& [size, share] : kWindows) {
    const size_t learned = std::min(branch.learned, all.size() - std::min(all.size(), size));
    if (learned < start + least) break;
    const Baseline baseline = Learn(all.first(learned), start, floor_sd);
    Consider(verdict, all.last(size), baseline, branch, Limit(baseline, share, options), options);
  }
  return verdict;
}

Result<GateVerdict> GateConfirm(const GateVerdict& alarm, std::span<const double> fresh, double effect) {
  for (const double value : fresh) GAPLESS_TRY(CheckValue(value, "a fresh value"));
  GateVerdict verdict = alarm;
  if (!alarm.IsAlarm() || fresh.empty() || !alarm.level || !alarm.change) return verdict;
  std::vector<double> copy(fresh.begin(), fresh.end());
  const double moved = std::log(MedianInPlace(copy) / *alarm.level), alarm_change = std::log1p(*alarm.change);
  const double least = alarm_change > 0 ? std::log1p(effect) : std::log1p(-effect);
  verdict.confirmed = moved / alarm_change >= std::max(0.5, std::min(1.0, least / alarm_change));
  if (!verdict.confirmed) {
    verdict.kind = GateKind::kFine;
    verdict.change = std::expm1(moved);
  }
  return verdict;
}

Result<GateVerdict> NaiveGate(std::span<const GateRun> history, double current, const GateOptions& options,
                              size_t runs) {
  GAPLESS_TRY(CheckValue(current, "the new value"));
  GateVerdict verdict;
  verdict.current = current;
  if (runs == 0 || history.size() < runs) {
    verdict.reason = "fewer past runs than the mean is of";
    return verdict;
  }
  double mean = 0;
  for (const GateRun& run : history.last(runs)) {
    GAPLESS_TRY(CheckValue(run.value, "a value of the history"));
    mean += run.value / static_cast<double>(runs);
  }
  verdict.baseline_first = history.size() - runs;
  verdict.baseline_runs = runs;
  verdict.level = mean;
  verdict.change = current / mean - 1;
  const double worse = Sign(options) * *verdict.change;
  verdict.kind = worse > options.effect    ? GateKind::kRegression
                 : worse < -options.effect ? GateKind::kImprovement
                                           : GateKind::kFine;
  return verdict;
}

}  // namespace gapless::internal
