// SPDX-License-Identifier: Apache-2.0
// The same training with several numbers of ranks: what is asked (`bench --scaling`, `tune`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/benchmark.h"

namespace gapless::internal {

inline constexpr OptionSpec kScalingOption = {
    .name = "scaling",
    .takes = kTakesValue,
    .value = "LIST",
    .help = "Measure with each of these numbers of ranks, started by torchrun: 1,2,4,8",
    .is_list = true};

// The counts of a list's option, ascending; empty without it. An error when the command cannot be started with several
// ranks.
Result<std::vector<int>> RanksFrom(const Arguments& arguments, std::string_view option, const RunRequest& request);
// Returns a usage error if the command cannot start several ranks.
Result<void> NeedsRanks(const RunRequest& request);

}  // namespace gapless::internal
