// SPDX-License-Identifier: Apache-2.0
// The progress line of runs in pairs, for compare and validate.
#pragma once

#include <string>

#include "base/strings.h"
#include "cli/progress.h"
#include "report/compare/report.h"

namespace gapless::internal {

class PairProgress {
 public:
  // `shows`: progress is wanted.
  PairProgress(std::string doing, bool shows) : doing_(std::move(doing)), shows_(shows) {}

  // From here on the runs of `plan` are shown: which run it is, and what the pairs before it say. `comparison` and this
  // outlive the runs.
  void Follow(PairPlan& plan, const Comparison& comparison) {
    if (!shows_) return;
    plan.on_run = [this, most = plan.most_pairs, &comparison](size_t done) {
      const bool is_again = comparison.repeated() > repeated_ && done == done_;
      if (done != done_) done_ = done, repeated_ = comparison.repeated();
      Show(StrCat("pair ", done + 1, is_again ? " again, as other processes were busy" : "",
                  done > 0 ? StrCat(": ", SpeedupInShort(comparison), " so far") : ""),
           done, most);
    };
    plan.on_same = [this](std::string_view what) { Show(StrCat("the training: ", what), 0, 0); };
  }

 private:
  void Show(const std::string& what, size_t done, size_t most) {
    line_.Update(doing_, what, done, most,
                 [](uint64_t pairs) { return pairs > 0 ? StrCat(pairs, " pairs at most") : std::string(); });
  }

  std::string doing_;
  bool shows_;
  size_t done_ = 0;      // pairs that counted, of the last run shown
  size_t repeated_ = 0;  // pairs that had been run again when this pair began
  ProgressLine line_{ProgressLine::AtOnce()};
};

}  // namespace gapless::internal
