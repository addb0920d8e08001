// SPDX-License-Identifier: Apache-2.0
// Takes the median rate of the recorded pinned copies in each direction. Without such copies it takes that of the
// device's PCIe link; of an unknown device a multiple of the pageable copy's.
#include "predict/fixes/common/copies.h"

#include <algorithm>
#include <cmath>

#include "analyses/device_peaks.h"
#include "base/order_statistics.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMinRateBytes = 1 << 20;               // smaller copies do not show the speed of the link
constexpr double kGen3Gbps = 15.75, kUsableShare = 0.8;  // GB/s of 16 lanes, and the fraction that large copies reach
constexpr double kVariation = 1.15;                      // between a copy and the median of the recorded ones
constexpr double kMinOfLink = 0.3, kUsualOfLink = 0.6;
constexpr double kMinTimes = 1.25, kUsualTimes = 2.5, kMaxTimes = 5;  // speedups over an unknown link

}  // namespace

bool BlocksHost(const Trace& trace, const EdgeTimes& times, uint32_t op) {
  const Graph& graph = times.graph();
  const SliceId launch = trace.gpu_ops.launch[op];
  const Instant end = launch.valid() ? graph.slice_end[launch.value] : kNoInstant;
  if (end == kNoInstant) return false;
  for (uint32_t edge = graph.first_edge[end]; edge < graph.first_edge[end + 1]; ++edge) {
    const EdgeKind kind = graph.edges[edge].kind;
    if ((kind == EdgeKind::kSync || kind == EdgeKind::kFeed) && times.ns()[edge] != kNever) return true;
  }
  return false;
}

std::set<std::pair<int32_t, int64_t>> ComputingStreams(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::set<std::pair<int32_t, int64_t>> streams;
  for (size_t op = 0; op < ops.size(); ++op)
    if (ops.kind[op] == GpuOpKind::kKernel) streams.emplace(ops.device[op], ops.stream[op]);
  return streams;
}

PinnedRates::PinnedRates(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::vector<double> rates[2];
  for (size_t op = 0; op < ops.size(); ++op) {
    const CopyKind kind = ops.copy_kind[op];
    if ((kind != CopyKind::kHtoDPinned && kind != CopyKind::kDtoHPinned) || ops.dur_ns[op] <= 0) continue;
    if (ops.bytes[op] == kAbsent || ops.bytes[op] < kMinRateBytes) continue;
    rates[IsHostToDevice(kind) ? 1 : 0].push_back(static_cast<double>(ops.bytes[op]) /
                                                  static_cast<double>(ops.dur_ns[op]));
  }
  for (size_t direction = 0; direction < 2; ++direction)
    if (!rates[direction].empty()) recorded_[direction] = UpperMedian(rates[direction]);
  for (size_t row = 0; row < trace.devices.size() && !link_gbps_; ++row) {
    const DevicePeaks* peaks = FindDevicePeaks(trace.Text(trace.devices.name[row]));
    if (peaks != nullptr && peaks->pcie > 0) link_gbps_ = kUsableShare * kGen3Gbps * std::exp2(peaks->pcie - 3);
  }
}

PinnedRate PinnedRates::Of(bool to_device, double gbps) const {
  if (const auto& seen = recorded_[to_device ? 1 : 0])
    return {.little = *seen / kVariation, .expected = *seen, .much = *seen * kVariation, .is_recorded = true};
  if (!link_gbps_) return {.little = gbps * kMinTimes, .expected = gbps * kUsualTimes, .much = gbps * kMaxTimes};
  const double much = std::max(gbps, *link_gbps_), little = std::max(kMinOfLink * *link_gbps_, gbps * kMinTimes);
  const double expected = std::max(kUsualOfLink * *link_gbps_, gbps * kMinTimes);
  return {.little = std::min(little, much), .expected = std::min(expected, much), .much = much};
}

std::string PinnedRates::Source() const {
  if (!link_gbps_)
    return "pinned copies are 2.5 times as fast here: neither one of them nor the device's link is known";
  return StrCat("pinned copies reach ", FormatNumber(kUsualOfLink * *link_gbps_, 1),
                " GB/s, six tenths of what the device's link allows: none was recorded to say how fast they are");
}

}  // namespace gapless::internal
