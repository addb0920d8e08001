// SPDX-License-Identifier: Apache-2.0
#include "predict/fixes/common/device.h"

#include <algorithm>
#include <cmath>

namespace gapless::internal {

std::vector<int32_t> WorkedDevices(const Trace& trace) {
  std::vector<int32_t> worked(trace.gpu_ops.device.begin(), trace.gpu_ops.device.end());
  std::ranges::sort(worked);
  worked.erase(std::unique(worked.begin(), worked.end()), worked.end());
  return worked;
}

const DevicePeaks* RecordedDevice(const Trace& trace) {
  const std::vector<int32_t> worked = WorkedDevices(trace);
  for (size_t row = 0; row < trace.devices.size(); ++row)
    if (std::ranges::binary_search(worked, trace.devices.device[row]))
      if (const DevicePeaks* peaks = FindDevicePeaks(trace.Text(trace.devices.name[row])); peaks != nullptr)
        return peaks;
  return nullptr;
}

double LeftOfMatrixWork(Estimate estimate, double little, double expected, double much, double ratio) {
  if (!(ratio > 0)) return ValueFor(estimate, 1 / little, 1 / expected, 1 / much);
  // Kernels reach less of a higher peak: a ratio of 2 is worth 1.4 to 2, one of 8 and more does not limit the prior.
  const double most = std::max(1.0, ratio), usual = std::max(1.0, std::pow(ratio, 0.6)),
               least = std::max(1.0, std::pow(ratio, 0.25));
  return 1 / ValueFor(estimate, std::min(little, least), std::min(expected, usual), std::min(much, most));
}

double ProductBound::Of(uint32_t op) {
  const double ns = static_cast<double>(trace_.gpu_ops.dur_ns[op]);
  if (device_ == nullptr || ns <= 0) return 0;
  const Work work = inputs_.WorkOf(trace_.gpu_ops.op[op]);
  double least_ns = 0;
  if (work.flops > 0 && tflops_ > 0) least_ns = work.flops / (1e3 * tflops_);
  if (work.bytes > 0 && device_->memory_gbps > 0)
    least_ns = std::max(least_ns, bytes_share_ * work.bytes / device_->memory_gbps);
  return std::min(1.0, least_ns / ns);
}

}  // namespace gapless::internal
