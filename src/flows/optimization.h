// SPDX-License-Identifier: Apache-2.0
// `optimize` from a command to the files it leaves: record, order the fixes, try them, hand over. The program and the
// C++ library both call RunOptimization(); they translate options and results, nothing else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flows/handover.h"
#include "flows/profiled_job.h"
#include "gapless/optimize.h"
#include "optimize/own_fixes.h"

namespace gapless::internal {

// The command and its options: the public ones, and those that only the program can ask for.
struct OptimizeOrder {
  RunRequest request{};       // the command, and what options do not say: processors, the function that is a step
  OptimizeOptions options{};  // its on_decision is not called: see OptimizeWatch
  OpenOptions load{};         // how the recording is read
};

// Functions to call meanwhile; each may be empty.
struct OptimizeWatch {
  std::function<void(const std::string& sentence)> on_note{};
  std::function<void(const std::string& sentence)> on_warning{};
  std::function<void(const PlannerEvent& event)> on_event{};
};

// Everything that a report of an optimisation shows.
struct Optimization {
  OwnFixes own{};  // that items of `result` refer to
  Optimized result{};
  std::vector<Bottleneck> bottlenecks{};  // that fixes were ordered by, ranked
  FixContext context{};
  RunSample sample{};         // the run that was recorded
  std::string metric_name{};  // name of OptimizeOptions::metric; empty: none
  Handover files{};
};

// An error: an option cannot be used, the command cannot be run or fails as it is, or the folder cannot be written.
Result<Optimization> RunOptimization(const OptimizeOrder& order, const OptimizeWatch& watch);

}  // namespace gapless::internal
