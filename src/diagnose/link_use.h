// SPDX-License-Identifier: Apache-2.0
// Compares the bandwidth that collectives reached with the bandwidth of the links.
//
// Bus bandwidth is of one direction; device_peaks counts NVLink and xGMI both ways, so half of that figure is the
// measure, as long as no group is larger than a host holds. Groups that span hosts, and devices whose links are not
// known, are compared with PCIe only. Times of single ranks include waiting for others, so the fastest call stands for
// the links: if even that call reaches less than a tenth, another link carries it, or all calls wait.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "analyses/rows/collective_groups.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"
#include "trace/table.h"

namespace gapless::internal {

struct LinkUse {
  std::string kind;                                             // kind of collective
  double bus_gbps = std::numeric_limits<double>::quiet_NaN();   // bus bandwidth of the rank with the most exposed time
                                                                // in this kind; NaN: not known
  double best_gbps = std::numeric_limits<double>::quiet_NaN();  // best bus bandwidth of a single call of 1 MiB or more,
                                                                // over all ranks; NaN: none
  int64_t best_bytes = 0;                                       // bytes of that call
  bool waits = true;                                            // time of waiting for other ranks is in it
  double link_gbps = 0;                                         // what the link carries in one direction
  std::string_view link{};                                      // "NVLink"

  bool far_below() const;
};

// Returns the use of the links by collectives of this kind in table collective_groups; nullopt if none has a size.
std::optional<LinkUse> LinkUseOf(const CollectiveGroupsRows& groups, const LedgerView& ledger, std::string_view kind);

Evidence EvidenceOf(const LinkUse& use);
Recommendation CheckTransport(const LinkUse& use);

}  // namespace gapless::internal
