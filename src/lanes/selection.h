// SPDX-License-Identifier: Apache-2.0
// The sums of a stretch of the timeline: which device operations, which idle time, which host calls, and what the host
// was in, as a flame graph. An event that reaches over an edge counts with its part inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lanes/run_lanes.h"
#include "trace/table.h"

namespace gapless::internal {

struct SelectionRange {
  int64_t from = 0, to = 0;
  std::vector<int64_t> lanes{};  // only these; empty: all of the recording
};

// A frame and what it called.
struct FlameNode {
  std::string name{};
  std::string_view kind{};
  int64_t total_ns = 0, self_ns = 0;
  std::vector<FlameNode> children{};  // the longest first
};

struct SelectionTable {
  Table table;
  std::string_view help;  // one line
};

struct SelectionSums {
  std::vector<SelectionTable> tables{};  // those with rows, the longest rows first
  // A root for each thread, the one of most time first; of host samples one more. Frames of less than a 5,000th of the
  // selection's time are left out.
  std::vector<FlameNode> flame{};
};

SelectionSums SumSelection(const TraceLanes& lanes, const SelectionRange& range);

}  // namespace gapless::internal
