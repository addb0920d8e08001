// SPDX-License-Identifier: Apache-2.0
// A summary: a recording in a few dozen kilobytes, from which a job of any number of ranks is analysed as from the
// recordings themselves.
//
// It is a Trace whose tables are light: one slice and one GPU operation stand for all of a name, so that whatever asks
// "does the program …" finds its answer, and collectives, steps and facts are whole. With it come the tables that every
// analysis made of the recording, and what the few analyses that compare ranks need besides: the analysed
// window and the exposed communication of each device. cluster/condense.h makes summaries, trace/summary_file.h writes
// and reads them, and Tables (analyses/analysis.h) takes their rows for its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/ids.h"

namespace gapless::internal {

struct Trace;

// The start and end of something, in the trace's time.
using SummarySpan = std::pair<int64_t, int64_t>;

struct SummaryDevice {
  int32_t device = 0;
  std::vector<SummarySpan> exposed_communication{};  // communication without compute, as in DeviceTimeline
};

struct SummaryStep {
  StepId step{};
  SummarySpan span{};
};

struct TraceSummary {
  IdBase rows{};                     // how many rows the recording has
  int64_t idle_rows = 0;             // … and table idle of it
  SummarySpan window{}, host{};      // as in Window (analyses/window.h)
  std::vector<SummaryStep> steps{};  // complete steps of the window
  int64_t one_off_idle_ns = 0;
  std::vector<SummaryDevice> devices{};  // those that worked, by number
  // Sections with the tables of analyses, and with a stretch of the recording's events for replays: all of a small
  // recording, else steps in its middle. Compressed, in memory or where they lie in a file; see ReadSummaryTables and
  // ReadEvents (trace/summary_file.h).
  struct Packed {
    std::string bytes{};  // empty: in the file, or there is nothing
    std::string file{};
    uint64_t offset = 0, size = 0;
    bool empty() const { return size == 0; }
  };
  Packed tables{}, events{};
};

}  // namespace gapless::internal
