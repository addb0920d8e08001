// SPDX-License-Identifier: Apache-2.0
// The findings that have no place in a plan yet: the fixes that they ask for, what each of these brings on top of what
// the plan has taken, and what becomes of the findings when another one is placed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/bottleneck.h"
#include "predict/predictor.h"

namespace gapless::internal {

// A fix that a finding asks for and that can be replayed.
struct Option {
  size_t recommendation = 0;
  WhatIfItem item{};
  bool changes_training() const { return SafetyOf(item) >= Safety::kTraining; }
};

// FixPrices is what fixes save. Computed side by side, once.
class FixPrices {
 public:
  // `predictor`: null if nothing can be replayed; then no finding has an option.
  explicit FixPrices(const Predictor* predictor) : predictor_(predictor) {}

  // Computes the gains of `items` on top of `job`, side by side.
  void Learn(const std::vector<WhatIfItem>& items, const Predictor::FixedJob& job);
  // Does so for what findings recommend.
  void LearnAdvice(const std::vector<Bottleneck>& found, const Predictor::FixedJob& job);
  // Recommends, in a job of several ranks, to bring the late rank's part of a finding (its waits for batches, its host)
  // to the other ranks' time, where the job waits for that. The mean over the ranks says little of what the job would
  // save.
  void OfferLateRank(Bottleneck& found, const Predictor::FixedJob& job);
  // Returns the gain as a factor; absent: there is no answer.
  std::optional<double> Of(const WhatIfItem& item, const Predictor::FixedJob& job);
  // Returns the most that one of the options brings, as a factor; 1 where none has an answer.
  double BestOf(const std::vector<Option>& options, const Predictor::FixedJob& job);
  // Returns the fixes with an answer that the finding recommends; none if its first recommendation has no answer.
  std::vector<Option> OptionsOf(const Bottleneck& found, const Predictor::FixedJob& job);
  // To be called when `job` is another one.
  void Forget() { known_.clear(); }

 private:
  const Predictor* predictor_;
  std::map<std::string, std::optional<double>> known_{};
};

struct OpenFinding {
  Bottleneck found{};
  std::vector<Option> options{};  // none: its rule's estimate stands
  double alone = 1;               // what the best of the options brings by itself
  // The option that names the fix; null: it does not ask for it.
  const Option* Asks(std::string_view name) const;
};

// Puts the advice at that place first.
void AdviseFirst(size_t recommendation, Bottleneck& found);

// Moves the finding at `at` from `open` into `list`, below `head`, whose fix cures it.
void HangBelow(const std::string& head, size_t at, std::vector<OpenFinding>& open, std::vector<Bottleneck>& list);

// Moves from `open` into `list`, below the finding that cures them, those that ask for the same fix as `head`, which
// was placed last, and those without a fix that can be replayed whose time is part of what is cured. They have no gain
// of their own. `fix`: its name; empty: an estimate was placed, not a fix.
void HangOthers(const std::string& head, std::string_view fix, std::vector<OpenFinding>& open,
                std::vector<Bottleneck>& list);

}  // namespace gapless::internal
