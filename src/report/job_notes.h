// SPDX-License-Identifier: Apache-2.0
// What is to be said of whose recordings these are: ranks that are missing or were assigned, and recordings that are
// left out because they do not belong to the others.
#pragma once

#include <string>
#include <vector>

#include "trace/run.h"

namespace gapless::internal {

// Both return whole sentences without a full stop, not safe to print.
// Recordings that are left out, and which file got which rank; none if all recordings are in the report as they say.
std::vector<std::string> RecordingsNotes(const Run& run);
// Ranks of the job whose recordings were not given; none if all were.
std::vector<std::string> MissingRankNotes(const Run& run);

}  // namespace gapless::internal
