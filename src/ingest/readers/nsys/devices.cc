// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/nsys/devices.h"

#include <algorithm>

namespace gapless::internal::nsys {

void Gpus::Add(Gpu gpu) {
  if (gpu.id != kAbsent32) gpus_.insert_or_assign(gpu.id, std::move(gpu));
}

void Gpus::AddOfCuda(const Gpu& gpu, int64_t pid, Facts& facts) {
  if (gpu.id == kAbsent32) return;
  const auto same = std::ranges::find_if(gpus_, [&](const auto& known) { return known.second.bus == gpu.bus; });
  if (same == gpus_.end()) {
    gpus_.try_emplace(gpu.id, gpu);
    return;
  }
  if (pid != kAbsent) facts.gpu_of[{pid, gpu.id}] = same->first;
  Gpu whole = gpu;
  whole.id = same->first, whole.uuid = same->second.uuid;
  if (same->second.sm_count == kAbsent32) same->second = std::move(whole);
}

void Gpus::Give(TraceBuilder& builder) const {
  for (const auto& [id, gpu] : gpus_) {
    DeviceRow device{.device = id, .vendor = Vendor::kNvidia, .name = gpu.name};
    device.pcie_bus_id = gpu.bus, device.uuid = gpu.uuid;
    device.memory_bytes = gpu.memory_bytes;
    if (gpu.clock_khz > 0) device.clock_khz = gpu.clock_khz;
    device.sm_count = gpu.sm_count;
    device.compute_major = gpu.compute_major, device.compute_minor = gpu.compute_minor;
    const int64_t warps = gpu.warps_per_sm, lanes = gpu.lanes_per_warp;
    if (warps > 0 && warps <= 1024 && lanes > 0 && lanes <= 1024)
      device.max_threads_per_sm = static_cast<int32_t>(warps * lanes);
    builder.AddDevice(std::move(device));
  }
}

}  // namespace gapless::internal::nsys
