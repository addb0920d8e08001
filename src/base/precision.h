// SPDX-License-Identifier: Apache-2.0
// The precision that a change claims to compute in, from the finest to the coarsest.
#pragma once

#include <cstdint>

namespace gapless::internal {

enum class Precision : uint8_t { kFp32, kTf32, kFp16, kBf16 };

}  // namespace gapless::internal
