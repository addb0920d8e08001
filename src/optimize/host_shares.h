// SPDX-License-Identifier: Apache-2.0
// How the steps of a recording spend their time on the host, as far as workers and threads can change it.
#pragma once

#include <optional>

#include "trace/run.h"

namespace gapless::internal {

// Shares of step time, 0–1. Absent: the recording does not say it.
struct HostShares {
  std::optional<double> loader_wait{};      // waiting for batches of DataLoaders
  std::optional<double> small_operators{};  // own time of operators too short to be split over threads (kMinSplitNs)
  std::optional<double> large_operators{};  // own time of the other operators
};

// Operators count only in recordings without work of a device.
HostShares HostSharesOf(const Run& run);

}  // namespace gapless::internal
