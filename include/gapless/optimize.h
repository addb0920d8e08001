// SPDX-License-Identifier: Apache-2.0
// Optimize() makes a training command faster without editing it, as `gapless optimize` does.
//
//   const auto found = gapless::Optimize({"python", "train.py"}, {.folder = "optimized", .budget_s = 1200});
//   if (found && found->proved) std::cout << found->speedup->expected << " times as fast: " << found->recipe << '\n';
//
// The command is recorded once; then fixes are tried on it, the one that promises most first, and a fix stays only if
// pairs of runs show that it is significantly faster and trains what its safety says. The folder gets the recording, a
// journal, and, if all fixes together are proved, a recipe for `gapless run --recipe` and a patch for the script.
// Nothing else is written to. docs/OPTIMIZATION_GUIDE.md explains the method.
//
// Threads: one call at a time; what runs beside it disturbs what is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gapless/bottleneck.h"
#include "gapless/export.h"
#include "gapless/result.h"
#include "gapless/safety.h"
#include "gapless/speedup.h"

namespace gapless {

// The outcome of one fix.
enum class FixOutcome : uint8_t {
  kAccepted,
  kSlower,
  kTooSmall,       // its gain is below what the pairs could detect
  kNoTime,         // the budget was used up
  kNothingToGain,  // by the recording; it was not tried
  kDoesNotApply,   // to this program, or on this machine
  kNotAllowed,     // its safety is beyond OptimizeOptions::allow
  kConflict,       // with a fix that was accepted
  kOtherTraining,  // it changes more of the training than its safety says
  kFault,          // a run with it crashed, hung or ran out of memory
  kTakenOut,       // accepted once, and without a gain beside the fixes that were accepted after it
  kOtherAnswers,   // of a program that infers: the model returns more other numbers than its safety says
};

// "accepted", "slower", "too_small" …
constexpr std::string_view ToString(FixOutcome outcome) {
  constexpr std::string_view kNames[] = {"accepted",        "slower",         "too_small",   "no_time",
                                         "nothing_to_gain", "does_not_apply", "not_allowed", "conflict",
                                         "other_training",  "fault",          "taken_out",   "other_answers"};
  return kNames[static_cast<uint8_t>(outcome)];
}

// The decision on one fix. `measured` has the 95 % interval; `predicted` the 80 % prediction interval.
struct FixDecision {
  std::string fix{};  // with its value: "workers=4"
  FixOutcome outcome = FixOutcome::kNoTime;
  std::string reason{};  // one sentence
  Safety safety = Safety::kExact;
  std::optional<SpeedupInterval> predicted{};  // predicted speedup of the recorded step; absent: no prediction
  std::optional<SpeedupInterval> measured{};   // beside the fixes accepted before it; absent: not measured
  size_t pairs = 0;                            // pairs of runs, or of blocks of steps, behind `measured`
};

// Options for Optimize(). Every option has a default; new members come at the end.
struct OptimizeOptions {
  std::string folder = "optimized";
  double budget_s = 600;                       // wall time for all runs, in seconds
  std::vector<std::string> only{}, without{};  // fixes as `--only` takes them: "workers=4,amp"
  std::vector<std::string> own_fixes{};        // the user's own: "FILE.py" or "FILE.py=exact"
  Safety allow = Safety::kStochastic;          // the most that a fix may change; kHardware is no choice
  bool exact = false;                          // losses and parameters must stay the same, bit for bit
  bool all_values = false;                     // try every value of a fix, not only those that suit the machine
  bool keep_candidate = false;                 // leave candidate.json if fixes stay and are not proved together
  bool fresh = false;                          // forget the decisions of an interrupted call
  std::string bottlenecks{};                   // a report (analyze as JSON) to order fixes by; empty: record one
  std::string metric{};                        // "NAME=REGEX": a printed result that must stay; empty: none
  size_t max_pairs = 12;                       // a fix is rejected after these without a verdict
  double margin = 0.01;                        // differences below it do not matter
  uint64_t seed = 1;                           // seed of the random order within a pair
  size_t warmup_steps = 5, num_steps = 50;     // steps of each run; fewer where steps are long
  double timeout_s = 0;                        // limit of each run; 0: derived from the earlier runs
  std::string history{};                       // its tested predictions count, too; empty: the user's own history
  std::function<void(const FixDecision&)> on_decision{};  // called after each decision; must not throw
  bool inference = false;  // the command answers requests: their latency is measured, and their outputs are compared
};

// The result of Optimize(). It can be complete without a proof: `proved` says if the command became faster.
struct OptimizeResult {
  bool proved = false;                   // all accepted fixes together are significantly faster
  std::vector<FixDecision> decisions{};  // in the order they were made
  std::optional<SpeedupInterval>
      speedup{};              // speedup of all accepted fixes together; absent: none, or no time was left
  size_t pairs = 0;           // pairs of runs behind `speedup`
  std::string against{};      // sentence with the reason against all fixes together; empty: no reason
  double step_before_ms = 0;  // mean step of the command as it is
  std::optional<double> step_after_ms{}, memory_saved_bytes{};
  std::vector<Bottleneck> bottlenecks{};       // bottlenecks of the recording, ranked
  std::string recipe{}, candidate{}, patch{};  // files that were written; empty: not written
  std::vector<std::string> warnings{};
  double took_s = 0;
  bool interrupted = false;  // by a signal; what was decided stands
};

// An error: the command cannot be run, fails as it is, or takes no time that can be measured; a fix is not known.
GAPLESS_API Result<OptimizeResult> Optimize(const std::vector<std::string>& command,
                                            const OptimizeOptions& options = {});

}  // namespace gapless
