// SPDX-License-Identifier: Apache-2.0
// How much the ranks of a job differ, for pictures that cannot show a thousand of them: those that differ most are what
// a reader looks for.
#pragma once

#include <cstdint>
#include <map>

#include "analyses/rows/ranks.h"

namespace gapless::internal {

// Returns by recording (key of table trace) how far its own work per step is from that of the median device, in ns, the
// most of its devices; empty without ranks.
std::map<int64_t, double> DistancesFromMedian(const RanksRows& ranks);

}  // namespace gapless::internal
