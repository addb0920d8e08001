// SPDX-License-Identifier: Apache-2.0
// Are the newest runs further from the level of the runs before than the noise of a normal distribution explains? What
// the gate suspects from it, and the figures of its answers, come from here.
#pragma once

#include "validate/gate_branch.h"

namespace gapless::internal {

// Tests each window of the newest runs, all of which end with the current one. The verdict gets the kind and the
// figures of the window that is the furthest beyond its limit; without one, those of the current run. What is found is
// a suspicion.
void TestWindows(GateVerdict& verdict, const GateBranch& branch, const GateOptions& options);

// Gives the verdict the figures of the newest `runs`, against those before them; its kind stays.
void Describe(GateVerdict& verdict, const GateBranch& branch, size_t runs, const GateOptions& options);

// Returns the smallest standard deviation that the resolution of the values allows.
double LeastDeviation(std::span<const double> values);

}  // namespace gapless::internal
