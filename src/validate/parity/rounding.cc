// SPDX-License-Identifier: Apache-2.0
// Tests 6 to 11 of docs/parity.md: differences of gradients, running statistics and losses, held against measured
// rounding. Differences of tensors are those of their sketches. Gradients are looked at by optimiser, for the tensors
// of one have nothing to do with those of another.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/strings.h"
#include "validate/parity/checks.h"
#include "validate/parity/gradient_series.h"

namespace gapless::internal {
namespace parity {
namespace {

class Rounding {
 public:
  Rounding(const ParityRecording& baseline, std::span<const ParityRecording* const> probes,
           const ParityRecording* repeat, const ParityRecording& candidate, Precision precision)
      : baseline_(baseline), candidate_(candidate), precision_(precision) {
    noise_.unit = UnitOf(precision), noise_.share = noise_.unit / ProbeNoiseOf(precision);
    for (const ParityRecording* probe : probes)
      noise_.runs.push_back({.recording = probe, .scale = noise_.unit / probe->noise});
    if (repeat != nullptr) noise_.runs.push_back({.recording = repeat, .scale = 1, .skips_first = false});
    comparable_ = ComparableEvents(baseline, candidate);
  }

  ParityReport Check();

 private:
  std::optional<ParityReport> CheckTypical(const GradientSeries& series);
  std::optional<ParityReport> CheckTensors(const GradientSeries& series, size_t optimizer) const;
  std::optional<ParityReport> CheckWorst(const GradientSeries& series) const;
  std::optional<ParityReport> CheckScale(const GradientSeries& series, size_t optimizer) const;
  std::optional<ParityReport> CheckBuffers() const;
  std::optional<ParityReport> CheckLosses();
  ParityReport Other(std::string test, double value, double limit, std::string what) const {
    return {.verdict = ParityVerdict::kOtherTraining,
            .precision = precision_,
            .reason = StrCat("another training: ", what),
            .test = std::move(test),
            .value = value,
            .limit = limit,
            .steps = comparable_};
  }

