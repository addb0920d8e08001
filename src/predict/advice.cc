// SPDX-License-Identifier: Apache-2.0
#include "predict/advice.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kLeastGain = 1.005;  // fixes that buy less are not worth a place in the combination
constexpr std::string_view kReplay = "replay";

// The item that a recommendation names; absent: it names none, or one that cannot be read.
std::optional<WhatIfItem> ItemOf(const Recommendation& recommendation) {
  if (recommendation.fix.empty()) return std::nullopt;
  auto items = ParseItems(recommendation.fix);
  return items && items->size() == 1 ? std::optional(std::move((*items)[0])) : std::nullopt;
}
// Of the first one, which is what a bottleneck's gain is of.
std::optional<WhatIfItem> ItemOf(const Bottleneck& bottleneck) {
  return bottleneck.recommendations.empty() ? std::nullopt : ItemOf(bottleneck.recommendations[0]);
}

// A fix that can be chosen, and the place of its bottleneck in the ranked list.
struct Choice {
  size_t place = 0;
  WhatIfItem item{};
};

// The one with which the step is shortest, when it is shorter than `most`; the end: none is.
std::vector<Choice>::iterator BestBeside(const Predictor& predictor, std::vector<WhatIfItem> items,
                                         std::vector<Choice>& choices, double most) {
  auto best = choices.end();
  items.emplace_back();
  for (auto it = choices.begin(); it != choices.end(); ++it) {
    items.back() = it->item;
    const auto share = predictor.ExpectedShare(items);
    if (share && *share < most) most = *share, best = it;
  }
  return best;
}

}  // namespace

// Four of five truths lie within the interval when the pairs in the ledger are like this one; where no pair of the kind
// was tested it is said with less confidence.
Gain GainOf(const Prediction& prediction, const Calibration& calibration) {
  constexpr double kUntested = 0.5;
  const auto quote = calibration.QuoteFor(KindOf(prediction.what));
  return {.low = 1 / prediction.share.high,
          .expected = 1 / prediction.share.expected,
          .high = 1 / prediction.share.low,
          .confidence = quote && !quote->any_kind ? kCoverage : kUntested,
          .method = std::string(kReplay)};
}

Advice::Advice(Tables& tables, std::span<const AdviceRow> ledger) : tables_(tables), diagnosis_(Diagnose(tables)) {
  predictor_ = Predictor::Make(tables, ledger);
  if (!predictor_ || !predictor_->check().accepted()) return;
  for (Bottleneck& one : diagnosis_.bottlenecks) Price(one);
  std::stable_sort(diagnosis_.bottlenecks.begin(), diagnosis_.bottlenecks.end(), RanksBefore);
}

// Of the recommended fixes the one that buys most, which is then recommended first. Where the first one of the rule
// cannot be predicted the rule's own estimate stays: the others may be small beside it. So it does where the rule asks
// for another machine (host=0.5), which stands for more than the bottleneck. What changes the training comes first only
// where the rule puts it there.
void Advice::Price(Bottleneck& bottleneck) const {
  std::vector<Recommendation>& all = bottleneck.recommendations;
  auto best = all.begin();
  for (auto one = all.begin(); one != all.end(); ++one) {
    const bool first = one == all.begin();
    auto gain = GainOfFix(*one, first ? Safety::kTraining : Safety::kRounding);
    if (first && !gain) return;
    if (!gain || (!first && gain->expected <= bottleneck.gain->expected)) continue;
    bottleneck.gain = std::move(gain), best = one;
  }
  if (best != all.end()) std::rotate(all.begin(), best, best + 1);
}

// Absent: there is no fix, it does more to the program than that, or cannot be predicted.
std::optional<Gain> Advice::GainOfFix(const Recommendation& recommendation, Safety most) const {
  const auto item = ItemOf(recommendation);
  if (!item || SafetyOf(item->name) > most) return std::nullopt;
  const auto prediction = predictor_->Predict({*item});
  if (!prediction || !prediction->refusal.empty()) return std::nullopt;
  return GainOf(*prediction, predictor_->calibration());
}

// Of the fixes that leave the training what it is, one after the other the one that makes the step shortest beside
// those chosen before: what hides behind a slow loader counts once the loader is fixed.
std::optional<Combination> Advice::Together(const std::vector<Bottleneck>& bottlenecks) const {
  std::vector<Choice> left;
  for (size_t place = 0; place < bottlenecks.size(); ++place) {
    auto item = ItemOf(bottlenecks[place]);
    const bool priced = item && bottlenecks[place].gain && bottlenecks[place].gain->method == kReplay &&
                        SafetyOf(item->name) <= Safety::kRounding;
    const auto known = [&](const Choice& one) { return one.item.name == item->name; };
    if (priced && std::none_of(left.begin(), left.end(), known)) left.push_back({place, std::move(*item)});
  }
  std::vector<Choice> chosen;
  std::vector<WhatIfItem> items;
  for (double share = 1; chosen.size() < kMostTogether;) {
    const auto best = BestBeside(*predictor_, items, left, share / kLeastGain);
    if (best == left.end()) break;
    items.push_back(best->item);
    share = *predictor_->ExpectedShare(items);
    chosen.push_back(std::move(*best));
    left.erase(best);
  }
  const auto prediction = predictor_->Predict(items);
  if (chosen.empty() || !prediction || !prediction->refusal.empty()) return std::nullopt;
  Combination together{.gain = GainOf(*prediction, predictor_->calibration())};
  for (const WhatIfItem& item : items) together.fixes.push_back(item.ToString());
  std::sort(chosen.begin(), chosen.end(), [](const Choice& a, const Choice& b) { return a.place < b.place; });
  for (const Choice& one : chosen) together.ids.push_back(bottlenecks[one.place].id);
  if (const auto quote = predictor_->calibration().QuoteFor(KindOf(items))) {
    together.tested_within = quote->within;
    together.tested_pairs = static_cast<int64_t>(quote->pairs);
    together.tested_of_this_kind = !quote->any_kind;
  }
  return together;
}

Findings Advice::Conclude(const AnalyzeOptions& options) const {
  Findings findings = internal::Conclude(tables_, diagnosis_, options);
  if (!predictor_ || !predictor_->check().accepted()) return findings;
  findings.summary.together = Together(findings.diagnosis.bottlenecks);
  if (findings.summary.together) findings.summary.estimated_speedup = findings.summary.together->gain;
  return findings;
}

std::vector<SweptPart> Advice::SweepKernels() const {
  constexpr size_t kDrawn = 6;
  if (!predictor_ || !predictor_->check().accepted()) return {};
  return Sweep(*predictor_, SweepBy::kKernel, kDrawn);
}

std::optional<StepPictures> Advice::Draw(const Combination& together) const {
  const auto items = ParseItems(Join(together.fixes, ","));
  if (!items || !predictor_ || !predictor_->check().accepted()) return std::nullopt;
  const auto edge_ns = predictor_->Edges(*items);
  if (!edge_ns) return std::nullopt;
  const std::vector<std::vector<int64_t>> times = ReplayJob(predictor_->job(), *edge_ns);
  if (times.empty()) return std::nullopt;
  const RankGraph& rank = predictor_->main_rank();
  StepPictures pictures{.before = DrawStep(rank, rank.graph.recorded_ns), .after = DrawStep(rank, times[0])};
  return pictures.before.lanes.empty() ? std::nullopt : std::optional(std::move(pictures));
}

}  // namespace gapless::internal
