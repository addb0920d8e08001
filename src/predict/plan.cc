// SPDX-License-Identifier: Apache-2.0
// Makes the plan greedily: it repeats taking the fix or the estimate that is worth most on top of the chosen ones.
// Findings that a chosen fix cures are listed below the one it was chosen for.
#include "predict/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/screening.h"
#include "fixes/names.h"
#include "predict/open_findings.h"

namespace gapless::internal {
namespace {

constexpr double kUntestedConfidence = 0.5;
constexpr double kMinLeft = 0.05;       // smallest remaining share: no estimate exceeds a factor of 20
constexpr double kWorthSaying = 0.005;  // smallest saving that is mentioned, as a share of the step
constexpr double kWorthHanging = 1.02;  // gain alone of what is said to be cured by another fix
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

// The best next fix; without an option, the finding's own estimate.
struct Best {
  size_t open = 0;
  std::optional<Option> option{};
  int severity = -1;  // 2 critical, 1 warning, 0 minor; −1: there is none
  double gain = 1, worth = 0;
};

int SeverityClass(double severity) { return severity > kCriticalSeverity ? 2 : severity >= kWarningSeverity ? 1 : 0; }

// Ours: what hours and days of work, and results that change, take off the worth of a fix.
double EaseOf(std::string_view effort) { return effort == "days" ? 0.4 : effort == "hours" ? 0.7 : 1; }
double TrustOf(Safety safety) { return safety == Safety::kExact ? 1 : safety == Safety::kRounding ? 0.95 : 0.9; }

std::string_view SafetyText(Safety safety) {
  switch (safety) {
    case Safety::kExact: return "changes no result";
    case Safety::kRounding: return "changes results by rounding";
    case Safety::kStochastic: return "changes random numbers";
    default: return "";
  }
}

// A cause that makes one rank late holds up the whole job. It goes first if it brings this share of what the best fix
// does: before the waiting, which is its symptom, and before what only makes the waiting shorter.
constexpr double kMostOfIt = 0.8;
bool IsLateRank(const Option& option) { return option.item.name == fixes::kStraggler.name; }

// Bounds the severity of a finding by its replay: a finding is minor if its fixes shorten nothing, and at most as
// severe as its fix may save.
void BoundSeverity(Bottleneck& found) {
  if (!found.gain || (found.gain->method != kReplay && found.gain->expected >= kMinBought)) return;
  found.severity = std::min(found.severity, MostSevere(found.gain->expected));
}

// The speedup if all of the affected time went, when `before` of the recorded step is left; no limit if it is not
// known.
double MostOf(const Bottleneck& found, double before) {
  if (!found.share_of_step) return std::numeric_limits<double>::infinity();
  return 1 / (1 - std::min(*found.share_of_step / before, 1 - kMinLeft));
}

class PlanMaker {
 public:
  PlanMaker(const Predictor* predictor, const LedgerView& ledger)
      : predictor_(predictor), removable_(ledger), prices_(predictor) {
    if (predictor != nullptr) so_far_ = predictor->Start();
  }

  FixPlan Make(std::vector<Bottleneck>& found) {
    for (Bottleneck& bottleneck : found)
      if (!JudgesRecording(bottleneck)) prices_.OfferLateRank(bottleneck, so_far_.expected);
    prices_.LearnAdvice(found, so_far_.expected);
    for (Bottleneck& bottleneck : found) {
      if (JudgesRecording(bottleneck))
        list_.push_back(std::move(bottleneck));
      else
        open_.push_back({.found = std::move(bottleneck)}),
            open_.back().options = prices_.OptionsOf(open_.back().found, so_far_.expected);
    }
    for (OpenFinding& open : open_) open.alone = prices_.BestOf(open.options, so_far_.expected);
    for (Best best = FindBest(); best.severity >= 0; best = FindBest()) {
      Take(best);
      HangEmptied();
    }
    // Without a waste of its own a fix is not worth a line once others have left it nothing.
    std::erase_if(open_, [](const OpenFinding& open) { return open.found.id == kPredictedFix; });
    TakeTheRest();
    Conclude();
    found = std::move(list_);
    return std::move(plan_);
  }

