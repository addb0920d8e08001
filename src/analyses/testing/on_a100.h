// SPDX-License-Identifier: Apache-2.0
// Recordings of an A100, whose peaks are known, and a product of two matrices for it.
#pragma once

#include "analyses/testing/hand_made.h"

namespace gapless::internal::testing {

inline constexpr HandMade::Inputs kProduct{.shapes = "[[1024,1024],[1024,1024]]",
                                           .types = R"(["c10::BFloat16","c10::BFloat16"])"};
inline constexpr double kProductFlops = 2.0 * 1024 * 1024 * 1024;
inline constexpr GpuOpDraft kMatrixKernel{.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes};

struct OnA100 : HandMade {
  OnA100() { Device({.device = 0, .vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-80GB"}); }
};

}  // namespace gapless::internal::testing
