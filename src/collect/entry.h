// SPDX-License-Identifier: Apache-2.0
// A launcher's place in a run folder: alone in it, or one of those that a job started together.
//
// The first that comes makes the control block, which only one can; it says which start of which job the run is of.
// Those that come later join when theirs is the same start, the run is under way (or began within ten minutes), and no
// launcher of their task was there. All else is a folder that is not empty. Each writes files of its own: the first
// manifest.json and telemetry.gts, the others manifest-<task>.json and telemetry-<task>.gts.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "collect/control.h"
#include "collect/run_folder.h"

namespace gapless::internal {

struct Entry {
  ControlBlock control;
  bool first = true;
  std::string suffix{};   // of its files' names: "", or "-3"
  uint64_t launcher = 0;  // its number in rings: 0 of the first, else its task's and one

  // "telemetry", ".gts" → "telemetry-3.gts"
  std::string NameOf(std::string_view stem, std::string_view extension) const;
};

Result<Entry> EnterRun(const RunFolder& run, const std::optional<JobTask>& task);

// Takes away what a launcher left whose command never ran: its own files, and those of all once it is the last.
void LeaveRun(const RunFolder& run, const Entry* entry);

}  // namespace gapless::internal