  const ParityRecording &baseline_, &candidate_;
  Precision precision_;
  RoundingNoise noise_{};
  size_t comparable_ = 0;
  double typical_ = 0, loss_ = 0;  // the largest that was found
};

std::optional<ParityReport> Rounding::CheckTypical(const GradientSeries& series) {
  const double typical =
      std::min(MedianOf(series.error) / MedianOf(series.rounding), Rms(series.error) / Rms(series.rounding));
  typical_ = std::max(typical_, typical);
  if (typical <= kMaxTypical) return std::nullopt;
  return Other("typical", typical, kMaxTypical,
               StrCat("its gradients differ by ", FormatShare(MedianOf(series.error)), ", ", FormatDigits(typical, 2),
                      " times as much as by rounding to ", NameOf(precision_)));
}

std::optional<ParityReport> Rounding::CheckTensors(const GradientSeries& series, size_t optimizer) const {
  const size_t tensors = series.distance.empty() ? 0 : series.distance[0].size();
  std::vector<double> whole;
  for (const std::vector<double>& noise : series.noise) whole.push_back(NormOf(noise));
  double worst = 0;
  size_t worst_tensor = 0;
  for (size_t t = 0; t < tensors; ++t) {
    std::vector<double> distance, noise;
    for (const auto& event : series.distance) distance.push_back(t < event.size() ? event[t] : 0);
    for (const auto& event : series.noise) noise.push_back(t < event.size() ? event[t] : 0);
    const auto ratio = [&](double (*typical)(std::span<const double>)) {
      const double found = typical(distance);
      const double held = std::hypot(typical(noise), kTensorFloor * typical(whole));
      return found == 0 ? 0 : found / held;
    };
    const double both = std::min(ratio(Rms), ratio(MedianOf));
    if (both > worst) worst = both, worst_tensor = t;
  }
  if (worst <= kMaxTensor) return std::nullopt;
  auto report = Other("tensor", worst, kMaxTensor,
                      StrCat("the gradient of ", TensorName(baseline_, optimizer, worst_tensor), " differs ",
                             FormatDigits(worst, 2), " times as much as by rounding to ", NameOf(precision_)));
  report.tensor = TensorName(baseline_, optimizer, worst_tensor);
  return report;
}

// Rare events (a ReLU or a maximum that falls the other way) are as large in any precision: a claim that is finer than
// the probe is held against what the probe itself shows.
std::optional<ParityReport> Rounding::CheckWorst(const GradientSeries& series) const {
  const double limit = noise_.share < 1 ? 1 : kMaxWorst;
  const double found = MaxOf(series.error), held = MaxOf(noise_.share < 1 ? series.unscaled : series.rounding);
  if (found <= limit * held) return std::nullopt;
  const auto worst = std::ranges::max_element(series.error) - series.error.begin();
  const size_t step = series.events[static_cast<size_t>(worst)] + 1;
  auto report = Other("worst", found / held, limit,
                      StrCat("its gradients of step ", step, " differ by ", FormatShare(found), ", and rounding makes ",
                             FormatShare(held), " at most"));
  report.step = step;
  return report;
}

// Noise of the relative size n turns a gradient, and what is turned is shorter along its old direction by about n²/2:
// so much may be rounding. n is what the distance holds besides the change of scale; that it is no more than rounding
// is for CheckTensors to say. It matters where gradients cancel: of those of attention that has learned nothing yet
// bfloat16 leaves 80 to 95 % in a distance of 35 to 50 %.
std::optional<ParityReport> Rounding::CheckScale(const GradientSeries& series, size_t optimizer) const {
  const size_t tensors = series.distance.empty() ? 0 : series.distance[0].size();
  std::vector<double> energy(tensors), change(tensors), distance(tensors);
  for (size_t k = 0; k < series.events.size(); ++k) {
    const auto &was = baseline_.events[series.events[k]].gradients, &is = candidate_.events[series.events[k]].gradients;
    for (size_t t = 0; t < std::min({tensors, was.size(), is.size()}); ++t) {
      energy[t] += was[t].norm * was[t].norm;
      change[t] += is[t].norm * is[t].norm - was[t].norm * was[t].norm - series.distance[k][t] * series.distance[k][t];
      distance[t] += series.distance[k][t] * series.distance[k][t];
    }
  }
  const double whole = std::accumulate(energy.begin(), energy.end(), 0.0);
  double worst = 0;
  size_t worst_tensor = 0;
  for (size_t t = 0; t < tensors; ++t) {
    if (energy[t] <= kMinEnergy * whole) continue;
    const double scale = change[t] / (2 * energy[t]);
    const double allowed = kMaxScale + std::max(0.0, distance[t] / energy[t] - scale * scale) / 2;
    if (std::abs(scale) > allowed && std::abs(scale) > std::abs(worst)) worst = scale, worst_tensor = t;
  }
  if (worst == 0) return std::nullopt;
  auto report = Other("scale", worst, kMaxScale,
                      StrCat("the gradient of ", TensorName(baseline_, optimizer, worst_tensor), " is ",
                             FormatShare(std::abs(worst)), worst > 0 ? " larger" : " smaller", " throughout"));
  report.tensor = TensorName(baseline_, optimizer, worst_tensor);
  return report;
}

// Returns the largest difference of all buffers and events from the baseline, as a share of the buffer.
double LargestOfBuffers(const ParityRecording& baseline, const ParityRecording& run, size_t events, size_t* event,
                        size_t* buffer) {
  double largest = 0;
  for (size_t i = 0; i < std::min({events, baseline.events.size(), run.events.size()}); ++i) {
    const auto &was = baseline.events[i].buffers, &is = run.events[i].buffers;
    for (size_t b = 0; b < std::min(was.size(), is.size()); ++b) {
      const double distance = Distance(was[b], is[b]);
      if (distance == 0) continue;
      const double share = distance / (was[b].norm + 1e-12);
      if (share > largest || !std::isfinite(share)) {
        largest = share;
        if (event != nullptr) *event = i, *buffer = b;
      }
    }
  }
  return largest;
}

std::optional<ParityReport> Rounding::CheckBuffers() const {
  size_t event = 0, buffer = 0;
  const double moved = LargestOfBuffers(baseline_, candidate_, comparable_, &event, &buffer);
  double rounded = 0;
  for (const NoisyRun& run : noise_.runs)
    rounded = std::max(rounded, run.scale * LargestOfBuffers(baseline_, *run.recording, comparable_, nullptr, nullptr));
  const double limit = std::max(kMaxBufferNoise * rounded, kMaxBufferUnits * noise_.unit);
  if (moved <= limit) return std::nullopt;
  const std::string name = BufferName(baseline_, baseline_.events[event].optimizer, buffer);
  auto report = Other("buffers", moved, limit,
                      StrCat(name, " differs by ", FormatShare(moved), " in step ", event + 1, ", rounding allows ",
                             FormatShare(limit), "; evaluation would see it"));
  report.tensor = name;
  report.step = event + 1;
  return report;
}

std::optional<ParityReport> Rounding::CheckLosses() {
  double noise = 0;
  size_t step = 0;
  for (size_t i = 0; i < comparable_; ++i) {
    const auto was = LossOf(baseline_.events[i]), is = LossOf(candidate_.events[i]);
    if (!was || !is) continue;
    const double difference = std::abs(*is - *was) / std::max(std::abs(*was), 1e-12);
    if (difference > loss_) loss_ = difference, step = i + 1;
    for (const NoisyRun& run : noise_.runs)  // a loss near 0 is a difference of large numbers
      if (const auto noisy = i < run.recording->events.size() ? LossOf(run.recording->events[i]) : std::nullopt)
        noise = std::max(noise, run.scale * std::abs(*noisy - *was) / std::max(std::abs(*was), 1e-12));
  }
  const double limit = std::max(kMaxLossUnits * noise_.unit, kMaxTypical * noise);
  if (loss_ <= limit) return std::nullopt;
  auto report = Other("loss", loss_, limit,
                      StrCat("the loss of step ", step, " differs by ", FormatShare(loss_), ", rounding to ",
                             NameOf(precision_), " allows ", FormatShare(limit)));
  report.step = step;
  return report;
}

ParityReport Rounding::Check() {
  std::vector<size_t> optimizers;
  for (size_t i = 0; i < comparable_; ++i)
    if (std::ranges::find(optimizers, baseline_.events[i].optimizer) == optimizers.end())
      optimizers.push_back(baseline_.events[i].optimizer);
  std::vector<std::pair<size_t, GradientSeries>> all;
  for (const size_t optimizer : optimizers) {
    GradientSeries series = SeriesOf(baseline_, candidate_, comparable_, optimizer, noise_);
    if (!series.rounding.empty()) all.emplace_back(optimizer, std::move(series));
  }
  const auto first_of = [&](auto check) -> std::optional<ParityReport> {
    for (const auto& [optimizer, series] : all)
      if (auto report = check(series, optimizer)) return report;
    return std::nullopt;
  };
  if (all.empty())
    return {.verdict = ParityVerdict::kCannotTell,
            .reason = StrCat("cannot tell: only ", comparable_, " steps start from the same parameters"),
            .steps = comparable_};
  if (auto report = first_of([&](const GradientSeries& s, size_t) { return CheckTypical(s); })) return *report;
  if (auto report = first_of([&](const GradientSeries& s, size_t o) { return CheckTensors(s, o); })) return *report;
  if (auto report = first_of([&](const GradientSeries& s, size_t) { return CheckWorst(s); })) return *report;
  if (auto report = first_of([&](const GradientSeries& s, size_t o) { return CheckScale(s, o); })) return *report;
  if (auto report = CheckBuffers()) return *report;
  if (auto report = CheckLosses()) return *report;
  double rounding = 0;
  for (const auto& [optimizer, series] : all) rounding = std::max(rounding, MedianOf(series.rounding));
  const double seen_from = kMaxTypical * rounding;
  return {.verdict = ParityVerdict::kRounding,
          .precision = precision_,
          .reason = StrCat("the same up to rounding to ", NameOf(precision_), ": gradients differ ",
                           FormatDigits(typical_, 2), " times as much as by rounding, and losses by ",
                           FormatShare(loss_), "; gradients that are ", FormatShare(seen_from), " off would be seen"),
          .test = "typical",
          .value = typical_,
          .limit = kMaxTypical,
          .seen_from = seen_from,
          .steps = comparable_};
}

}  // namespace
}  // namespace parity

ParityReport CheckRounding(const ParityRecording& baseline, std::span<const ParityRecording* const> probes,
                           const ParityRecording* repeat, const ParityRecording& candidate, Precision precision) {
  return parity::Rounding(baseline, probes, repeat, candidate, precision).Check();
}

}  // namespace gapless::internal
