// SPDX-License-Identifier: Apache-2.0
// Rows of table idle (rows/idle.h): all of them, or the few that somebody wants to see. A recording has an idle
// interval for every second operation, and what the host had open at each takes longer to find than to know how long it
// was.
#pragma once

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/idle.h"
#include "analyses/timeline.h"
#include "trace/table.h"

namespace gapless::internal {

// Appends the rows of all devices of one recording.
void AddIdleRows(const TraceTimeline& timeline, TableOf<IdleRows>& table);

// Returns the rows that have the most of any cause, kLongestOfCause of each cause; those of one length in their order.
// They are as they stand in table idle, and in its order.
// Not of a run of summaries: they hold just such rows as table idle.
inline constexpr size_t kLongestOfCause = 20;
Table LongestIdleRows(Tables& tables);
// The same of one recording, as if it were the run.
Table LongestIdleRows(const TraceTimeline& timeline);

// Idle time of a recording by what the host had open, the most first.
struct IdlePlace {
  std::string operator_name{}, source_line{};  // empty: none, or not recorded
  std::array<int64_t, kIdleCauses> ns{};
};
// `trace`: key of table trace.
std::vector<IdlePlace> IdlePlacesOf(Tables& tables, int64_t trace);
inline constexpr std::string_view kIdlePlacesSection = "idle_places";  // in a summary: they as they are
inline constexpr std::string_view kIdleColumns[kIdleCauses] = {"data_ns", "launch_ns", "sync_ns", "host_ns",
                                                               "unknown_ns"};

}  // namespace gapless::internal
