// SPDX-License-Identifier: Apache-2.0
// The files that an optimisation leaves to its user: a recipe and a patch of what is proved, or a candidate.
#pragma once

#include <string>
#include <vector>

#include "optimize/patch.h"
#include "optimize/planner.h"
#include "trial/run_once.h"

namespace gapless::internal {

// The content of the files, and the folder for them.
struct HandoverOrder {
  std::string folder{};
  std::vector<std::string> command{};
  bool keep_candidate = false;  // write accepted fixes that are not proved together as candidate.json
  RunRequest request{};         // runs the command without any fix, to try the patch
  double left_s = 0;            // time for that
};

// Paths are empty where nothing was written.
struct Handover {
  std::string recipe{}, candidate{}, patch_file{};
  Patch patch{};
  std::string patch_root{};  // folder that the patch applies to; empty: the current one
};

// Returns how long a few steps of the command take, its start included, by the run that was recorded: the patch is
// tried for that long, which is kept of the budget.
double SecondsToTryPatch(const RunSample& sample);

// Writes the files. The recipe and the patch of an earlier start are renamed to "earlier".
Result<Handover> HandOver(const HandoverOrder& order, const Optimized& result, const FixContext& context,
                          const RunSample& sample);

}  // namespace gapless::internal
