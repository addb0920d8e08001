// SPDX-License-Identifier: Apache-2.0
#include "diagnose/estimate.h"

#include <algorithm>
#include <array>
#include <map>

namespace gapless::internal {
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
    case BottleneckType::kStepVariation:
    case BottleneckType::kRecording: break;
  }
  return kIdleTime;
}

// The bottleneck that claims this one's time in the most general terms, itself when none does.
const Bottleneck& RootOf(const Bottleneck& one, const std::vector<Bottleneck>& bottlenecks) {
  const Bottleneck* root = &one;
  for (size_t depth = 0; depth < bottlenecks.size() && !root->part_of.empty(); ++depth) {
    const auto above = std::find_if(bottlenecks.begin(), bottlenecks.end(),
                                    [&](const Bottleneck& other) { return other.id == root->part_of; });
    if (above == bottlenecks.end()) break;
    root = &*above;
  }
  return *root;
}

// What a bottleneck removes, or its parts together if that is more.
double CombinedRemoval(const std::vector<Bottleneck>& bottlenecks, const LedgerView& ledger, double Gain::*bound) {
  struct Claim {
    double own = 0, parts = 0;
  };
  std::map<const Bottleneck*, Claim> claims;
  for (const Bottleneck& one : bottlenecks) {
    if (!one.gain) continue;
    const Bottleneck& root = RootOf(one, bottlenecks);
    Claim& claim = claims[&root];
    (&root == &one ? claim.own : claim.parts) += RemovedBy((*one.gain).*bound);
  }
  std::array<double, kKinds> removed{};
  for (const auto& [root, claim] : claims) removed[KindOf(root->type)] += std::max(claim.own, claim.parts);
  // Without a device there is only the host's time, of which the rules take parts that do not overlap.
  constexpr double kMostOfHost = 0.95;
  if (ledger.total.wall_ns == 0)
    return std::min(kMostOfHost, removed[kIdleTime] + removed[kKernelTime] + removed[kCommunicationTime]);
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

}  // namespace gapless::internal
