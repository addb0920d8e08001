// SPDX-License-Identifier: Apache-2.0
// Printed by `gate_alarms --rates` (bench/gate_alarms.cc): 600 histories a cell, on the showing seeds.
#include "validate/gate_rates.h"

#include <algorithm>
#include <array>

namespace gapless::internal {
namespace {

constexpr double kLeastEffect = 0.05;  // that was simulated

struct Rates {
  size_t runs;  // at least
  std::array<double, kNoiseLooks> by_look;
};
constexpr Rates kRates[] = {
    //    quiet, drift, spikes, two machines, heavy tail
    {10, {0.043, 0.037, 0.043, 0.043, 0.022}},
    {12, {0.049, 0.039, 0.049, 0.049, 0.013}},
    {30, {0.057, 0.041, 0.057, 0.022, 0.013}},
    {100, {0.053, 0.053, 0.075, 0.010, 0.022}},
};

}  // namespace

std::optional<double> SimulatedFalseAlarms(std::optional<NoiseLook> look, size_t baseline_runs, double effect) {
  if (effect < kLeastEffect) return std::nullopt;
  const Rates* found = &kRates[0];
  for (const Rates& rates : kRates)
    if (baseline_runs >= rates.runs) found = &rates;
  return look ? found->by_look[static_cast<size_t>(*look)] : *std::ranges::max_element(found->by_look);
}

}  // namespace gapless::internal
