// SPDX-License-Identifier: Apache-2.0
// Chooses the steps of a long recording that are replayed in place of all.
//
// Replaying costs time and memory for every event, and steps repeat. So of a recording with many steps only a row of
// consecutive ones is replayed, and the step before it, which is not counted and leaves the queues of the device as
// they are. Taken is the row whose mean and spread come closest to those of all steps. Consecutive steps keep what
// reaches from one step into the next: queues, loaders that work ahead, updates every few steps.
//
// Example: 31 steps of 130,000 events each. Eight of them are replayed, a quarter of the events.
//
// A prediction gets less certain by that: the mean of n independent steps is off by the spread of the steps ÷ √n.
// bench/README.md has the difference to replaying all steps, measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "analyses/analysis.h"
#include "trace/run.h"

namespace gapless::internal {

inline constexpr size_t kMinTypicalSteps = 8;       // fewest steps that stand for all
inline constexpr size_t kMinTypicalRows = 100'000;  // slices and GPU operations: fewer of them cost little
inline constexpr double kMaxTypicalShare = 0.5;     // share of the steps above which all are replayed

// A row of consecutive steps, by its place among all.
struct StepsInARow {
  size_t first = 0, count = 0;  // 0 steps: there is no such row
};

// Returns the row most like all of `step_ns`, of `count` steps, or up to kMoreSteps more where that is more alike: of
// steps that come in fours, 28 say more than 26. The first step of all is not taken, as it has none before it. Linear
// in the steps.
inline constexpr size_t kMoreSteps = 8;
StepsInARow FindTypical(std::span<const int64_t> step_ns, size_t count);

struct TypicalSteps {
  std::shared_ptr<const Run> run{};  // the recordings, those of candidates cut to the chosen steps
  std::shared_ptr<Tables> tables{};  // tables of `run`
  size_t steps = 0, all_steps = 0;   // steps of the first candidate
  double scale = 1;                  // mean of all steps ÷ mean of the chosen ones
  double error = 0;                  // 80 % of means of as many steps are less far from the mean of all, as a logarithm
};

// Absent: all steps are to be replayed. They are few or small, or the candidates do not agree on them. `candidates`:
// all recordings that could be replayed; steps are chosen in the first of them, and taken by number from the others.
std::optional<TypicalSteps> TakeTypicalSteps(Tables& tables, std::span<const RunTrace* const> candidates);

}  // namespace gapless::internal
