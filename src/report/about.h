// SPDX-License-Identifier: Apache-2.0
// The opening of every report, in the same words in all formats: the run's origin, its main figures, and what to do
// next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/renderer.h"

namespace gapless::internal {

// Returns the last part of a path; of an archive's member, the member's.
std::string_view BaseName(std::string_view path);

// "model.pt.trace.json.gz", "run (8 recordings)": what the report is about. Safe to print to a terminal.
std::string SubjectOf(const Run& run);
// Returns the run's path as one word of a shell: an archive, a file or a folder; "PATH" for several paths, and
// for what came through a pipe.
std::string PathToType(const Run& run);
// Returns short facts, the most general first: "1 × Tesla V100", "6 complete steps", "median step 177.4 ms (p95 186.5
// ms)", … Facts that were not recorded are left out.
std::vector<std::string> FactsOf(const Report& report);

// The run folder that was read, when that is all of the run; "" otherwise.
std::string_view RunFolderOf(const Run& run);

// Commands that continue from the report.
struct Next {
  std::string advice;              // how to record more; empty: nothing is missing
  std::string query;               // a command, ready to be pasted: the first of `lines`
  std::vector<std::string> lines;  // the one to type first at the front (report/next.h)
  std::string sql;                 // a query for more of what the first finding is about
};
Next NextOf(const Report& report);

}  // namespace gapless::internal
