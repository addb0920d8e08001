// SPDX-License-Identifier: Apache-2.0
// A launcher's place in a run folder: alone in it, or one of those that a job started together.
//
// The first that comes makes the control block, which only one can; it says which start of which job the run is of.
// Later launchers join when theirs is the same start, the run is under way (or began within ten minutes), and no
// launcher of their task was there. All else is a folder that is not empty. Each writes files of its own: the first
// manifest.json and telemetry.gts, the others manifest-<task>.json and telemetry-<task>.gts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "collect/control.h"
#include "collect/run_folder.h"

namespace gapless::internal {

struct Entry {
  RunFolder folder;
  ControlBlock control;
  bool first = true;
  std::string suffix{};   // suffix of its files' names: "", or "-3"
  uint64_t launcher = 0;  // its number in rings: 0 of the first, else its task's and one

  // "telemetry", ".gts" → "telemetry-3.gts"
  std::string NameOf(std::string_view stem, std::string_view extension) const;
};

// Makes the folder or joins the run in it. No other launcher enters or leaves the run until `control` is released: what
// they must find is made meanwhile.
Result<Entry> EnterRun(std::string_view wanted, bool shared, const std::optional<JobTask>& task);

// Takes away what a launcher left whose command never ran: its own manifest, if it has `made_manifest`, and when no
// launcher is left in the run all of it.
void LeaveRun(Entry& entry, bool made_manifest);

}  // namespace gapless::internal
