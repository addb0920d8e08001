// SPDX-License-Identifier: Apache-2.0
// Fixes that take kernels from another package have in common: rules that they cure, operators without which they
// change nothing, and that they must beat the compiler, since a kernel that beats eager PyTorch often loses to it.
#pragma once

#include <string_view>

#include "fixes/names.h"
#include "predict/fix_trial.h"

namespace gapless::internal {

inline constexpr std::string_view kFusionCures[] = {"unfused_pointwise", "memory_bound", "launch_bound",
                                                    "tiny_kernels"};
inline constexpr std::string_view kAfterCompiler[] = {fixes::kCompile.name, fixes::kCudagraph.name, fixes::kAmp.name};
inline constexpr std::string_view kNormWork[] = {"norm", "rsqrt", "mean"};
inline constexpr std::string_view kNormOrGateWork[] = {"norm", "rsqrt", "mean", "silu", "gelu", "cross_entropy"};

}  // namespace gapless::internal
