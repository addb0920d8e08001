// SPDX-License-Identifier: Apache-2.0
// Looks up the link's bandwidth for the devices of a group, and compares it with the collectives' bus bandwidth.
#include "diagnose/link_use.h"

#include <algorithm>

#include "analyses/device_peaks.h"
#include "analyses/rows/collective_groups.h"
#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {
namespace {

// Ours: large messages get half to nine tenths of what the links carry (nccl-tests); a tenth is another transport.
constexpr double kSlowLinkShare = 0.10;
// PCIe 4.0 with 16 lanes, in one direction: what any two devices of a host should have at least half of.
constexpr double kPcieGbps = 32;
// Fast links show their speed from messages of this size (nccl-tests' curves on NVLink and xGMI).
constexpr int64_t kFastLinkBytes = int64_t{4} * 1024 * 1024;
// GPUs in a usual server: groups that are larger cross the network.
constexpr int64_t kRanksOfAHost = 8;

struct Link {
  std::string_view name = "PCIe";
  double gbps = kPcieGbps;
};

// The link between the devices of a trace, if it can be known.
Link LinkOf(const LedgerView& ledger, int64_t trace, int64_t most_ranks) {
  if (most_ranks > kRanksOfAHost) return {};
  for (const DeviceBreakdown& device : ledger.devices) {
    if (device.trace != trace) continue;
    const DevicePeaks* peaks = FindDevicePeaks(device.device_name);
    if (peaks != nullptr && peaks->link_gbps > 0)
      return {peaks->vendor == "amd" ? "xGMI" : "NVLink", peaks->link_gbps / 2};
  }
  return {};
}

int64_t LargestGroup(const CollectiveGroupsRows& groups) {
  int64_t most = 0;
  for (size_t row = 0; row < groups.rows(); ++row) most = std::max(most, groups.Int(row, "group_size"));
  return most;
}

}  // namespace

bool LinkUse::far_below() const {
  const int64_t enough = link_gbps > kPcieGbps ? kFastLinkBytes : 0;  // PCIe: all calls that count
  return best_bytes >= enough && best_gbps < kSlowLinkShare * link_gbps;
}

std::optional<LinkUse> LinkUseOf(const CollectiveGroupsRows& groups, const LedgerView& ledger, std::string_view kind) {
  LinkUse use{.kind = std::string(kind)};
  const int64_t most_ranks = LargestGroup(groups);
  for (const size_t row : LargestRows(groups, "exposed_ns", groups.rows())) {
    if (groups.Text(row, "kind") != kind || groups.IsNull(row, "bus_gbps") || groups.Real(row, "bus_gbps") <= 0)
      continue;
    if (std::isnan(use.bus_gbps)) {
      const Link link = LinkOf(ledger, groups.Int(row, "trace"), most_ranks);
      use.bus_gbps = groups.Real(row, "bus_gbps"), use.waits = groups.Int(row, "matched") < groups.Int(row, "calls");
      use.link = link.name, use.link_gbps = link.gbps;
    }
    if (groups.IsNull(row, "best_bus_gbps") || groups.Real(row, "best_bus_gbps") <= use.best_gbps) continue;
    use.best_gbps = groups.Real(row, "best_bus_gbps"), use.best_bytes = groups.Int(row, "best_bytes");
  }
  if (std::isnan(use.bus_gbps)) return std::nullopt;
  return use;
}

namespace {

// Two digits that mean something below 1 GB/s: "0.0042" instead of "0.0".
std::string RateText(double gbps) { return gbps < 1 ? FormatDigits(gbps, 2) : FormatNumber(gbps, 1); }

}  // namespace

Evidence EvidenceOf(const LinkUse& use) {
  std::string text = StrCat(use.kind, ": ", RateText(use.bus_gbps), " GB/s of bus bandwidth",
                            use.waits ? ", waiting for other ranks included" : " while it transfers");
  if (!std::isnan(use.best_gbps))
    text += StrCat("; the fastest call, of ", FormatBytes(use.best_bytes), ", ", RateText(use.best_gbps), " GB/s");
  if (use.far_below())
    text += StrCat(", where ", use.link, " carries up to ", FormatNumber(use.link_gbps, 0), " GB/s in each direction");
  return {.text = std::move(text), .value = use.bus_gbps, .unit = "GB/s", .table = "collective_groups"};
}

Recommendation CheckTransport(const LinkUse& use) {
  const bool amd = use.link == "xGMI";
  return {StrCat("check how the ranks are connected: even the fastest call, of ", FormatBytes(use.best_bytes),
                 " reaches only ", RateText(use.best_gbps), " GB/s",
                 use.waits ? "; if they are connected well, every call waits for a late rank: record all ranks" : ""),
          "",
          StrCat("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET  # in the job's environment: \"via\" names "
                 "the link\n",
                 amd ? "rocm-smi --showtopo" : "nvidia-smi topo -m"),
          "hours"};
}

}  // namespace gapless::internal
