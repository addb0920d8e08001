// SPDX-License-Identifier: Apache-2.0
// Replays the fixes that findings name on top of the chosen ones, in parallel, and keeps the results; moves findings
// below the one that cures them.
#include "predict/open_findings.h"

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

void FixPrices::OfferLateRank(Bottleneck& found, const Predictor::FixedJob& job) {
  if (predictor_ == nullptr || predictor_->all_ranks() < 2) return;
  const auto* late = std::ranges::find(kLateParts, found.id, &LatePart::id);
  if (late == std::end(kLateParts)) late = std::ranges::find(kLateParts, found.type, &LatePart::type);
  if (late == std::end(kLateParts) || (!late->id.empty() && late->id != found.id)) return;
  const WhatIfItem item{.name = std::string(fixes::kStraggler.name), .value = std::string(late->part)};
  if (Of(item, job).value_or(1) < kWorthOffering) return;
  Recommendation advice{.text = std::string(late->advice), .fix = item.ToString(), .code = "", .effort = "hours"};
  const auto first = ItemOf(found, 0);
  const bool usable = first && Of(*first, job).has_value();
  found.recommendations.insert(usable ? found.recommendations.end() : found.recommendations.begin(), std::move(advice));
}

void FixPrices::Learn(const std::vector<WhatIfItem>& items, const Predictor::FixedJob& job) {
  std::vector<std::pair<const WhatIfItem*, std::optional<double>*>> open;
  for (const WhatIfItem& item : items)
    if (const auto [at, is_new] = known_.try_emplace(item.ToString()); is_new) open.emplace_back(&item, &at->second);
  if (open.empty()) return;
  predictor_->pool().ParallelFor(open.size(), [&](size_t i) {
    if (const auto effect = predictor_->ExpectedOf(job, *open[i].first)) *open[i].second = std::exp(-*effect);
  });
}

// The first recommendations, then the others of findings whose first one has an answer.
void FixPrices::LearnAdvice(const std::vector<Bottleneck>& found, const Predictor::FixedJob& job) {
  if (predictor_ == nullptr) return;
  std::vector<WhatIfItem> first, others;
  for (const Bottleneck& bottleneck : found)
    if (const auto item = ItemOf(bottleneck, 0); item && !JudgesRecording(bottleneck)) first.push_back(*item);
  Learn(first, job);
  for (const Bottleneck& bottleneck : found) {
    const auto item = ItemOf(bottleneck, 0);
    if (!item || JudgesRecording(bottleneck) || !Of(*item, job)) continue;
    for (size_t i = 1; i < bottleneck.recommendations.size(); ++i)
      if (const auto other = ItemOf(bottleneck, i)) others.push_back(*other);
  }
  Learn(others, job);
}

std::optional<double> FixPrices::Of(const WhatIfItem& item, const Predictor::FixedJob& job) {
  Learn({item}, job);
  return known_.at(item.ToString());
}

double FixPrices::BestOf(const std::vector<Option>& options, const Predictor::FixedJob& job) {
  double most = 1;
  for (const Option& option : options) most = std::max(most, Of(option.item, job).value_or(1));
  return most;
}

std::vector<Option> FixPrices::OptionsOf(const Bottleneck& found, const Predictor::FixedJob& job) {
  std::vector<Option> options;
  for (size_t i = 0; predictor_ != nullptr && i < found.recommendations.size(); ++i) {
    const auto item = ItemOf(found, i);
    const bool usable = item && Of(*item, job).has_value();
    if (i == 0 && !usable) break;  // the others may be small beside the first
    if (usable) options.push_back({i, *item});
  }
  return options;
}

namespace {

// The one in the list that claims the time of `found` in more general terms; nullptr: none.
const Bottleneck* PlacedWhole(const Bottleneck& found, const std::vector<Bottleneck>& list) {
  const auto at = std::ranges::find_if(list, [&](const Bottleneck& bottleneck) {
    return !found.part_of.empty() && bottleneck.id == found.part_of && !bottleneck.apart;
  });
  return at == list.end() ? nullptr : &*at;
}

}  // namespace

const Option* OpenFinding::Asks(std::string_view name) const {
  const auto at = std::ranges::find_if(options, [&](const Option& option) { return option.item.name == name; });
  return at == options.end() ? nullptr : &*at;
}

void AdviseFirst(size_t recommendation, Bottleneck& found) {
  const auto first = found.recommendations.begin(), chosen = first + static_cast<std::ptrdiff_t>(recommendation);
  std::rotate(first, chosen, chosen + 1);
  constexpr std::string_view kOr = "or ";  // what was the second choice
  if (std::string& text = found.recommendations.front().text; text.starts_with(kOr)) text.erase(0, kOr.size());
}

void HangBelow(const std::string& head, size_t at, std::vector<OpenFinding>& open, std::vector<Bottleneck>& list) {
  Bottleneck& found = open[at].found;
  found.cured_by = head;
  found.gain.reset(), found.step_left = list.back().step_left;
  auto after = std::ranges::find(list, head, &Bottleneck::id);
  while (++after != list.end() && after->cured_by == head) {
  }
  list.insert(after, std::move(found));
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
}

void HangOthers(const std::string& head, std::string_view fix, std::vector<OpenFinding>& open,
                std::vector<Bottleneck>& list) {
  for (size_t i = 0; i < open.size();) {
    Bottleneck& found = open[i].found;
    const Option* const same = fix.empty() ? nullptr : open[i].Asks(fix);
    const Bottleneck* const whole = open[i].options.empty() ? PlacedWhole(found, list) : nullptr;
    if (same == nullptr && whole == nullptr) {
      ++i;
      continue;
    }
    if (same != nullptr) AdviseFirst(same->recommendation, found);
    HangBelow(same != nullptr ? head : whole->cured_by.empty() ? whole->id : whole->cured_by, i, open, list);
    i = 0;  // what is part of this one may be cured with it
  }
}

}  // namespace gapless::internal
