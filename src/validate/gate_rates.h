// SPDX-License-Identifier: Apache-2.0
// How often the history gate raises a false alarm, as simulated by bench/gate_alarms.cc: the one place of the figures
// that its answers state. A test holds them to a fresh simulation with other seeds.
#pragma once

#include <cstddef>
#include <optional>

#include "validate/noise_look.h"

namespace gapless::internal {

// Returns the share of unchanged histories with a false regression within 100 runs, of those that look so and have so
// many runs when the first of these is judged; with or without fresh runs on the machine that is doubted. Since a short
// history may look like another kind, it is the largest share of all kinds that look so now and then, and the upper end
// of its 95 % interval. Before there is a baseline it is that of the worst kind.
//
// It holds at the gate's usual rate and horizon. Absent for an effect below 5 %, which was not simulated.
std::optional<double> SimulatedFalseAlarms(std::optional<NoiseLook> look, size_t baseline_runs, double effect);

}  // namespace gapless::internal
