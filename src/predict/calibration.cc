// SPDX-License-Identifier: Apache-2.0
// Fits, per kind of fix, the ratio of measured to predicted effects, and the width of the intervals from leave-one-out
// errors.
#include "predict/calibration.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// Returns true for a fix whose effect the user states ("host=2"), so that no model can be wrong about it.
bool IsGiven(std::string_view kind) { return kind == "host" || kind == "kernels"; }

struct Weighted {
  double value = 0, weight = 0;
};

// Returns the value of rank `share` · (trials + 1), at most the largest, of values whose weights add up to the number
// of trials.
double Quantile(std::vector<Weighted> values, double trials, double share) {
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  constexpr double kRoundingError = 1e-9;
  double rank = share * (trials + 1) - kRoundingError;
  for (const Weighted& weighted : values)
    if ((rank -= weighted.weight) <= 0) return weighted.value;
  return values.empty() ? 0 : values.back().value;
}

// Returns the unit in which errors of a row are measured.
double ScaleOf(std::string_view kind, double expected) {
  return IsGiven(kind) ? kMinWidth : std::hypot(kMinWidth, kGrowth * expected);
}

double PredictedOf(const AdviceRow& row) { return std::log(row.model.expected); }
double MeasuredOf(const AdviceRow& row) { return std::log(row.measured); }

// Without a repository all predictions from one recording are a trial.
std::string TrialOf(const AdviceRow& row) {
  if (!row.repository.empty()) return row.repository.substr(0, row.repository.find('@'));
  return StrCat("\n", row.recording.empty() ? row.id : row.recording);
}

}  // namespace

StepShares SharesOf(const Effect& effect) {
  return {.low = std::exp(effect.expected - effect.down),
          .expected = std::exp(effect.expected),
          .high = std::exp(effect.expected + effect.up)};
}

Effect EffectOf(const StepShares& shares) {
  return {.expected = std::log(shares.expected),
          .down = std::log(shares.expected / shares.low),
          .up = std::log(shares.high / shares.expected)};
}

Effect operator+(const Effect& a, const Effect& b) {
  return {.expected = a.expected + b.expected, .down = std::hypot(a.down, b.down), .up = std::hypot(a.up, b.up)};
}

double Calibration::Slope::value() const {
  constexpr double kPrior = kPriorPrograms * kPriorEffect * kPriorEffect;
  if (rows.size() < kMinSlopePrograms) return 1;
  return (xy + kPrior) / (xx + kPrior);
}

Calibration::Calibration(std::span<const AdviceRow> rows, Machine machine) {
  for (const AdviceRow& row : rows)
    if (row.machine.empty() || row.machine == NameOf(machine)) rows_.push_back(row);
  for (const AdviceRow& row : rows_) ++of_repository_[TrialOf(row)];
  for (const AdviceRow& row : rows_) Add(row, 1 / static_cast<double>(of_repository_[TrialOf(row)]));
  modelled_ = FitWidth(false), given_ = FitWidth(true);
}

void Calibration::Add(const AdviceRow& row, double weight) {
  Slope& slope = slopes_[row.kind];
  if (IsGiven(row.kind)) return;
  ++slope.rows[TrialOf(row)];
  slope.xy += weight * PredictedOf(row) * MeasuredOf(row), slope.xx += weight * PredictedOf(row) * PredictedOf(row);
}

// Removes the contribution of the row's own repository to the slope.
double Calibration::SlopeWithout(const AdviceRow& row) const {
  Slope slope = slopes_.find(row.kind)->second;
  slope.rows.erase(TrialOf(row));
  for (const AdviceRow& other : rows_) {
    if (IsGiven(row.kind) || other.kind != row.kind || TrialOf(other) != TrialOf(row)) continue;
    const double weight = 1 / static_cast<double>(of_repository_.find(TrialOf(row))->second);
    slope.xy -= weight * PredictedOf(other) * MeasuredOf(other);
    slope.xx -= weight * PredictedOf(other) * PredictedOf(other);
  }
  return slope.value();
}

double Calibration::Miss(const AdviceRow& row) const { return MeasuredOf(row) - SlopeWithout(row) * PredictedOf(row); }

std::optional<double> Calibration::FitWidth(bool given) const {
  std::map<std::string, double> rows_of;  // rows of each repository
  for (const AdviceRow& row : rows_)
    if (IsGiven(row.kind) == given) ++rows_of[TrialOf(row)];
  if (rows_of.size() < kMinPrograms) return std::nullopt;
  std::vector<Weighted> wanted;
  for (const AdviceRow& row : rows_) {
    if (IsGiven(row.kind) != given) continue;
    const double slope = SlopeWithout(row), off = MeasuredOf(row) - slope * PredictedOf(row);
    const Effect model = EffectOf(row.model);
    const double bound = off > 0 ? model.up : model.down;
    const double excess = std::sqrt(std::max(0.0, off * off - bound * bound));
    wanted.push_back(
        {.value = excess / ScaleOf(row.kind, slope * PredictedOf(row)), .weight = 1 / rows_of[TrialOf(row)]});
  }
  return Quantile(std::move(wanted), static_cast<double>(rows_of.size()), kCoverage);
}

double Calibration::WidthOf(std::string_view kind, double expected) const {
  const std::optional<double>& times = IsGiven(kind) ? given_ : modelled_;
  return times ? std::max(kMinWidth, *times * ScaleOf(kind, expected)) : kUntestedWidth;
}

double Calibration::SlopeOf(std::string_view kind) const {
  const auto found = slopes_.find(kind);
  return found == slopes_.end() ? 1 : found->second.value();
}

Effect Calibration::Apply(std::string_view kind, const Effect& model) const {
  const double doubt = slopes_.contains(kind) ? 0 : kUntestedShare * std::abs(model.expected);
  const double expected = SlopeOf(kind) * model.expected, width = WidthOf(kind, expected);
  return {.expected = expected, .down = std::hypot(model.down, width, doubt), .up = std::hypot(model.up, width, doubt)};
}

Calibration::Tested Calibration::TestedOf(std::string_view kind) const {
  std::set<std::string> programs;
  std::vector<Weighted> off;
  for (const AdviceRow& row : rows_) {
    if (row.kind != kind) continue;
    programs.insert(TrialOf(row));
    off.push_back({.value = std::abs(std::expm1(Miss(row))), .weight = 1});
  }
  if (programs.empty()) return {};
  constexpr double kHalf = 0.5;
  const auto rows = static_cast<double>(off.size());
  return {.programs = programs.size(), .within = Quantile(std::move(off), rows, kHalf)};
}

std::vector<StepShares> LeaveOneOut(std::span<const AdviceRow> rows) {
  std::vector<StepShares> predicted;
  for (const AdviceRow& out : rows) {
    std::vector<AdviceRow> others;
    for (const AdviceRow& row : rows)
      if (TrialOf(row) != TrialOf(out)) others.push_back(row);
    const Calibration calibration(others, out.machine == NameOf(Machine::kHost) ? Machine::kHost : Machine::kGpu);
    predicted.push_back(SharesOf(calibration.Apply(out.kind, EffectOf(out.model))));
  }
  return predicted;
}

}  // namespace gapless::internal
