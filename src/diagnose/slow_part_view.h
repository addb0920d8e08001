// SPDX-License-Identifier: Apache-2.0
// Words for the rows of table slow_parts, which several rules report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/rows/slow_parts.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

// "rank 12", "ranks 8-15", "host node3 (ranks 24-31)", "hosts node3, node4 (ranks 24-39)", "process group dp_3 (ranks
// …)".
std::string NameOfPart(const SlowPartsRows& parts, size_t row);

// The ranks of a part, in order.
std::vector<int64_t> RanksOfPart(const SlowPartsRows& parts, size_t row);

// Returns what a part takes longer over, and the advice; null: the part is not late by its own time.
struct SlowReason {
  std::string_view kind, what, advice;
};
const SlowReason* ReasonOfPart(const SlowPartsRows& parts, size_t row);

// Returns how much a part is behind, in how many steps, and the error rate.
Evidence EvidenceOfPart(const SlowPartsRows& parts, size_t row);

// The row of the part that is late by its own time by most; absent: none is.
std::optional<size_t> LatestPart(const SlowPartsRows& parts);

}  // namespace gapless::internal
