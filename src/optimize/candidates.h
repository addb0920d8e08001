// SPDX-License-Identifier: Apache-2.0
// The candidate fixes and their order, scored from the recording.
//
// The score of a fix is its predicted gain if predict has a what-if for it, else the gain of the bottleneck that it
// cures, else a share of its prior. Each value of `workers` and `threads` has its own gain, from the recording and the
// machine (machine_hints.h). At the same gain, a fix of a riskier safety class comes later. The planner tries fixes by
// this score and by the time of a trial (plan_order.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gapless/bottleneck.h"
#include "optimize/fix_set.h"
#include "predict/predictor.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

struct Candidate {
  FixItem item{};
  std::vector<std::string> others{};         // further values, tried once this one is on
  std::optional<RatioInterval> predicted{};  // speedups
  std::string cures{};                       // title of the bottleneck that the fix cures
  double score = 1;                          // expected speedup that it is ordered by
  std::string skip{};                        // why it is not tried at all
  bool does_not_apply = false;               // …which is so on this machine or in this program, whatever it brings
  bool was_busy = false;                     // its first run met a busy machine, and it is tried once more
};

// CandidateOptions name the fixes that the user wants or excludes.
struct CandidateOptions {
  std::vector<FixItem> only{};         // empty: all; values given here are tried whatever was predicted
  std::vector<std::string> without{};  // names
  std::span<const Fix> own{};
};

// Returns the candidates in the order of their score, fixes with a slow start last; skipped ones are among them,
// with the reason. `predictor` is null, or its check not passed: nothing is predicted. The items refer to the
// catalogue and to `own`, which must outlive them.
std::vector<Candidate> FindCandidates(const FixContext& context, std::span<const Bottleneck> bottlenecks,
                                      const Predictor* predictor, const CandidateOptions& options);

}  // namespace gapless::internal
