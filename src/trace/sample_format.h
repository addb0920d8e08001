// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gapless::internal {

// The format of samples that another tool took of GPUs; their times are local ones or missing.
inline constexpr std::string_view kGpuSamplesFormat = "gpu_samples";

}  // namespace gapless::internal
