// SPDX-License-Identifier: Apache-2.0
// The notes of a report, in the same words in all formats: the limits of the recording, and facts about it.
#pragma once

#include <string>
#include <vector>

#include "report/renderer.h"
#include "trace/enums.h"
#include "trace/run.h"

namespace gapless::internal {

// A note on data that was lost or not read, on other executions that are left out, or on rules that could not run.
struct Note {
  Severity severity = Severity::kLoss;
  std::string text;  // as recorded: not safe to print
};
std::vector<Note> NotesOf(const Report& report);

// Notes on whose recordings these are. Both return whole sentences without a full stop, not safe to print.
// Recordings that are left out, and which file got which rank; none if all recordings are in the report as they say.
std::vector<std::string> RecordingsNotes(const Run& run);
// Ranks of the job whose recordings were not given; none if all were.
std::vector<std::string> MissingRankNotes(const Run& run);

}  // namespace gapless::internal
