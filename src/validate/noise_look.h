// SPDX-License-Identifier: Apache-2.0
// The kind of noise that a history seems to have, and how often the history gate raises a false alarm in such a
// history. A short history shows less than there is: spikes that come once in twelve runs are not in every ten. The
// rates of false alarms allow for that.
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

// Returns how often the history gate raises a false alarm, as simulated by bench/gate_alarms.cc. This is the one place
// of the figures that its answers state; a test holds them to a fresh simulation with other seeds.
//
// It is the share of unchanged histories with a false regression within 100 runs, of those that look so and have so
// many runs when the first of these is judged; with or without fresh runs on the machine that is doubted. Since a short
// history may look like another kind, it is the largest share of all kinds that look so now and then, and the upper end
// of its 95 % interval. Before there is a baseline it is that of the worst kind.
//
// It holds at the gate's usual rate and horizon. Absent for an effect below 5 %, which was not simulated.
std::optional<double> SimulatedFalseAlarms(std::optional<NoiseLook> look, size_t baseline_runs, double effect);

}  // namespace gapless::internal
