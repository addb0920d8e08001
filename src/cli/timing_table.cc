// SPDX-License-Identifier: Apache-2.0
// Prints the program's own times, the longest part first. They go to standard error, beside whatever the command
// prints.
#include "cli/timing_table.h"

#include <cstdio>

#include "base/strings.h"
#include "base/timings.h"
#include "report/text_table.h"

namespace gapless::internal {

void PrintTimings() {
  std::vector<std::vector<std::string>> rows;
  for (const Timing& timing : CollectTimings())
    rows.push_back({timing.part, timing.name, FormatCount(timing.calls), FormatDuration(timing.ns),
                    FormatBytes(timing.fresh_bytes)});
  const std::string table = Aligned({"part", "name", "calls", "own time", "fresh memory"}, rows, "name");
  std::fputs(table.c_str(), stderr);
}

}  // namespace gapless::internal
