// SPDX-License-Identifier: Apache-2.0
// The same job on one GPU, to tell how well it scales: `--single one_gpu.json` or `--single 118ms`.
#pragma once

#include <optional>

#include "cli/command.h"

namespace gapless::internal {

inline constexpr OptionSpec kSingleOption = {.name = "single",
                                             .takes = OptionSpec::Takes::kValue,
                                             .value = "RUN|TIME",
                                             .help = "The same job on one GPU, or its step time, to tell the scaling"};

// The step time of the job on one GPU in ns: the median of the recording's complete steps, or the time as given.
// Absent: the option was not given.
Result<std::optional<int64_t>> SingleStepNs(const Arguments& arguments, const Session& session);

// "118ms", "0.12s", "950us" in ns; absent: not a time.
std::optional<int64_t> ParseTimeNs(std::string_view text);

}  // namespace gapless::internal
