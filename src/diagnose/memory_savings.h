// SPDX-License-Identifier: Apache-2.0
// The memory that a change would free at the peak, as rules and predictions say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyses/rows/memory_savings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {

// The row of a change on one device of a recording; absent: it frees nothing, or that is not known.
std::optional<size_t> FindSaving(const MemorySavingsRows& savings, int64_t trace, int64_t device,
                                 std::string_view change);
// The row of the change that frees most on any device.
std::optional<size_t> LargestSaving(const MemorySavingsRows& savings, std::string_view change);

// "frees about 10.3 GB of the 13.9 GB at the peak", "frees at most …".
std::string SavingText(const MemorySavingsRows& savings, size_t row);
// "; it frees …", for the end of a sentence; "" without a row.
std::string SavingRemark(const MemorySavingsRows& savings, std::optional<size_t> row);
// ", if 13 calls of modules are checkpointed"; "" where they are not known, or the change has none.
std::string ModulesText(const MemorySavingsRows& savings, size_t row);
// Returns what checkpointing computes again, with the line that calls it; `row` is of the change `checkpoint`.
Evidence CheckpointEvidence(const MemorySavingsRows& savings, size_t row);

}  // namespace gapless::internal
