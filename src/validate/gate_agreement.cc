// SPDX-License-Identifier: Apache-2.0
// Future runs are asked for by adding them and judging: the answers follow every change of the rule.
#include "validate/gate_agreement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

#include "validate/change_place.h"
#include "validate/series_noise.h"

namespace gapless::internal {
namespace {

// The part of the false alarms per run that a number of agreeing runs may have. The numbers looked at overlap, within a
// run and from run to run, so that their parts add up to less than they seem to. It was chosen by
// simulation on the choosing seeds (testing/gate_walk.h).
constexpr double kAgreementShare = 0.25;
constexpr size_t kRunsAhead = 12;

}  // namespace

GateAgreement::GateAgreement(const GateBranch& branch, const GateOptions& options)
    : values_(branch.values), start_(branch.start), learned_(branch.learned), gate_(options) {
  options_.chance =
      options.false_alarm_rate / static_cast<double>(std::max<size_t>(1, options.horizon_runs)) * kAgreementShare;
  options_.least_baseline = branch.least;
  options_.least_shift = std::log1p(options.effect);
}

GateAgreement GateAgreement::Turned() const {
  GateAgreement turned = *this;
  for (double& value : turned.values_) value = -value;
  turned.options_.least_shift = -std::log1p(-gate_.effect);
  return turned;
}

bool GateAgreement::HasSeen(double value) const {
  const auto baseline = std::span(values_).subspan(start_, learned_ - start_);
  return std::ranges::any_of(baseline, [&](double other) { return other >= value; });
}

std::optional<size_t> GateAgreement::RunsWithFresh(size_t fresh, size_t suspects) const {
  for (const size_t size : {fresh + 1, fresh + suspects})
    if (Agree(values_, start_, learned_, size, options_)) return size;
  return Runs();
}

size_t GateAgreement::RunsSinceTheChange(size_t agreeing, double floor_sd) const {
  const std::vector<double> since(values_.begin() + static_cast<std::ptrdiff_t>(start_), values_.end());
  const size_t guess = since.size() - agreeing;
  const SeriesNoise noise =
      NoiseByResiduals(WinsoriseAroundMedian(since, 3.5, floor_sd), std::span(&guess, 1), floor_sd);
  const ChangePlace place = FindPlace(since, StretchSums(since), noise, {0, guess, since.size(), 1, 0});
  return since.size() - place.index;
}

std::optional<size_t> GateAgreement::MoreRuns() const {
  GateAgreement more = *this;
  for (size_t count = 1; count <= kRunsAhead; ++count) {
    more.Add(values_.back());
    if (more.Runs()) return count;
  }
  return std::nullopt;
}

std::optional<size_t> GateAgreement::RunsToAlarm(const GateVerdict& verdict) const {
  if (!verdict.mde || !verdict.level) return std::nullopt;
  const double sign = SignOf(gate_);
  GateAgreement ahead = *this;
  ahead.learned_ = std::min(learned_, start_ + verdict.baseline_runs);
  ahead.values_.resize(ahead.learned_ + 1);
  ahead.values_.back() = sign * std::log(*verdict.level * (1 + sign * *verdict.mde));
  if (ahead.Runs()) return 1;
  const auto more = ahead.MoreRuns();
  return more ? std::optional(*more + 1) : std::nullopt;
}

// The same draw has the same runs for every share.
bool GateAgreement::IsSeen(double share, uint64_t draw) const {
  std::mt19937_64 bits(draw);
  GateAgreement ahead = *this;
  ahead.values_.resize(learned_);
  for (size_t i = 0; i < kRunsAhead; ++i) {
    ahead.Add(values_[start_ + bits() % (learned_ - start_)] + std::log1p(share));
    if (ahead.Runs()) return true;
  }
  return false;
}

std::optional<double> GateAgreement::SeenWithinTwelve() const {
  constexpr uint64_t kDraws = 40, kLeast = 32;
  const auto is_seen = [&](double share) {
    uint64_t seen = 0;
    for (uint64_t draw = 0; draw < kDraws; ++draw) seen += IsSeen(share, draw) ? 1 : 0;
    return seen >= kLeast;
  };
  constexpr double kShares[] = {0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.75, 1.0, 2.0};
  const double* const least = std::ranges::partition_point(kShares, [&](double share) { return !is_seen(share); });
  return least == std::end(kShares) ? std::nullopt : std::optional(*least);
}

}  // namespace gapless::internal
