// SPDX-License-Identifier: Apache-2.0
// Chooses the stretch of a long recording that is replayed in place of all.
//
// Replaying costs time and memory for every event, and trainings repeat. So of a recording with many steps only a row
// of consecutive ones is replayed, and the step before it, which is not counted and leaves the queues of the device as
// they are. Taken is the row whose mean and spread come closest to those of all steps. Consecutive steps keep what
// reaches from one step into the next: queues, loaders that work ahead, updates every few steps.
//
// A recording without steps is divided into parts of equal time, by what was done in each: slices, GPU operations, and
// the time of those. It is one step to the predictions, and the stretch is a part of that step. Where the parts differ,
// as at the beginning of a program, all of it is replayed.
//
// Example: 31 steps of 130,000 events each. Eight of them are replayed, a quarter of the events; three if their lengths
// are all but the same.
//
// A prediction gets less certain by that: the mean of n independent steps is off by the spread of the steps ÷ √n.
// bench/README.md has the difference to replaying all steps, measured. Parts of equal time are not independent, so
// their error is that of the means of all rows of as many parts. How far the mean of the chosen row is off is added.
//
// A row whose replay is refused by the self-check may be at fault itself, or the recording is. So a second row is
// replayed, elsewhere: if it is refused as well, the recording is, and nobody waits for the replay of all steps only to
// read the same. If it is accepted, all steps are replayed, as neither row can be said to stand for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "trace/run.h"

namespace gapless::internal {

inline constexpr size_t kMinTypicalSteps = 8;       // fewest steps that stand for all …
inline constexpr size_t kMinAlikeSteps = 3;         // … and fewest of steps that are alike:
inline constexpr double kMaxAlikeError = 0.01;      // error of the mean of so few, above which more are taken
inline constexpr size_t kMinTypicalRows = 100'000;  // slices and GPU operations: fewer of them cost little
inline constexpr double kMaxTypicalShare = 0.5;     // share of the steps above which all are replayed
inline constexpr size_t kTypicalParts = 8;          // parts of a recording without steps that stand for all
inline constexpr double kMaxPartsError = 0.05;      // error above which its parts do not repeat, and all are replayed
inline constexpr double kMaxStepsError = 0.25;      // the same of steps

// A row of consecutive steps, or parts, by its place among all.
struct StepsInARow {
  size_t first = 0, count = 0;  // 0 steps: there is no such row
};

// Returns the row most like all, of `count` steps, or up to kMoreSteps more where that is more alike: of steps that
// come in fours, 28 say more than 26. `measures`: what is measured of the steps, one value for each; the mean is not 0.
// The first step of all is not taken, as it has none before it. Of the steps of `other` at most half are in the row.
// Linear in the steps.
inline constexpr size_t kMoreSteps = 8;
StepsInARow FindTypical(std::span<const std::vector<int64_t>> measures, size_t count, StepsInARow other = {});

struct TypicalSteps {
  std::shared_ptr<const Run> run{};  // the recordings, those of candidates cut to the chosen steps
  std::shared_ptr<Tables> tables{};  // tables of `run`
  StepsInARow row{};                 // the chosen steps, or parts, of the first candidate …
  size_t all_steps = 0;              // … and how many steps it has; 0: none, and the row is one of parts
  int64_t replayed_ns = 0;           // recorded time of the row
  int64_t mean_step_ns = 0;          // mean of all its steps; without steps all of the analysed time
  double error = 0;                  // how far the row's mean may be from that of all at 80 %, as a logarithm

  // Returns what is replayed of what: "8 of 31 steps", "2.8 s of 28.3 s".
  std::string Extent() const;
};

// Absent: all steps are to be replayed. They are few or small, or the candidates do not agree on them. `candidates`:
// all recordings that could be replayed; steps are chosen in the first of them, and taken by number from the others.
// `other`: as for FindTypical.
std::optional<TypicalSteps> TakeTypicalSteps(Tables& tables, std::span<const RunTrace* const> candidates,
                                             StepsInARow other = {});

}  // namespace gapless::internal
