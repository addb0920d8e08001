// SPDX-License-Identifier: Apache-2.0
#include "predict/plan.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/screening.h"

namespace gapless::internal {
namespace {

constexpr double kUntestedConfidence = 0.5;
constexpr double kMinLeft = 0.05;       // of what others leave: no estimate promises more than a factor of 20
constexpr double kWorthSaying = 0.005;  // of the step
constexpr double kRounding = 1.02;      // a gain that passes its stake by less does not
constexpr std::string_view kReplay = "replay";

Gain GainOf(const Effect& effect, std::string_view method, double confidence) {
  return {.low = std::exp(-effect.expected - effect.up),
          .expected = std::exp(-effect.expected),
          .high = std::exp(-effect.expected + effect.down),
          .confidence = confidence,
          .method = std::string(method)};
}

double RemovedBy(double speedup) { return speedup > 1 ? 1 - 1 / speedup : 0; }

// A fix that a finding asks for and that can be replayed.
struct Option {
  size_t recommendation = 0;
  WhatIfItem item{};
  bool apart() const { return SafetyOf(item) >= Safety::kTraining; }
};

// A finding without a place in the list yet.
struct Open {
  Bottleneck found{};
  std::vector<Option> options{};  // none: its rule's estimate stands
  const Option* Asks(std::string_view name) const {
    const auto at =
        std::find_if(options.begin(), options.end(), [&](const Option& one) { return one.item.name == name; });
    return at == options.end() ? nullptr : &*at;
  }
};

// What is best next; without an option: the finding's own estimate.
struct Best {
  size_t open = 0;
  std::optional<Option> option{};
  double gain = 1;
};

// Puts the advice that names the fix first.
void AdviseFirst(size_t recommendation, Bottleneck& found) {
  const auto first = found.recommendations.begin(), chosen = first + static_cast<std::ptrdiff_t>(recommendation);
  std::rotate(first, chosen, chosen + 1);
}

// Where a replay knows better than the share of time at stake: what its fixes would not shorten is minor, and nothing
// is more severe than the most that its fix may bring.
void BoundSeverity(Bottleneck& found) {
  constexpr double kMinor = 0.39;
  if (!found.gain || (found.gain->method != kReplay && found.gain->expected >= kMinBought)) return;
  const double most = found.gain->expected < kMinBought ? 0 : SeverityOfShare(RemovedBy(found.gain->high));
  found.severity = std::min(found.severity, std::max(most, kMinor));
}

class PlanMaker {
 public:
  PlanMaker(const Predictor* predictor, const LedgerView& ledger) : predictor_(predictor), removable_(ledger) {
    if (predictor != nullptr) made_ = predictor->Nothing();
  }

  FixPlan Make(std::vector<Bottleneck>& found) {
    for (Bottleneck& one : found) {
      if (JudgesRecording(one))
        list_.push_back(std::move(one));
      else
        open_.push_back({.found = std::move(one)}), open_.back().options = OptionsOf(open_.back().found);
    }
    for (Best best = FindBest(); best.gain >= kMinBought; best = FindBest()) Take(best);
    TakeTheRest();
    Conclude();
    found = std::move(list_);
    return std::move(plan_);
  }

 private:
  std::vector<Option> OptionsOf(const Bottleneck& found);
  std::optional<double> GainOfItem(const WhatIfItem& item);
  Effect EstimateOf(const Bottleneck& found) const;
  Best FindBest();
  size_t HeadFor(const Best& best) const;
  void Take(const Best& best);
  Gain TakeEstimate(Bottleneck& head);
  Gain TakeOption(const Option& option, Bottleneck& head);
  void Account(const Bottleneck& head, double before);
  std::string AlsoOf(const WhatIfItem& item, const Predictor::Made& after) const;
  void BoundByStake(double before, const std::string& also, Bottleneck& head) const;
  void HangOthers(const std::string& head, std::string_view fix);
  const Bottleneck* PlacedWhole(const Bottleneck& found) const;
  void TakeTheRest();
  void Conclude();
  // Of the recorded step, what is left with all that was taken.
  double Left() const { return std::exp(replayed_.expected + estimated_.expected); }

