// SPDX-License-Identifier: Apache-2.0
// The meaning of the kinds of copies.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/enums.h"

namespace gapless::internal {

// Largest copy in bytes from pageable memory that costs the caller nothing extra: the driver puts the bytes into its
// queue. nsys draws the same line (rule cuda_memcpy_sync).
inline constexpr int64_t kSmallCopyBytes = 64'000;

constexpr bool IsHostToDevice(CopyKind kind) {
  return kind == CopyKind::kHtoD || kind == CopyKind::kHtoDPageable || kind == CopyKind::kHtoDPinned ||
         kind == CopyKind::kHtoDManaged;
}
constexpr bool IsDeviceToHost(CopyKind kind) {
  return kind == CopyKind::kDtoH || kind == CopyKind::kDtoHPageable || kind == CopyKind::kDtoHPinned ||
         kind == CopyKind::kDtoHManaged;
}
// Pages of managed memory that moved because somebody touched them. Nobody queued them, so that they wait for nothing
// and nothing but the kernel or the host that touched them waits for them.
constexpr bool MovesOnDemand(CopyKind kind) { return kind == CopyKind::kHtoDManaged || kind == CopyKind::kDtoHManaged; }
// Absent: the recorder does not say, or no host memory is in it.
constexpr std::optional<bool> IsPageable(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHtoDPageable:
    case CopyKind::kDtoHPageable: return true;
    case CopyKind::kHtoDPinned:
    case CopyKind::kDtoHPinned: return false;
    default: return std::nullopt;
  }
}

}  // namespace gapless::internal
