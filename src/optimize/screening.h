// SPDX-License-Identifier: Apache-2.0
// The shared process: all fixes that can be switched are measured in blocks of one run, each with pairs of its own
// (live_blocks.h). It accepts nothing. A fix whose blocks say that it is slower, or that no gain shows, needs no run of
// its own; the others are tried in the order of what the blocks promise, and go on from the pairs that they have.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimize/candidates.h"
#include "optimize/contest.h"
#include "optimize/live_blocks.h"
#include "optimize/plan_order.h"

namespace gapless::internal {

constexpr size_t kMaxBlockPairs = 60;
constexpr size_t kMinScreenedPairs = 4;  // a program too short for these is not screened

// Returns the items that share the process: switched while the program runs, allowed, and worth a try. Fewer than two
// need no process of their own: empty.
std::vector<FixItem> ItemsToScreen(std::span<const Candidate> candidates, Safety allow);
// `step_ms`: of the command as it is; `left_s`: of the budget.
BlockPlan ScreeningPlan(double step_ms, size_t warmup, double left_s, uint64_t seed);
// The contest of an arm that needs no run: no gain shows in its blocks, or they are slower. Absent: it is worth one.
std::optional<Contest> NotWorthARun(const BlockArm& arm, const PairOptions& options);

// Returns, for each arm whose fix has another value that is faster and took less time in the blocks, a sentence that
// names the other value: one value of a fix is enough to go on with.
std::map<std::string, std::string, std::less<>> QuickerValues(std::span<const BlockArm> arms);

}  // namespace gapless::internal
