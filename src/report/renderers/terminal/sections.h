// SPDX-License-Identifier: Apache-2.0
// The parts of the terminal report, top to bottom. Each gives whole lines, or "" when it has nothing to say.
#pragma once

#include <string>

#include "report/renderer.h"
#include "report/renderers/terminal/paint.h"

namespace gapless::internal {

// Whose run it is and how long a step takes.
std::string HeaderSection(const Report& report, const Paint& paint);
// What was lost in reading, other executions that are left out, rules that could not run.
std::string NotesSection(const Report& report, const Paint& paint);
// Where a step goes: one bar, and a line per kind of time.
std::string BreakdownSection(const Report& report, const Paint& paint);
// The same per rank, in short, when there are several.
std::string RanksSection(const Report& report, const Paint& paint);
// What to fix, by what it buys.
std::string BottlenecksSection(const Report& report, const Paint& paint);
// What takes the time: kernels, or operators when nothing ran on a GPU.
std::string TopSection(const Report& report, const Paint& paint);
// What to type next.
std::string NextSection(const Report& report, const Paint& paint);

}  // namespace gapless::internal
