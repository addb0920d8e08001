// SPDX-License-Identifier: Apache-2.0
// The fixes that findings ask for, and what each brings on top of what a plan has taken. Computed side by side, once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/bottleneck.h"
#include "predict/predictor.h"

namespace gapless::internal {

// A fix that a finding asks for and that can be replayed.
struct Option {
  size_t recommendation = 0;
  WhatIfItem item{};
  bool apart() const { return SafetyOf(item) >= Safety::kTraining; }
};

class FixPrices {
 public:
  // `predictor`: null if nothing can be replayed; then no finding has an option.
  explicit FixPrices(const Predictor* predictor) : predictor_(predictor) {}

  // Computes the gains of `items` on top of `made`, side by side.
  void Learn(const std::vector<WhatIfItem>& items, const Predictor::Made& made);
  // Does so for what findings recommend.
  void LearnAdvice(const std::vector<Bottleneck>& found, const Predictor::Made& made);
  // Recommends, in a job of several ranks, to bring the late rank's part of a finding (its waits for batches, its host)
  // to the other ranks' time, where the job waits for that. The mean over the ranks says little of what the job would
  // save.
  void OfferLateRank(Bottleneck& found, const Predictor::Made& made);
  // Returns the gain as a factor; absent: there is no answer.
  std::optional<double> Of(const WhatIfItem& item, const Predictor::Made& made);
  // Returns the fixes with an answer that the finding recommends; none if its first recommendation has no answer.
  std::vector<Option> OptionsOf(const Bottleneck& found, const Predictor::Made& made);
  // To be called when `made` is another one.
  void Forget() { known_.clear(); }

 private:
  const Predictor* predictor_;
  std::map<std::string, std::optional<double>> known_{};
};

}  // namespace gapless::internal
