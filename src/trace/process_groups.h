// SPDX-License-Identifier: Apache-2.0
// Process groups as the program made them: what a recorder wrote of all groups of its process, also of those without a
// collective in the recording. They are rows of table environment, one a group, so that a summary has them, too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

// Before the name of the group; the value is as ProcessGroupText writes it.
inline constexpr std::string_view kProcessGroupKey = "distributed.group.";

struct ProcessGroup {
  std::string name{}, description{};  // "17", "TENSOR_MODEL_PARALLEL_GROUP"; "" without one
  std::vector<int64_t> ranks{};
};

// "TENSOR_MODEL_PARALLEL_GROUP: 8-15".
std::string ProcessGroupText(std::string_view description, std::span<const int64_t> ranks);
std::vector<ProcessGroup> ProcessGroupsOf(const Trace& trace);

// Ranks as people write them: "3", "8-15", "0-248/8" (every eighth), "1,9,30".
std::string RankStretches(std::span<const int64_t> ranks);
// The other way round; empty: the text is none of these, or names more than a million ranks. Takes a list as PyTorch
// writes it, "[0, 1, 2]", but none that PyTorch cut short with "...".
std::vector<int64_t> RanksInText(std::string_view text);

}  // namespace gapless::internal
