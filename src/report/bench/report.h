// SPDX-License-Identifier: Apache-2.0
// The output of `gapless bench`: of measured processes of the same command and source, and of several numbers of ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "proof/metrics.h"
#include "proof/scaling.h"

namespace gapless::internal {

// Returns the figures of one or more processes; there must be at least one.
std::string BenchText(const std::vector<RunSample>& samples);

// Returns the curve as a table, with the reason to measure it again if there is one.
// Several curves of one command: weak scaling first.
std::string ScalingText(const std::vector<ScalingCurve>& curves);
std::string ScalingText(const ScalingCurve& curve);
// `command`: bench or tune.
extern const TypeInfo kScalingDocument;
// The document of the first curve, with the points of a second one beside its own.
std::string ScalingJson(const std::vector<ScalingCurve>& curves, std::string_view command);
std::string ScalingJson(const ScalingCurve& curve, std::string_view command);

}  // namespace gapless::internal
