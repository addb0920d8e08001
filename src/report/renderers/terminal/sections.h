// SPDX-License-Identifier: Apache-2.0
// The parts of the terminal report, top to bottom. Each gives whole lines, or "" when it has nothing to say.
#pragma once

#include <string>

#include "report/renderer.h"
#include "report/renderers/terminal/paint.h"

namespace gapless::internal {

// Returns the run's origin and its step time.
std::string HeaderSection(const Report& report, const Paint& paint);
// Returns the notes on lost data, on other executions that are left out, and on rules that could not run.
std::string NotesSection(const Report& report, const Paint& paint);
// Returns the time breakdown of a step: one bar, and a line for each kind of time.
std::string BreakdownSection(const Report& report, const Paint& paint);
// The same of a training without a device, by what its processes do.
std::string HostBreakdownSection(const Report& report, const Paint& paint);
// The same per rank, in short, when there are several.
std::string RanksSection(const Report& report, const Paint& paint);
// The roles of a job of several programs, when there are several.
std::string RolesSection(const Report& report, const Paint& paint);
// Returns the findings to fix, by expected gain.
std::string BottlenecksSection(const Report& report, const Paint& paint);
// Returns the longest kernels; operators if nothing ran on a GPU.
std::string TopSection(const Report& report, const Paint& paint);
// Returns the suggested next commands.
std::string NextSection(const Report& report, const Paint& paint);

}  // namespace gapless::internal
