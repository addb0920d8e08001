// SPDX-License-Identifier: Apache-2.0
// Table gpu_state as rules read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyses/analysis.h"
#include "analyses/rows/gpu_state.h"

namespace gapless::internal {

inline constexpr int64_t kFewestGpuSamples = 10;  // one second of telemetry at its default rate

// Returns true if only counters of GPUs were recorded, and nothing that a program did.
bool HasSamplesOnly(const Run& run);

// The GPU with the largest value of `column`, of those that were sampled often enough; nothing: no GPU has a value.
std::optional<size_t> WorstGpu(const GpuStateRows& gpus, GpuStateRows::RealColumn column);

// The number of GPUs that have at least this value.
int64_t GpusFrom(const GpuStateRows& gpus, GpuStateRows::RealColumn column, double least);

// "GPU 3", or "3 of 8 GPUs, most of all GPU 3" where several have at least `least` of the column.
std::string WhichGpus(const GpuStateRows& gpus, GpuStateRows::RealColumn column, double least);

}  // namespace gapless::internal
