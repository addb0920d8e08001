// SPDX-License-Identifier: Apache-2.0
// What every report says of the run before it goes into detail, in the same words: whose it is, what is known of it,
// and what to know about the recording.
#pragma once

#include <string>
#include <vector>

#include "report/renderer.h"
#include "trace/enums.h"

namespace gapless::internal {

// "model.pt.trace.json.gz", "run (8 recordings)": what the report is about. Safe to print to a terminal.
std::string SubjectOf(const Run& run);
// What the run was read from, as one word of a shell, as far as one path can say it: an archive, a file, a folder;
// "PATH" for several.
std::string PathToType(const Run& run);
// "1 × Tesla V100", "6 complete steps", "median step 177.4 ms (p95 186.5 ms)", …
std::vector<std::string> FactsOf(const Report& report);

// What leads on from the report.
struct Next {
  std::string advice;  // how to record more; empty: nothing is missing
  std::string query;   // a command, ready to be pasted
};
Next NextOf(const Report& report);

// What was not read or was lost in reading, other executions that are left out, rules that could not run.
struct Note {
  Severity severity = Severity::kLoss;
  std::string text;  // as recorded: not safe to print
};
std::vector<Note> NotesOf(const Report& report);

}  // namespace gapless::internal