  const Predictor* predictor_;
  RemovableTime removable_;
  std::vector<Open> open_{};
  std::vector<Bottleneck> list_{};
  std::vector<WhatIfItem> items_{};                       // of the plan
  Predictor::Made made_{};                                // the job with them
  std::map<std::string, std::optional<double>> known_{};  // what items would bring on top
  Effect replayed_{}, estimated_{};
  std::map<std::string, double> of_parts_{};  // by bottleneck: what its parts take away, of the recorded step
  FixPlan plan_{};
};

std::vector<Option> PlanMaker::OptionsOf(const Bottleneck& found) {
  std::vector<Option> options;
  for (size_t i = 0; predictor_ != nullptr && i < found.recommendations.size(); ++i) {
    const std::string& fix = found.recommendations[i].fix;
    const auto items = ParseItems(fix);
    const Safety most = i == 0 ? Safety::kTraining : Safety::kStochastic;
    const bool usable = !fix.empty() && items && items->size() == 1 && SafetyOf((*items)[0]) <= most &&
                        GainOfItem((*items)[0]).has_value();
    if (i == 0 && !usable) break;  // the others may be small beside the first
    if (usable) options.push_back({i, (*items)[0]});
  }
  return options;
}

// On top of what was taken.
std::optional<double> PlanMaker::GainOfItem(const WhatIfItem& item) {
  const auto [at, is_new] = known_.try_emplace(item.ToString());
  if (!is_new) return at->second;
  if (const auto effect = predictor_->ExpectedOf(made_, item)) at->second = std::exp(-*effect);
  return at->second;
}

// The stake gets shorter as the step does by what was replayed.
Effect PlanMaker::EstimateOf(const Bottleneck& found) const {
  if (!found.gain) return {};
  const auto parts = of_parts_.find(found.id);
  const double by_parts = parts == of_parts_.end() ? 0 : parts->second;
  const double before = Left();
  const auto after = [&](double speedup) {
    const double removed = removable_.LeftOf(RemovedBy(speedup) - by_parts, found.type) * std::exp(replayed_.expected);
    return std::log(std::max(before - removed, kMinLeft * before) / before);
  };
  const double expected = after(found.gain->expected);
  return {.expected = expected, .down = expected - after(found.gain->high), .up = after(found.gain->low) - expected};
}

Best PlanMaker::FindBest() {
  constexpr double kClearly = 1e-9;
  Best best;
  for (size_t i = 0; i < open_.size(); ++i) {
    const auto offer = [&](std::optional<Option> option, double gain) {
      if (gain > best.gain + kClearly) best = {i, std::move(option), gain};
    };
    for (const Option& option : open_[i].options) offer(option, GainOfItem(option.item).value_or(1));
    if (open_[i].options.empty()) offer({}, std::exp(-EstimateOf(open_[i].found).expected));
  }
  return best;
}

// Of those that ask for the fix the one with the most at stake.
size_t PlanMaker::HeadFor(const Best& best) const {
  if (!best.option) return best.open;
  size_t head = best.open;
  double most = -1;
  for (size_t i = 0; i < open_.size(); ++i) {
    const Option* option = open_[i].Asks(best.option->item.name);
    if (option == nullptr || option->item.ToString() != best.option->item.ToString()) continue;
    const double stake = open_[i].found.share_of_step.value_or(0);
    if (stake > most) head = i, most = stake;
  }
  return head;
}

void PlanMaker::Take(const Best& best) {
  const size_t at = HeadFor(best);
  Open head = std::move(open_[at]);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
  const std::string id = head.found.id, fix = best.option ? best.option->item.ToString() : "";
  head.found.step_left = Left();
  if (best.option) AdviseFirst(head.Asks(best.option->item.name)->recommendation, head.found);
  const Gain gain = best.option ? TakeOption(*best.option, head.found) : TakeEstimate(head.found);
  const bool apart = head.found.apart;
  BoundSeverity(head.found);
  list_.push_back(std::move(head.found));
  HangOthers(id, best.option ? best.option->item.name : "");
  if (apart) return;
  plan_.steps.push_back(
      {.id = id,
       .fix = fix,
       .gain = gain,
       .so_far = GainOf(replayed_ + estimated_, items_.empty() ? gain.method : kReplay,
                        std::min(gain.confidence, plan_.steps.empty() ? 1 : plan_.steps.back().so_far.confidence))});
}

Gain PlanMaker::TakeEstimate(Bottleneck& head) {
  const double before = Left();
  const Effect effect = EstimateOf(head);
  head.gain = GainOf(effect, head.gain->method, head.gain->confidence);
  BoundByStake(before, "", head);
  estimated_ = estimated_ + Effect{.expected = -std::log(head.gain->expected), .down = effect.down, .up = effect.up};
  Account(head, before);
  return *head.gain;
}

// What changes the training is priced, and not made.
Gain PlanMaker::TakeOption(const Option& option, Bottleneck& head) {
  const double before = Left();
  std::vector<WhatIfItem> items = items_;
  items.push_back(option.item);
  const auto prediction = predictor_->Predict(items);
  const auto tested = predictor_->calibration().TestedOf(option.item.name);
  head.gain = GainOf(prediction->effects.back() + prediction->replay_error, kReplay,
                     tested.programs > 0 ? kCoverage : kUntestedConfidence);
  head.gain->tested_programs = static_cast<int64_t>(tested.programs);
  head.apart = option.apart();
  auto after = predictor_->With(made_, option.item);
  BoundByStake(before, AlsoOf(option.item, *after), head);
  if (head.apart) return *head.gain;
  items_ = std::move(items), replayed_ = EffectOf(prediction->share);
  made_ = std::move(*after), known_.clear();
  Account(head, before);
  return *head.gain;
}

void PlanMaker::Account(const Bottleneck& head, double before) {
  removable_.Take(std::max(0.0, before - Left()), head.type);
  if (!head.part_of.empty()) of_parts_[head.part_of] += before - Left();
}

// What a fix does beside curing what it is for.
std::string PlanMaker::AlsoOf(const WhatIfItem& item, const Predictor::Made& after) const {
  const std::string name = item.ToString();
  if (after.work != made_.work)
    return StrCat(name, " does the work of a step for more samples, so that what a step costs once counts less");
  const Predictor::Removed removed = predictor_->RemovedBy(made_, after);
  const auto worth = [&](int64_t ns) {
    return static_cast<double>(ns) >= kWorthSaying * static_cast<double>(predictor_->step_ns());
  };
  std::vector<std::string> parts;
  if (worth(removed.host_ns)) parts.push_back(StrCat(FormatDuration(removed.host_ns), " of the host's work"));
  if (worth(removed.device_ns)) parts.push_back(StrCat(FormatDuration(removed.device_ns), " of work on the device"));
  if (parts.empty()) return StrCat("with ", name, " other work no longer waits for it, and overlaps");
  return StrCat("in all, ", name, " takes ", Join(parts, " and "), " out of a step");
}

// Nothing brings more than the time at stake, unless it does more than that and says so.
void PlanMaker::BoundByStake(double before, const std::string& also, Bottleneck& head) const {
  if (!head.share_of_step) return;
  const double stake = std::min(*head.share_of_step / before, 1 - kMinLeft), most = 1 / (1 - stake);
  Gain& gain = *head.gain;
  if (gain.expected <= most * kRounding) return;
  if (!also.empty())
    head.also = also;
  else
    gain.expected = std::max(1.0, most), gain.high = std::max(gain.expected, std::min(gain.high, most)),
    gain.low = std::min(gain.low, gain.expected);
}

// The one in the plan that claims the time of `found` in more general terms; nullptr: none.
const Bottleneck* PlanMaker::PlacedWhole(const Bottleneck& found) const {
  const auto at = std::find_if(list_.begin(), list_.end(), [&](const Bottleneck& one) {
    return !found.part_of.empty() && one.id == found.part_of && !one.apart;
  });
  return at == list_.end() ? nullptr : &*at;
}

// Those that ask for the same fix, and those without a fix that can be replayed whose time is part of what is cured.
void PlanMaker::HangOthers(const std::string& head, std::string_view fix) {
  for (size_t i = 0; i < open_.size();) {
    Bottleneck& found = open_[i].found;
    const Option* const same = fix.empty() ? nullptr : open_[i].Asks(fix);
    const Bottleneck* const whole = open_[i].options.empty() ? PlacedWhole(found) : nullptr;
    if (same == nullptr && whole == nullptr) {
      ++i;
      continue;
    }
    if (same != nullptr) AdviseFirst(same->recommendation, found);
    found.cured_by = same != nullptr ? head : whole->cured_by.empty() ? whole->id : whole->cured_by;
    found.gain.reset(), found.step_left = list_.back().step_left;
    auto after =
        std::find_if(list_.begin(), list_.end(), [&](const Bottleneck& one) { return one.id == found.cured_by; });
    while (++after != list_.end() && after->cured_by == found.cured_by) {
    }
    list_.insert(after, std::move(found));
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;  // what is part of this one may be cured with it
  }
}

// Those whose gain nobody knows, then those that buy nothing; each by what is at stake.
void PlanMaker::TakeTheRest() {
  for (Open& one : open_) {
    one.found.step_left = Left();
    if (!one.options.empty()) {
      const auto best = std::max_element(one.options.begin(), one.options.end(), [&](const Option& a, const Option& b) {
        return GainOfItem(a.item) < GainOfItem(b.item);
      });
      std::vector<WhatIfItem> items = items_;
      items.push_back(best->item);
      const auto prediction = predictor_->Predict(items);
      one.found.gain = GainOf(prediction->effects.back() + prediction->replay_error, kReplay, kUntestedConfidence);
    } else if (one.found.gain) {
      one.found.gain = GainOf(EstimateOf(one.found), one.found.gain->method, one.found.gain->confidence);
    }
  }
  std::stable_sort(open_.begin(), open_.end(), [](const Open& a, const Open& b) {
    if (a.found.gain.has_value() != b.found.gain.has_value()) return b.found.gain.has_value();
    return a.found.severity > b.found.severity;
  });
  for (Open& one : open_) {
    BoundSeverity(one.found);
    list_.push_back(std::move(one.found));
  }
}

void PlanMaker::Conclude() {
  if (plan_.steps.empty()) return;
  Combination& together = plan_.together.emplace();
  together.gain = plan_.steps.back().so_far;
  for (PlanStep& step : plan_.steps) {
    together.ids.push_back(step.id);
    if (step.gain.method != kReplay) together.estimated.push_back(step.id);
    for (const Bottleneck& one : list_)
      if (one.cured_by == step.id) step.cures.push_back(one.id);
  }
  for (const WhatIfItem& item : items_) {
    together.fixes.push_back(item.ToString());
    if (predictor_->calibration().TestedOf(item.name).programs == 0) together.untested.push_back(item.name);
  }
  for (const Bottleneck& one : list_)
    if (one.apart) together.left_out.push_back(one.id);
  if (!items_.empty()) together.replayed = GainOf(replayed_, kReplay, together.gain.confidence);
}

}  // namespace

Gain GainOf(const Prediction& prediction, const Calibration& calibration) {
  int64_t least = prediction.what.empty() ? 0 : INT64_MAX;
  for (const WhatIfItem& item : prediction.what)
    least = std::min(least, static_cast<int64_t>(calibration.TestedOf(item.name).programs));
  Gain gain = GainOf(EffectOf(prediction.share), kReplay, least > 0 ? kCoverage : kUntestedConfidence);
  gain.tested_programs = least;
  return gain;
}

FixPlan MakePlan(const Predictor* predictor, const LedgerView& ledger, std::vector<Bottleneck>& found) {
  return PlanMaker(predictor, ledger).Make(found);
}

}  // namespace gapless::internal
