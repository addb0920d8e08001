// SPDX-License-Identifier: Apache-2.0
// Builds the candidates of a recording: selects fixes and values, predicts gains, and records a reason for each
// skipped one.
//
// A candidate is skipped, but stays in the list with its reason, if nothing supports it: no finding, no
// prediction, and it is not worth a blind trial. What the user names is tried all the same. If the fix cannot
// change anything here (no DataLoader, no such operator, wrong GPU), it does not apply, whoever asked for it.
#include "optimize/candidates.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/findings.h"
#include "optimize/machine_hints.h"
#include "predict/advice.h"

namespace gapless::internal {
namespace {

constexpr double kMinGain = 1.01;  // a prediction that stays below this is not tried
constexpr double kOfPrior = 0.1;   // share of the prior's gain that a fix keeps if nothing else supports it
constexpr double kSafetyPenalty =
    0.01;  // speedup subtracted per safety class, so that of two equal fixes the safer comes first

// Returns the bottleneck with the largest gain that the fix cures, by its own list or by the rule's
// recommendations; null without a match.
const Bottleneck* CuredBy(const FixItem& item, std::span<const Bottleneck> bottlenecks) {
  const Bottleneck* best = nullptr;
  for (const Bottleneck& bottleneck : bottlenecks) {
    bool cured = std::ranges::find(item.fix->trial.choice.cures, bottleneck.id) != item.fix->trial.choice.cures.end();
    for (const Recommendation& recommendation : bottleneck.recommendations)
      cured = cured || recommendation.fix.substr(0, recommendation.fix.find('=')) == item.fix->name;
    const auto gain = [](const Bottleneck& of) { return of.gain ? of.gain->expected : 1; };
    if (cured && (best == nullptr || gain(bottleneck) > gain(*best))) best = &bottleneck;
  }
  return best;
}

// Sets the predicted speedup, or the reason to skip. A refusal of the predictor says nothing about the fix, so the
// candidate stays as it was.
void Predict(const Predictor& predictor, bool gpu, Candidate& candidate) {
  const auto prediction =
      predictor.Predict({{.name = std::string(candidate.item.fix->name), .value = candidate.item.value}});
  if (!prediction || !prediction->refusal.empty()) return;
  if (!prediction->no_effect.empty()) {
    if (!gpu && candidate.item.fix->trial.choice.blind)
      return;  // the model looks for kernels, which a processor does not have
    candidate.skip = prediction->no_effect.front();
    return;
  }
  const Gain gain = GainOf(*prediction, predictor.calibration());
  candidate.predicted = RatioInterval{.low = gain.low, .high = gain.high, .expected = gain.expected};
  if (gain.high < kMinGain) candidate.skip = StrCat("at most ", FormatNumber(gain.high, 2), "x is predicted");
}

// Sets the score: the prediction, else the hint for this value, else the gain of the bottleneck, else a tenth of
// the prior's gain. The gain of a bottleneck is that of removing it, which only one direction of `threads` and
// `workers` may do: values of these have the gain of their own hint.
void Score(const Bottleneck* cured, const MachineHint& hint, Candidate& candidate) {
  const bool is_by_value = IsHintedByValue(*candidate.item.fix);
  const double prior = 1 + kOfPrior * (std::max(candidate.item.fix->trial.choice.prior, 1.0) - 1);
  const bool is_cured = cured != nullptr && cured->gain && !is_by_value;
  const bool is_predicted = candidate.predicted && (!hint.speedup || candidate.item.fix->name == "workers");
  candidate.score = is_predicted   ? candidate.predicted->expected
                    : hint.speedup ? *hint.speedup
                    : is_cured     ? std::max(cured->gain->expected, prior)
                                   : prior;
  candidate.score -= kSafetyPenalty * static_cast<double>(candidate.item.Class());
}

// The way in which the user named a candidate: not at all, by its fix (gapless chooses the value), or with its value.
enum class Asked : uint8_t { kNothing, kFix, kValue };

// Returns the candidate for one value of a fix. The recording's verdict is overridden by a hint with a gain, and
// by the user. Only a value that the user gave himself is tried against a hint that says why it cannot help.
Candidate Consider(const FixItem& item, Asked asked, std::span<const Bottleneck> bottlenecks,
                   const Predictor* predictor, const FixContext& context) {
  Candidate candidate{.item = item};
  const Bottleneck* const cured = CuredBy(item, bottlenecks);
  if (cured != nullptr) candidate.cures = cured->title;
  if (predictor != nullptr && predictor->check().accepted() && item.fix->has_model() &&
      item.fix->trial.choice.predictable)
    Predict(*predictor, context.gpu, candidate);
  if (candidate.skip.empty() && cured == nullptr && !candidate.predicted && !item.fix->trial.choice.blind)
    candidate.skip = "no finding supports it";
  const MachineHint hint = HintFor(item, context, bottlenecks);
  if (asked != Asked::kNothing || hint.speedup) candidate.skip.clear();
  if (!hint.why_not.empty()) {
    candidate.predicted.reset();
    if (asked != Asked::kValue) candidate.skip = hint.why_not;
  }
  Score(cured, hint, candidate);
  return candidate;
}

// Why the fix is not for such a program; empty: it is, or it is the user's own.
std::string WhyOtherProgram(const Fix& fix, const FixContext& context) {
  if (!fix.own_file.empty()) return "";
  if (context.inference && fix.name == "batch")
    return "for you to decide: more rows a call answer more requests a second, and each of them later; where requests "
           "wait for each other, gather them: model(torch.cat(inputs))";
  if (context.inference && fix.trial.changes == Changes::kTraining)
    return "it changes a training, and this program infers";
  if (!context.inference && fix.trial.changes == Changes::kInference)
    return "it changes a program that infers: --inference";
  return "";
}

// Returns the fixes that the user named, else all of the catalogue; with the user's own in either case.
std::vector<FixItem> Named(const CandidateOptions& options) {
  std::vector<FixItem> all = options.only;
  if (all.empty())
    for (const Fix* fix : FixesWithTrial()) all.push_back({.fix = fix});
  for (const Fix& fix : options.own)  // a file of the user's own is always tried
    if (std::ranges::find(all, &fix, &FixItem::fix) == all.end()) all.push_back({.fix = &fix});
  return all;
}

}  // namespace

std::vector<Candidate> FindCandidates(const FixContext& context, std::span<const Bottleneck> bottlenecks,
                                      const Predictor* predictor, const CandidateOptions& options) {
  std::vector<Candidate> candidates;
  for (FixItem item : Named(options)) {
    if (std::ranges::find(options.without, item.fix->name) != options.without.end()) {
      if (item.fix->own_file.empty()) continue;
      candidates.push_back({.item = item, .score = 0, .skip = "--without names it", .does_not_apply = true});
      continue;
    }
    FixValues values = item.value.empty() && item.fix->has_trial() ? item.fix->trial.values(context)
                                                                   : FixValues{.values = {item.value}};
    if (item.fix->trial.needs.loader && context.loaders == size_t{0})
      values = {.values = {}, .why_not = "the program reads from no DataLoader"};
    if (item.fix->trial.needs.optimizer && context.has_optimizer == false)
      values = {.values = {}, .why_not = "no optimiser of torch.optim took a step"};
    if (std::string why = WhyNothingToChange(*item.fix, context); !why.empty() && !values.values.empty())
      values = {.values = {}, .why_not = std::move(why)};
    if (std::string why = WhyOtherProgram(*item.fix, context); !why.empty())
      values = {.values = {}, .why_not = std::move(why)};
    if (values.values.empty()) {
      candidates.push_back({.item = item, .score = 0, .skip = values.why_not, .does_not_apply = true});
      continue;
    }
    const Asked asked = options.only.empty() && item.fix->own_file.empty() ? Asked::kNothing
                        : item.value.empty()                               ? Asked::kFix
                                                                           : Asked::kValue;
    const auto consider = [&](const std::string& value) {
      item.value = value;
      return Consider(item, asked, bottlenecks, predictor, context);
    };
    Candidate candidate = consider(values.values.front());
    candidate.others.assign(values.values.begin() + 1, values.values.end());
    candidates.push_back(std::move(candidate));
    for (const std::string& value : values.alone) candidates.push_back(consider(value));
  }
  // Fixes whose runs begin minutes later come last, whatever their score: they could use up the budget before
  // others had a turn.
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.item.fix->trial.choice.slow_start != b.item.fix->trial.choice.slow_start)
      return b.item.fix->trial.choice.slow_start;
    return a.score > b.score;
  });
  return candidates;
}

}  // namespace gapless::internal
