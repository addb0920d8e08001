// SPDX-License-Identifier: Apache-2.0
// Applies Amdahl's law to the time that a fix removes. RemovableTime limits all fixes together to the recorded time of
// each kind.
#include "diagnose/estimate.h"

#include <algorithm>
#include <numeric>

namespace gapless::internal {
namespace {

constexpr double kMaxRemoved = 0.95;  // largest share of the wall time that may go: no estimate exceeds a factor of 20

double SpeedupOf(double removed_share) { return 1 / (1 - std::clamp(removed_share, 0.0, kMaxRemoved)); }

// Returns the kind of time that a fix of this type removes.
enum TimeKind : uint8_t { kIdleTime, kKernelTime, kCommunicationTime, kKinds };

TimeKind KindOf(BottleneckType type) {
  switch (type) {
    case BottleneckType::kKernelEfficiency:
    case BottleneckType::kMemoryBandwidth: return kKernelTime;
    case BottleneckType::kMultiGpuComm: return kCommunicationTime;
    case BottleneckType::kDataLoading:
    case BottleneckType::kCpuGpuSync:
    case BottleneckType::kMemoryAllocation:
    case BottleneckType::kLaunchBound:
    case BottleneckType::kHostBound:
    case BottleneckType::kSmallBatch:
    case BottleneckType::kRecompilation:
    case BottleneckType::kIo:
    case BottleneckType::kStepVariation:
    case BottleneckType::kRecording: break;
  }
  return kIdleTime;
}

}  // namespace

Gain EstimateGain(const TimeAtStake& stake) {
  if (stake.wall_ns <= 0) return {};
  const auto wall = static_cast<double>(stake.wall_ns);
  std::array<double, 3> shares{stake.low_ns / wall, stake.expected_ns / wall, stake.high_ns / wall};
  std::sort(shares.begin(), shares.end());
  return {.low = SpeedupOf(shares[0]),
          .expected = SpeedupOf(shares[1]),
          .high = SpeedupOf(shares[2]),
          .confidence = stake.confidence,
          .method = "amdahl"};
}

RemovableTime::RemovableTime(const LedgerView& ledger) : device_(ledger.total.wall_ns > 0) {
  if (device_)
    all_ = {ledger.Share(ledger.total.idle_ns + ledger.total.exposed_copy_ns), ledger.Share(ledger.total.compute_ns),
            ledger.Share(ledger.total.exposed_comm_ns)};
  else
    all_[kIdleTime] = kMaxRemoved;
  left_ = all_;
}

double RemovableTime::LeftOf(double share, BottleneckType type) const {
  const size_t kind = device_ ? KindOf(type) : kIdleTime;
  const bool of_its_kind = share <= all_[kind];
  return std::clamp(share, 0.0, of_its_kind ? left_[kind] : std::accumulate(left_.begin(), left_.end(), 0.0));
}

void RemovableTime::Take(double share, BottleneckType type) {
  const size_t own = device_ ? KindOf(type) : kIdleTime;
  for (size_t i = 0; i < kKinds; ++i) {  // its own kind first
    double& left = left_[(own + i) % kKinds];
    const double taken = std::min(left, share);
    left -= taken, share -= taken;
  }
}

}  // namespace gapless::internal
