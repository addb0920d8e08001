// SPDX-License-Identifier: Apache-2.0
// How much of the machine's processors a training uses, from the telemetry beside its recording.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/analysis.h"

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

}  // namespace gapless::internal
