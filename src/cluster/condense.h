// SPDX-License-Identifier: Apache-2.0
// Recordings become summaries (trace/summary.h): a few dozen kilobytes each, whatever their size, from which a job of
// any number of ranks is analysed as from the recordings.
//
// Rows are kept whole as long as a summary stays below kMaxSummaryBytes; else the largest tables lose their last rows,
// which are their least, until it does, and the summary says so in its table read_stats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"

namespace gapless::internal {

inline constexpr size_t kMaxSummaryBytes = size_t{256} * 1024;

// kEvents: without a limit, for a recording that is opened for its events: with every interval of idle time, the
// slowest step, and events for replays.
enum class Detail : uint8_t { kSmall, kEvents };

// Returns the summary of one primary recording of the run.
std::string Condense(Tables& tables, const RunTrace& of, Detail detail = Detail::kSmall);
// Returns the summary of a recording of any role of the job, made of it alone where the run's tables are not about it.
std::string CondenseAny(Tables& tables, const RunTrace& of);
// Recordings of which a job needs summaries: the primary ones, of all its roles.
std::vector<const RunTrace*> WorthSummaries(const Run& run);

// Returns the run with each recording that is no summary yet replaced by its own, so that all of it is analysed alike.
// A run without any summary stays as it is. Those that were read with kEvents say so in table read_stats (kOpenedNote).
Result<Run> AllCondensed(const Run& run, Detail detail = Detail::kSmall);

}  // namespace gapless::internal
