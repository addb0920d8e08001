// SPDX-License-Identifier: Apache-2.0
#include "diagnose/estimate.h"

#include <algorithm>
#include <array>

namespace gapless {
namespace {

constexpr double kMostRemoved = 0.95;  // of the wall time: no estimate promises more than a factor of 20

double SpeedupOf(double removed_share) { return 1 / (1 - std::clamp(removed_share, 0.0, kMostRemoved)); }
double RemovedBy(double speedup) { return speedup > 1 ? 1 - 1 / speedup : 0; }

// What kind of time a fix of this type removes.
enum Kind : uint8_t { kIdleTime, kKernelTime, kCommunicationTime, kKinds };

Kind KindOf(BottleneckType type) {
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
    case BottleneckType::kStepVariation: break;
  }
  return kIdleTime;
}

double CombinedRemoval(const std::vector<Bottleneck>& bottlenecks, const LedgerView& ledger, double Gain::*bound) {
  std::array<double, kKinds> removed{};
  for (const Bottleneck& one : bottlenecks)
    if (one.gain) removed[KindOf(one.type)] += RemovedBy((*one.gain).*bound);
  const std::array<double, kKinds> most{ledger.Share(ledger.total.idle_ns + ledger.total.exposed_copy_ns),
                                        ledger.Share(ledger.total.compute_ns),
                                        ledger.Share(ledger.total.exposed_comm_ns)};
  double all = 0;
  for (size_t kind = 0; kind < kKinds; ++kind) all += std::min(removed[kind], most[kind]);
  return all;
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

Gain CombineGains(const std::vector<Bottleneck>& bottlenecks, const LedgerView& ledger) {
  Gain combined{.low = SpeedupOf(CombinedRemoval(bottlenecks, ledger, &Gain::low)),
                .expected = SpeedupOf(CombinedRemoval(bottlenecks, ledger, &Gain::expected)),
                .high = SpeedupOf(CombinedRemoval(bottlenecks, ledger, &Gain::high)),
                .confidence = 1,
                .method = "amdahl"};
  for (const Bottleneck& one : bottlenecks)
    if (one.gain) combined.confidence = std::min(combined.confidence, one.gain->confidence);
  return combined;
}

}  // namespace gapless
