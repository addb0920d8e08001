// SPDX-License-Identifier: Apache-2.0
// Takes the distances of gradients from their sketches.
#include "validate/parity/gradient_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "validate/parity/checks.h"
#include "validate/summary.h"

namespace gapless::internal::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the distance of each tensor's gradient in a run from the baseline's, for one event.
std::vector<double> Distances(const ParityEvent& baseline, const ParityEvent& run) {
  std::vector<double> distances;
  for (size_t t = 0; t < std::min(baseline.gradients.size(), run.gradients.size()); ++t)
    distances.push_back(Distance(baseline.gradients[t], run.gradients[t]));
  return distances;
}

std::vector<double> Norms(const ParityEvent& event) {
  std::vector<double> norms;
  for (const TensorPrint& print : event.gradients) norms.push_back(print.norm);
  return norms;
}

// Returns per tensor the largest effect of rounding in any run; empty for a first event, which has no noise.
std::vector<double> NoiseOf(const ParityRecording& baseline, const RoundingNoise& noise, size_t event, bool first,
                            std::vector<double>& unscaled) {
  std::vector<double> largest;
  for (const NoisyRun& run : noise.runs) {
    if ((first && run.skips_first) || event >= run.recording->events.size()) continue;
    const std::vector<double> found = Distances(baseline.events[event], run.recording->events[event]);
    largest.resize(std::max(largest.size(), found.size()));
    unscaled.resize(largest.size());
    for (size_t t = 0; t < found.size(); ++t) {
      largest[t] = std::max(largest[t], found[t] * run.scale);
      unscaled[t] = std::max(unscaled[t], found[t]);
    }
  }
  return largest;
}

}  // namespace

double Rms(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

double MedianOf(std::span<const double> values) { return Median(values).value_or(0); }
double MaxOf(std::span<const double> values) { return values.empty() ? 0 : std::ranges::max(values); }

double NormOf(std::span<const double> values) { return Rms(values) * std::sqrt(static_cast<double>(values.size())); }

GradientSeries SeriesOf(const ParityRecording& baseline, const ParityRecording& candidate, size_t events,
                        size_t optimizer, const RoundingNoise& noise) {
  GradientSeries series;
  bool first = true;
  for (size_t i = 0; i < events; ++i) {
    const ParityEvent &was = baseline.events[i], &is = candidate.events[i];
    if (was.optimizer != optimizer || was.skipped || is.skipped) continue;
    const std::vector<double> norms = Norms(was);
    const double norm = NormOf(norms);
    std::vector<double> unscaled;
    std::vector<double> rounded = NoiseOf(baseline, noise, i, first, unscaled);
    first = false;
    if (norm <= 0 || !std::isfinite(norm)) continue;
    series.events.push_back(i);
    series.distance.push_back(Distances(was, is));
    const double error = NormOf(series.distance.back()) / norm;
    series.error.push_back(std::isfinite(error) ? error : kInfinity);
    if (rounded.empty() || !std::isfinite(NormOf(rounded)) || !std::isfinite(NormOf(unscaled))) continue;
    series.rounding.push_back(std::max(NormOf(rounded) / norm, kNoiseFloor * noise.unit));
    series.unscaled.push_back(std::max(NormOf(unscaled) / norm, kNoiseFloor * noise.unit));
    series.noise.push_back(std::move(rounded));
  }
  return series;
}

}  // namespace gapless::internal::parity