 private:
  Effect EstimateOf(const Bottleneck& found) const;
  void LearnOpen();
  Best FindBest();
  void Offer(size_t open, std::optional<Option> option, double gain, double low, Best& best) const;
  std::string WhyFirst(const Bottleneck& head, const std::optional<Option>& option) const;
  size_t HeadFor(const Best& best) const;
  void Take(const Best& best);
  void HangEmptied();
  Gain TakeEstimate(Bottleneck& head);
  std::pair<Predictor::Progress, Prediction> PredictBeside(const WhatIfItem& item) const;
  Gain TakeOption(const Option& option, Bottleneck& head);
  void Account(const Bottleneck& head, double before);
  std::string AlsoOf(const WhatIfItem& item, const Predictor::FixedJob& after) const;
  void BoundByStake(double before, const std::string& also, Bottleneck& head) const;
  void TakeTheRest();
  void Conclude();
  // Returns the remaining share of the recorded step with all chosen fixes.
  double Left() const { return std::exp(replayed_.expected + estimated_.expected); }

  const Predictor* predictor_;
  RemovableTime removable_;
  std::vector<OpenFinding> open_{};
  std::vector<Bottleneck> list_{};
  Predictor::Progress so_far_{};  // the job with the items of the plan
  FixPrices prices_;              // prices of items on top of the chosen ones
  Effect replayed_{}, estimated_{};
  std::map<std::string, double> of_parts_{};  // by bottleneck: what its parts take away, of the recorded step
  double severity_ = 1;                       // of what was placed last
  FixPlan plan_{};
};

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

// Takes a fix, or a finding's own estimate, for the best if it is.
void PlanMaker::Offer(size_t open, std::optional<Option> option, double gain, double low, Best& best) const {
  constexpr double kClearly = 1e-9;
  if (gain < kMinBought) return;
  const Bottleneck& found = open_[open].found;
  const Recommendation* advice = found.recommendations.empty() ? nullptr : &found.recommendations.front();
  if (option) advice = &found.recommendations[option->recommendation];
  const double saved = (RemovedBy(gain) + RemovedBy(low)) / 2;
  const double worth =
      saved * (advice != nullptr ? EaseOf(advice->effort) : 1) * (option ? TrustOf(SafetyOf(option->item)) : 1);
  const int severity = SeverityClass(std::min(found.severity, option ? MostSevere(gain) : 1));
  if (severity < best.severity || (severity == best.severity && worth <= best.worth + kClearly)) return;
  best = {open, std::move(option), severity, gain, worth};
}

// Computes what all fixes that are asked for bring beside those taken.
void PlanMaker::LearnOpen() {
  std::vector<WhatIfItem> items;
  for (const OpenFinding& open : open_)
    for (const Option& option : open.options) items.push_back(option.item);
  prices_.Learn(items, so_far_.expected);
}

Best PlanMaker::FindBest() {
  LearnOpen();
  Best best, cause;  // cause: what one rank is late with
  for (size_t i = 0; i < open_.size(); ++i) {
    for (const Option& option : open_[i].options) {
      const double gain = prices_.Of(option.item, so_far_.expected).value_or(1);
      Offer(i, option, gain, gain, best);
      if (IsLateRank(option) && !option.item.value.empty()) Offer(i, option, gain, gain, cause);
    }
    if (!open_[i].options.empty()) continue;
    const Effect effect = EstimateOf(open_[i].found);
    const double gain = std::exp(-effect.expected), most = MostOf(open_[i].found, Left());
    Offer(i, {}, gain > most * kRounding ? most : gain, std::exp(-effect.expected - effect.up), best);
  }
  return RemovedBy(cause.gain) >= kMostOfIt * RemovedBy(best.gain) ? cause : best;
}

// Moves what the fix that was taken last left nothing to gain for below it: the waiting of other ranks below what held
// them up.
void PlanMaker::HangEmptied() {
  if (plan_.steps.empty() || list_.empty()) return;
  LearnOpen();
  for (size_t i = 0; i < open_.size();) {
    if (open_[i].found.id != kPredictedFix && open_[i].alone >= kWorthHanging &&
        prices_.BestOf(open_[i].options, so_far_.expected) < kMinBought)
      HangBelow(plan_.steps.back().id, i, open_, list_);
    else
      ++i;
  }
}

// Returns what speaks for the first of the plan.
std::string PlanMaker::WhyFirst(const Bottleneck& head, const std::optional<Option>& option) const {
  const double share = head.share_of_step.value_or(0);
  const bool largest = std::ranges::all_of(
      open_, [&](const OpenFinding& open) { return open.found.share_of_step.value_or(0) <= share; });
  std::vector<std::string> reasons;
  if (largest && share > 0) reasons.emplace_back("it costs most");
  if (!head.recommendations.empty() && !head.recommendations[0].effort.empty())
    reasons.push_back(StrCat("takes ", head.recommendations[0].effort));
  if (const std::string_view safety = option ? SafetyText(SafetyOf(option->item)) : ""; !safety.empty())
    reasons.emplace_back(safety);
  return Join(reasons, ", ");
}

// Returns the finding with the most affected time of those that ask for the fix.
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
  OpenFinding head = std::move(open_[at]);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
  const std::string id = head.found.id, fix = best.option ? best.option->item.ToString() : "";
  head.found.step_left = Left();
  if (best.option) AdviseFirst(head.Asks(best.option->item.name)->recommendation, head.found);
  if (plan_.steps.empty() && !(best.option && best.option->changes_training()))
    head.found.why_first = WhyFirst(head.found, best.option);
  const Gain gain = best.option ? TakeOption(*best.option, head.found) : TakeEstimate(head.found);
  const bool apart = head.found.apart;
  BoundSeverity(head.found);
  // A fix may save more beside another one than it did when that was chosen; the list does not rise for that.
  severity_ = head.found.severity = std::min(head.found.severity, severity_);
  list_.push_back(std::move(head.found));
  HangOthers(id, best.option ? best.option->item.name : "", open_, list_);
  if (apart) return;
  plan_.steps.push_back(
      {.id = id,
       .fix = fix,
       .gain = gain,
       .so_far = GainOf(replayed_ + estimated_, so_far_.prediction.what.empty() ? gain.method : kReplay,
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

// Returns the plan's items and one more, whose expected gain is known.
std::pair<Predictor::Progress, Prediction> PlanMaker::PredictBeside(const WhatIfItem& item) const {
  Predictor::Progress after = so_far_;
  (void)predictor_->Add(item, after);
  Prediction prediction = predictor_->Conclude(after);
  return {std::move(after), std::move(prediction)};
}

// Prices the fixes that change the training, without applying them.
Gain PlanMaker::TakeOption(const Option& option, Bottleneck& head) {
  const double before = Left();
  auto [after, prediction] = PredictBeside(option.item);
  const auto tested = predictor_->calibration().TestedOf(option.item.name);
  head.gain = GainOf(prediction.effects.back() + prediction.replay_error, kReplay,
                     tested.programs > 0 ? kCoverage : kUntestedConfidence);
  head.gain->tested_programs = static_cast<int64_t>(tested.programs);
  head.apart = option.changes_training();
  BoundByStake(before, AlsoOf(option.item, after.expected), head);
  if (head.apart) return *head.gain;
  replayed_ = EffectOf(prediction.share);
  so_far_ = std::move(after), prices_.Forget();
  Account(head, before);
  return *head.gain;
}

void PlanMaker::Account(const Bottleneck& head, double before) {
  removable_.Take(std::max(0.0, before - Left()), head.type);
  if (!head.part_of.empty()) of_parts_[head.part_of] += before - Left();
}

// Applies the effects of a fix on other findings.
std::string PlanMaker::AlsoOf(const WhatIfItem& item, const Predictor::FixedJob& after) const {
  const std::string name = item.ToString();
  if (after.work != so_far_.expected.work)
    return StrCat(name, " does the work of a step for more samples, so that what a step costs once counts less");
  const Predictor::Removed removed = predictor_->RemovedBy(so_far_.expected, after);
  const auto worth = [&](int64_t ns) {
    return static_cast<double>(ns) >= kWorthSaying * static_cast<double>(predictor_->step_ns());
  };
  std::vector<std::string> parts;
  if (worth(removed.host_ns)) parts.push_back(StrCat(FormatDuration(removed.host_ns), " of the host's work"));
  if (worth(removed.device_ns)) parts.push_back(StrCat(FormatDuration(removed.device_ns), " of work on the device"));
  if (parts.empty()) return StrCat("with ", name, " other work no longer waits for it, and overlaps");
  return StrCat("in all, ", name, " takes ", Join(parts, " and "), " out of a step");
}

// Limits a gain to the affected time, unless the fix declares that it does more.
void PlanMaker::BoundByStake(double before, const std::string& also, Bottleneck& head) const {
  const double most = MostOf(head, before);
  Gain& gain = *head.gain;
  if (gain.expected <= most * kRounding) return;
  if (!also.empty())
    head.also = also;
  else
    gain.expected = std::max(1.0, most), gain.high = std::max(gain.expected, std::min(gain.high, most)),
    gain.low = std::min(gain.low, gain.expected);
}

// Appends findings with unknown gain, then findings without gain; each by affected time.
void PlanMaker::TakeTheRest() {
  for (OpenFinding& open : open_) {
    open.found.step_left = Left();
    if (!open.options.empty()) {
      const auto best =
          std::max_element(open.options.begin(), open.options.end(), [&](const Option& a, const Option& b) {
            return prices_.Of(a.item, so_far_.expected) < prices_.Of(b.item, so_far_.expected);
          });
      const Prediction prediction = PredictBeside(best->item).second;
      open.found.gain = GainOf(prediction.effects.back() + prediction.replay_error, kReplay, kUntestedConfidence);
    } else if (open.found.gain) {
      open.found.gain = GainOf(EstimateOf(open.found), open.found.gain->method, open.found.gain->confidence);
    }
  }
  std::stable_sort(open_.begin(), open_.end(), [](const OpenFinding& a, const OpenFinding& b) {
    if (a.found.gain.has_value() != b.found.gain.has_value()) return b.found.gain.has_value();
    return a.found.severity > b.found.severity;
  });
  for (OpenFinding& open : open_) {
    BoundSeverity(open.found);
    list_.push_back(std::move(open.found));
  }
}

void PlanMaker::Conclude() {
  if (plan_.steps.empty()) return;
  Combination& together = plan_.together.emplace();
  together.gain = plan_.steps.back().so_far;
  for (PlanStep& step : plan_.steps) {
    together.ids.push_back(step.id);
    if (step.gain.method != kReplay) together.estimated.push_back(step.id);
    for (const Bottleneck& bottleneck : list_)
      if (bottleneck.cured_by == step.id) step.cures.push_back(bottleneck.id);
  }
  const std::vector<WhatIfItem>& items = so_far_.prediction.what;
  for (const WhatIfItem& item : items) {
    together.fixes.push_back(item.ToString());
    if (predictor_->calibration().TestedOf(item.name).programs == 0) together.untested.push_back(item.name);
  }
  for (const Bottleneck& bottleneck : list_)
    if (bottleneck.apart) together.left_out.push_back(bottleneck.id);
  if (!items.empty()) together.replayed = GainOf(replayed_, kReplay, together.gain.confidence);
}

}  // namespace

double MostSevere(double gain) {
  return gain < kMinBought ? kMinor : std::max(kMinor, SeverityOfShare(kUsualHigh * RemovedBy(gain)));
}

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
