// SPDX-License-Identifier: Apache-2.0
// The kind of noise that a history seems to have. A short history shows less than there is: spikes that come once in
// twelve runs are not in every ten. The figures that are stated by kind (gate_rates.h) allow for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gapless::internal {

enum class NoiseLook : uint8_t { kQuiet, kDrift, kSpikes, kTwoMachines, kHeavyTail };
inline constexpr size_t kNoiseLooks = 5;
std::string_view NameOf(NoiseLook look);  // "quiet", "drift", "spikes", "two_machines", "heavy_tail"

// Two levels that the runs take in turns.
struct TwoLevels {
  double low = 0, high = 0;  // their means
  double sd = 0;             // standard deviation of a run around its level
  double share_of_high = 0;
};

// Absent unless each has a fifth of the runs, three at least, and they are four standard deviations apart.
std::optional<TwoLevels> FindTwoLevels(std::span<const double> values);

// The kind of noise of runs without a change, as logarithms in which larger is worse.
NoiseLook LookOf(std::span<const double> values);

}  // namespace gapless::internal
