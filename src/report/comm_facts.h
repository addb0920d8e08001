// SPDX-License-Identifier: Apache-2.0
// The opening line of a report of communication alone: benchmarks, logs of NCCL, flight recorders, Inspector's files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "trace/run.h"

namespace gapless::internal {

// Returns true if only recordings of communication were given.
bool IsCommunicationOnly(const Run& run);

// "a benchmark of all_reduce on 2 ranks", "NCCL 2.27.7", "network IB"; "flight recorders of 8 ranks", "4,000 calls".
std::vector<std::string> CommunicationFacts(const Run& run);

// The table that says most of them.
std::string_view CommunicationTable(Tables& tables);

}  // namespace gapless::internal
