// SPDX-License-Identifier: Apache-2.0
// SQL table trace: a row per recording, with its format, rank, host and times. The plain table has the primary
// recordings of the run itself; all_trace has supplementary recordings and other executions, too.
#include <algorithm>

#include "query/cells.h"

namespace gapless::internal::trace_sqltable {
namespace {

// A member of TraceInfo, a text or a number, as a cell.
template <auto member>
SqlValue Info(const SqlRow& at) {
  const auto& value = at.trace->trace->info.*member;
  if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
    return SqlValue::Text(value);
  } else {
    return SqlValue::Int(value);
  }
}

// Recordings of one process share a number: that of the first of them.
SqlValue Process(const SqlRow& at) {
  const auto same_process = [&](const RunTrace& other) {
    const TraceInfo &a = at.trace->trace->info, &b = other.trace->info;
    const bool known = a.pid != kAbsent && a.pid == b.pid && a.host == b.host && a.rank == b.rank;
    return other.index == at.trace->index || (known && other.execution == at.trace->execution);
  };
  const auto first = std::ranges::find_if(at.run->traces(), same_process);
  return SqlValue::Int(first->index);
}

constexpr SqlColumn kColumns[] = {
    kTraceKey,
    kRankKey,
    SqlColumnOf<int64_t>("process", "", "recordings of one process have the same number", Process),
    SqlColumnOf<int64_t>("execution", "", "0: the run itself; others: the same program run again",
                         [](const SqlRow& at) { return SqlValue::Int(at.trace->execution); }),
    SqlColumnOf<std::string_view>("role", "",
                                  "primary, or supplement: describes what a primary recording has already counted",
                                  [](const SqlRow& at) { return SqlValue::Text(ToString(at.trace->role)); }),
    SqlColumnOf<std::string_view>("format", "", "the reader that read it (`gapless formats`)",
                                  Info<&TraceInfo::format>),
    SqlColumnOf<std::string_view>("path", "", "file; a member of an archive is archive!/member",
                                  Info<&TraceInfo::path>),
    SqlColumnOf<std::string_view>("host", "", "machine", Info<&TraceInfo::host>),
    SqlColumnOf<int64_t>("pid", "", "process with the most host slices", Info<&TraceInfo::pid>),
    SqlColumnOf<int64_t>("world_size", "", "processes of the job", Info<&TraceInfo::world_size>),
    SqlColumnOf<std::string_view>("framework", "", "framework and version", Info<&TraceInfo::framework>),
    SqlColumnOf<int64_t>("start_unix_ns", "ns", "start on the wall clock", Info<&TraceInfo::start_unix_ns>),
    SqlColumnOf<int64_t>("dur_ns", "ns", "from the first event's start to the last one's end",
                         Info<&TraceInfo::dur_ns>),
    SqlColumnOf<int64_t>("event_count", "", "events in the file, of every kind", Info<&TraceInfo::event_count>),
    SqlColumnOf<std::string_view>("job_role", "", "role of its process in a job of several programs",
                                  [](const SqlRow& at) { return SqlValue::Text(at.trace->job_role); }),
};

}  // namespace

SQL_TABLE(trace) = {.name = "trace",
                    .help = "One row per recording: one process, recorded by one profiler",
                    .columns = kColumns,
                    .rows = [](const Trace&) -> size_t { return 1; }};

}  // namespace gapless::internal::trace_sqltable
