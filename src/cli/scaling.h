// SPDX-License-Identifier: Apache-2.0
// The same training with several numbers of ranks: what is asked (`bench --scaling`, `tune`).
#pragma once

#include <string_view>
#include <vector>

#include "cli/benchmark.h"

namespace gapless::internal {

// Reads the counts of a list: 1,2,4.
Result<std::vector<int>> ReadRankCounts(const OptionSpec& option, std::string_view text);
// Returns the counts, ascending and each once. An error when the command cannot be started with several ranks.
Result<std::vector<int>> RanksFrom(std::vector<int> counts, const RunRequest& request);
// Returns a usage error if the command cannot start several ranks.
Result<void> NeedsRanks(const RunRequest& request);

}  // namespace gapless::internal
