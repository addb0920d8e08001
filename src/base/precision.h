// SPDX-License-Identifier: Apache-2.0
// The precision that a change claims to compute in, from the finest to the coarsest. kInt8 is that of
// weights with 8 bits: whole numbers with a scale, or floating point.
#pragma once

#include <cstdint>

namespace gapless::internal {

enum class Precision : uint8_t { kFp32, kTf32, kFp16, kBf16, kInt8 };

}  // namespace gapless::internal
