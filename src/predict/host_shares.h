// SPDX-License-Identifier: Apache-2.0
// Computes the shares of a recording's steps that workers and threads can change.
#pragma once

#include <optional>

#include "trace/run.h"

namespace gapless::internal {

// Shares of step time, 0–1. Absent: the recording does not say it.
struct HostShares {
  std::optional<double> loader_wait{};      // waiting for batches of DataLoaders
  std::optional<double> small_operators{};  // own time of operators too short to be split over threads (kMinSplitNs)
  std::optional<double> large_operators{};  // own time of the other operators
  std::optional<double> image_layers{};     // own time of convolutions, pooling and batch norms, gradients included
};

// Returns the shares of a run. Operators count only in recordings without work of a device: with a GPU, the time
// of host operators is the time of launches.
HostShares HostSharesOf(const Run& run);

}  // namespace gapless::internal
