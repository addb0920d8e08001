// SPDX-License-Identifier: Apache-2.0
// Which fixes are worth a try, and in which order: by what the recording says of each.
//
// A fix that predict has a what-if for is asked there; one that only cures a bottleneck that was found has that
// bottleneck's gain; one that nothing supports comes last, by its prior. Values of `workers` and `threads` have a gain
// each, from the recording and the machine (machine_hints.h). Looser classes come later at the same gain. The planner
// tries them by this score and by what a trial costs (plan_order.h).
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
  std::string cures{};                       // the bottleneck that speaks for it: its title
  double score = 1;                          // expected speedup that it is ordered by
  std::string skip{};                        // why it is not tried at all
  bool does_not_apply = false;               // …which is so on this machine or in this program, whatever it brings
  bool was_busy = false;                     // its first run met a busy machine, and it is tried once more
};

struct CandidateOptions {
  std::vector<FixItem> only{};         // empty: all; values given here are tried whatever was predicted
  std::vector<std::string> without{};  // names
  std::span<const Fix> own{};
};

// `predictor` null, or its check not passed: nothing is predicted.
std::vector<Candidate> FindCandidates(const FixContext& context, std::span<const Bottleneck> bottlenecks,
                                      const Predictor* predictor, const CandidateOptions& options);

}  // namespace gapless::internal
