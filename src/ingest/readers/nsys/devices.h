// SPDX-License-Identifier: Apache-2.0
// A GPU as nsys describes it, and its row in the table of devices.
#pragma once

#include <string>
#include <string_view>

#include "trace/builder.h"

namespace gapless::internal::nsys {

struct Gpu {
  int32_t id = kAbsent32;
  std::string_view name{}, bus{}, uuid{};
  int64_t memory_bytes = kAbsent, clock_hz = kAbsent;
  int32_t sm_count = kAbsent32, compute_major = kAbsent32, compute_minor = kAbsent32;
  int64_t warps_per_sm = kAbsent, lanes_per_warp = kAbsent;
};

inline DeviceRow DeviceOf(const Gpu& gpu) {
  DeviceRow device{.device = gpu.id, .vendor = Vendor::kNvidia, .name = std::string(gpu.name)};
  device.pcie_bus_id = gpu.bus, device.uuid = gpu.uuid;
  device.memory_bytes = gpu.memory_bytes;
  if (gpu.clock_hz > 0) device.clock_khz = gpu.clock_hz / 1000;
  device.sm_count = gpu.sm_count;
  device.compute_major = gpu.compute_major, device.compute_minor = gpu.compute_minor;
  const int64_t warps = gpu.warps_per_sm, lanes = gpu.lanes_per_warp;
  if (warps > 0 && warps <= 1024 && lanes > 0 && lanes <= 1024)
    device.max_threads_per_sm = static_cast<int32_t>(warps * lanes);
  return device;
}

}  // namespace gapless::internal::nsys
