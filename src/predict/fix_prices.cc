// SPDX-License-Identifier: Apache-2.0
// Replays the fixes that findings name on top of the chosen ones, in parallel, and keeps the results.
#include "predict/fix_prices.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnose/screening.h"
#include "fixes/names.h"

namespace gapless::internal {
namespace {

constexpr double kWorthOffering = 1.05;

// The item that a recommendation names; absent: none that a plan may take.
std::optional<WhatIfItem> ItemOf(const Bottleneck& found, size_t recommendation) {
  if (recommendation >= found.recommendations.size()) return std::nullopt;
  const std::string& fix = found.recommendations[recommendation].fix;
  const auto items = ParseItems(fix);
  const Safety most = recommendation == 0 ? Safety::kTraining : Safety::kStochastic;
  const bool usable = !fix.empty() && items && items->size() == 1 && SafetyOf((*items)[0]) <= most;
  return usable ? std::optional((*items)[0]) : std::nullopt;
}

// The part of its time that one rank may be late with, by the kind of finding.
struct LatePart {
  BottleneckType type;
  std::string_view id;  // empty: every finding of the type
  std::string_view part, advice;
};
constexpr LatePart kLateParts[] = {
    {BottleneckType::kMultiGpuComm, "host_straggler", "", "bring the late rank to the time of the others"},
    {BottleneckType::kDataLoading, "", "data",
     "one rank waits longer for its batches than the others, which wait for it: look at its shard, its disk and its "
     "processors"},
    {BottleneckType::kHostBound, "", "host",
     "one rank's host takes longer than the others', which wait for it: remove what only this rank does"},
};

}  // namespace

void FixPrices::OfferLateRank(Bottleneck& found, const Predictor::Made& made) {
  if (predictor_ == nullptr || predictor_->all_ranks() < 2) return;
  const auto* late = std::ranges::find(kLateParts, found.id, &LatePart::id);
  if (late == std::end(kLateParts)) late = std::ranges::find(kLateParts, found.type, &LatePart::type);
  if (late == std::end(kLateParts) || (!late->id.empty() && late->id != found.id)) return;
  const WhatIfItem item{.name = std::string(fixes::kStraggler.name), .value = std::string(late->part)};
  if (Of(item, made).value_or(1) < kWorthOffering) return;
  Recommendation advice{.text = std::string(late->advice), .fix = item.ToString(), .code = "", .effort = "hours"};
  const auto first = ItemOf(found, 0);
  const bool usable = first && Of(*first, made).has_value();
  found.recommendations.insert(usable ? found.recommendations.end() : found.recommendations.begin(), std::move(advice));
}

void FixPrices::Learn(const std::vector<WhatIfItem>& items, const Predictor::Made& made) {
  std::vector<std::pair<const WhatIfItem*, std::optional<double>*>> open;
  for (const WhatIfItem& item : items)
    if (const auto [at, is_new] = known_.try_emplace(item.ToString()); is_new) open.emplace_back(&item, &at->second);
  if (open.empty()) return;
  predictor_->pool().ParallelFor(open.size(), [&](size_t i) {
    if (const auto effect = predictor_->ExpectedOf(made, *open[i].first)) *open[i].second = std::exp(-*effect);
  });
}

// The first recommendations, then the others of findings whose first one has an answer.
void FixPrices::LearnAdvice(const std::vector<Bottleneck>& found, const Predictor::Made& made) {
  if (predictor_ == nullptr) return;
  std::vector<WhatIfItem> first, others;
  for (const Bottleneck& bottleneck : found)
    if (const auto item = ItemOf(bottleneck, 0); item && !JudgesRecording(bottleneck)) first.push_back(*item);
  Learn(first, made);
  for (const Bottleneck& bottleneck : found) {
    const auto item = ItemOf(bottleneck, 0);
    if (!item || JudgesRecording(bottleneck) || !Of(*item, made)) continue;
    for (size_t i = 1; i < bottleneck.recommendations.size(); ++i)
      if (const auto other = ItemOf(bottleneck, i)) others.push_back(*other);
  }
  Learn(others, made);
}

std::optional<double> FixPrices::Of(const WhatIfItem& item, const Predictor::Made& made) {
  Learn({item}, made);
  return known_.at(item.ToString());
}

std::vector<Option> FixPrices::OptionsOf(const Bottleneck& found, const Predictor::Made& made) {
  std::vector<Option> options;
  for (size_t i = 0; predictor_ != nullptr && i < found.recommendations.size(); ++i) {
    const auto item = ItemOf(found, i);
    const bool usable = item && Of(*item, made).has_value();
    if (i == 0 && !usable) break;  // the others may be small beside the first
    if (usable) options.push_back({i, *item});
  }
  return options;
}

}  // namespace gapless::internal
