// SPDX-License-Identifier: Apache-2.0
// The gradients of one optimiser over the events of two runs: how far they are apart, and how far rounding takes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "validate/parity.h"

namespace gapless::internal::parity {

double Rms(std::span<const double> values);       // 0 without values
double MedianOf(std::span<const double> values);  // 0 without values
double MaxOf(std::span<const double> values);     // 0 without values
double NormOf(std::span<const double> values);    // Euclidean norm

// A NoisyRun is a run that differs from the baseline by rounding alone.
struct NoisyRun {
  const ParityRecording* recording = nullptr;
  double scale = 1;         // from the noise of this run to the unit
  bool skips_first = true;  // the first event of an optimiser has no noise
};
struct RoundingNoise {
  std::vector<NoisyRun> runs{};
  double unit = 0;   // relative size of a rounding of the claimed precision
  double share = 1;  // unit / the noise of the probe
};

// All events of one optimiser that can be compared.
struct GradientSeries {
  std::vector<size_t> events{};                          // indices
  std::vector<std::vector<double>> distance{}, noise{};  // by event: of each tensor; noise is scaled to the unit
  std::vector<double> error{}, rounding{};               // by event: of all tensors, as a share of the gradients
  std::vector<double> unscaled{};                        // gradients of the probe without scaling
};

// Returns the series of the first `events` events; those that an optimiser skipped in either run are left out.
GradientSeries SeriesOf(const ParityRecording& baseline, const ParityRecording& candidate, size_t events,
                        size_t optimizer, const RoundingNoise& noise);

}  // namespace gapless::internal::parity
