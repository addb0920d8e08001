// SPDX-License-Identifier: Apache-2.0
// Fixes that the replay says bring something although no finding asks for them. A rule measures one kind of time; what
// a fix brings can lie beside it: a wait for a value costs no idle time where the device is busy, and still keeps the
// host from running ahead. So that a report never says less than `gapless predict`, the best of them becomes a finding.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/bottleneck.h"
#include "predict/predictor.h"

namespace gapless::internal {

// Returns the finding of rule predicted_fix: its recommendations are the fixes, best first, that by themselves bring at
// least kWorthAsking as expected and kSurelyMore in the cautious case, change neither the training nor the hardware,
// and neither are asked for by `found` nor exclude what is, nor cure a waste that is in `found`. Absent: there is none,
// PyTorch did not run, or `found` says that the recording does not stand for the program.
std::optional<Bottleneck> UnaskedFixes(const Run& run, const Predictor& predictor,
                                       const std::vector<Bottleneck>& found);

inline constexpr double kWorthAsking = 1.10;
inline constexpr double kSurelyMore = 1.02;

}  // namespace gapless::internal
