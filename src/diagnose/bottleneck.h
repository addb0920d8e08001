// SPDX-License-Identifier: Apache-2.0
// The severity of a bottleneck. The types themselves are public: gapless/bottleneck.h.
#pragma once

#include "gapless/bottleneck.h"

namespace gapless::internal {

// Severity (docs/definitions.md): 1 − exp(−share/0.15).
double SeverityOfShare(double share_of_step);
inline constexpr double kCriticalSeverity = 0.7;  // above: critical
inline constexpr double kWarningSeverity = 0.4;   // from here: a warning

}  // namespace gapless::internal
