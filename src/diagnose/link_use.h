// SPDX-License-Identifier: Apache-2.0
// How fast the links carried collectives, held against what they can.
//
// Bus bandwidth is of one direction; device_peaks counts NVLink and xGMI both ways, so half of that figure is the
// measure, as long as no group is larger than a host holds. Groups that span hosts, and devices whose links are not
// known, are held against PCIe only. Of single ranks the waiting for others is in the time, so the fastest call speaks
// for the links: when even that one reaches less than a tenth, they are not what carries it, or all calls wait.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

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

// Of the collectives of this kind in table collective_groups; nothing when none has a size.
std::optional<LinkUse> LinkUseOf(const Table& groups, const LedgerView& ledger, std::string_view kind);

Evidence EvidenceOf(const LinkUse& use);
Recommendation CheckTransport(const LinkUse& use);

}  // namespace gapless::internal
