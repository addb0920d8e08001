// SPDX-License-Identifier: Apache-2.0
// A training's use of the host: how much of the machine's processors it uses, from the telemetry beside its recording,
// and which shares of its steps workers and threads can change.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/analysis.h"
#include "trace/run.h"

namespace gapless::internal {

// PyTorch splits an operator over threads from about this own time on: it gives a thread at least 32,768 elements of a
// pointwise operation, which take some tens of microseconds.
constexpr int64_t kMinSplitNs = 200'000;

struct HostUse {
  std::optional<double> processors{};  // number of the machine's processors
  std::optional<double> busy{};        // processors busy with the job's processes, median during training
};

// Returns the processor use of the machine that `of` was recorded on; absent without telemetry.
HostUse FindHostUse(Tables& tables, const RunTrace& of);

// Shares of step time that workers and threads can change, 0–1. Absent: the recording does not say it.
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
