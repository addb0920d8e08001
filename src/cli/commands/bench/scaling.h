// SPDX-License-Identifier: Apache-2.0
// `bench --scaling`: what is asked, and how the curve is shown.
#pragma once

#include <string>
#include <vector>

#include "cli/benchmark.h"
#include "proof/scaling.h"

namespace gapless::internal {

inline constexpr OptionSpec kScalingOption = {.name = "scaling",
                                              .takes = kTakesValue,
                                              .value = "LIST",
                                              .help = "Measure with so many ranks each, by torchrun: 1,2,4,8",
                                              .is_list = true};

// The counts of --scaling, ascending; empty without it. An error when the command cannot be started with several ranks.
Result<std::vector<int>> ScalingFrom(const Arguments& arguments, const RunRequest& request);

std::string ScalingText(const ScalingCurve& curve);
std::string ScalingJson(const ScalingCurve& curve);

}  // namespace gapless::internal
