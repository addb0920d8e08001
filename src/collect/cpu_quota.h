// SPDX-License-Identifier: Apache-2.0
// The share of the processors that control groups leave to this process.
#pragma once

#include <optional>

#include "collect/telemetry/collector.h"

namespace gapless::internal {

// Returns the tightest quota from the group of this process up to the root, in processors (2.5 is two and a half);
// absent: there is no quota.
std::optional<double> CpuQuota(const TelemetrySources& sources);

}  // namespace gapless::internal
