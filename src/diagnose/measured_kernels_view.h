// SPDX-License-Identifier: Apache-2.0
// Verdicts on measured kernels (table measured_kernels) as rules report them.
#pragma once

#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

// Returns the verdicts of KernelAnalyzer that are of the type, the worst first: at most five, with a kernel's share of
// the analysed time where it was found in a timeline. A share below kMinMeasuredShare is not reported.
std::vector<Bottleneck> KernelVerdicts(Tables& tables, BottleneckType type);

}  // namespace gapless::internal
