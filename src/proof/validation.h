// SPDX-License-Identifier: Apache-2.0
// Validates an optimisation: it must be faster, train the same, and not leave the branch slower than it was.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proof/comparison.h"
#include "proof/judgement.h"

namespace gapless::internal {

struct ValidationQuestion {
  PairPlan pairs{};  // A: as it was, B: optimised
  PairOptions options{};
  bool higher_is_better = false;
  Safety allow = Safety::kStochastic;  // the most that B may change of the training
  HistoryQuestion history{};           // that B must not fall behind
  std::string commit_sha{}, branch{},
      label{};         // commit of B; empty: the commit that git reports for its working directory
  bool record = true;  // B, in the history, where it is accepted
  std::function<void(PairPlan&, const Comparison&)> on_begin{};  // before the first run; it may follow the runs
};

// A Validation is the answer, with all that it is made from.
struct Validation {
  Comparison comparison;
  Judgement judgement{};
  std::optional<int64_t> recorded{};   // the run's number in the history
  std::string nothing_differs{};       // why A and B are one, so that nothing was run; empty: they were run
  std::vector<std::string> against{};  // reasons against B; empty: accepted
  bool IsAccepted() const { return against.empty(); }
};

// The answer where A and B are one: refused, with `why`, and without a run.
Validation NothingDiffers(const ValidationQuestion& question, std::string why);

// Runs the pairs until they are decided, judges B against the history, and records it if no reason against it was
// found.
Result<Validation> ValidateOptimization(const ValidationQuestion& question, History& history);

}  // namespace gapless::internal
