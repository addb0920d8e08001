// SPDX-License-Identifier: Apache-2.0
// Prices every fix that nobody asked for by itself, side by side, and predicts the few that are worth it in full.
#include "predict/unasked_fixes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <utility>

#include "analyses/window.h"
#include "base/strings.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/screening.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"
#include "predict/open_findings.h"
#include "predict/plan.h"

namespace gapless::internal {
namespace {

// `fusion` is what `compile` does, told apart to learn from; a late rank is offered by the findings about it.
constexpr std::string_view kNoAdvice[] = {fixes::kFusion.name, fixes::kStraggler.name};
constexpr double kMinSlowOnHost = 1.25;  // what a fix with a slow start has to bring there in the cautious case

bool IsAmong(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<const Fix*> AskedFor(const std::vector<Bottleneck>& found) {
  std::vector<const Fix*> asked;
  for (const Bottleneck& bottleneck : found)
    for (const Recommendation& advice : bottleneck.recommendations)
      if (const auto items = ParseItems(advice.fix); !advice.fix.empty() && items)
        for (const WhatIfItem& item : *items)
          if (const Fix* fix = FindFix(item.name)) asked.push_back(fix);
  return asked;
}

std::vector<const Fix*> NotAskedFor(const std::vector<Bottleneck>& found) {
  const std::vector<const Fix*> asked = AskedFor(found);
  std::vector<const Fix*> fixes;
  for (const Fix* fix : FixesWithModel()) {
    const bool usable = !fix->model.needs_value() && UsualSafetyOf(*fix) <= Safety::kStochastic;
    const bool apart = std::ranges::none_of(asked, [&](const Fix* one) { return one == fix || Conflict(*one, *fix); });
    // A rule that found the waste which the fix is for knew of the fix, and advised something else.
    const bool judged =
        std::ranges::any_of(found, [&](const Bottleneck& one) { return IsAmong(fix->trial.choice.cures, one.id); });
    if (usable && apart && !judged && !IsAmong(kNoAdvice, fix->name)) fixes.push_back(fix);
  }
  return fixes;
}

struct Priced {
  const Fix* fix = nullptr;
  Prediction prediction{};
  Gain gain{};
};

std::vector<Priced> WorthAsking(const Predictor& predictor, const std::vector<const Fix*>& fixes) {
  FixPrices prices(&predictor);
  std::vector<WhatIfItem> items;
  for (const Fix* fix : fixes) items.push_back({.name = std::string(fix->name)});
  prices.Learn(items, predictor.Unfixed());
  std::vector<Priced> priced;
  for (size_t i = 0; i < fixes.size(); ++i) {
    if (prices.Of(items[i], predictor.Unfixed()).value_or(1) < kWorthAsking) continue;
    auto prediction = predictor.Predict({items[i]});
    if (!prediction || !prediction->refusal.empty()) continue;
    const Gain gain = GainOf(*prediction, predictor.calibration());
    // A compiler's gain where the host itself computes depends on more than a recording shows: it has to be large.
    const bool is_slow = fixes[i]->trial.choice.slow_start && predictor.machine() == Machine::kHost;
    if (gain.low >= (is_slow ? kMinSlowOnHost : kSurelyMore))
      priced.push_back({fixes[i], std::move(*prediction), gain});
  }
  std::ranges::stable_sort(priced, [](const Priced& a, const Priced& b) { return a.gain.expected > b.gain.expected; });
  return priced;
}

// Returns the kind of time that the fix is usually for: on a device that of the first rule that it cures.
BottleneckType KindOfTime(const Predictor& predictor, const Fix& fix) {
  if (predictor.machine() == Machine::kHost) return BottleneckType::kHostBound;
  for (const Rule* rule : AllRules())
    if (!fix.trial.choice.cures.empty() && rule->id == fix.trial.choice.cures.front()) return rule->type;
  return BottleneckType::kHostBound;
}

// Returns the fix as advice: its help, which begins like a sentence, in the form of a recommendation.
Recommendation AdviceOf(const Fix& fix) {
  std::string text(fix.help);
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  const Effort effort = fix.has_trial() ? fix.trial.effort : Effort::kMedium;
  return {.text = std::move(text), .fix = std::string(fix.name), .code = "", .effort = std::string(DurationOf(effort))};
}

Evidence EvidenceOf(const Predictor& predictor, const Priced& one) {
  const double left_ns = static_cast<double>(predictor.step_ns()) / one.gain.expected;
  const bool steps = !AnalysedWindow(*predictor.main_rank().of->trace).steps.empty();
  std::string text =
      StrCat("with ", one.fix->name, " alone ", steps ? "a step" : "the recorded work", " is predicted to take ",
             FormatDuration(std::llround(left_ns)), " instead of ", FormatDuration(predictor.step_ns()));
  if (!one.prediction.assumptions.empty()) text += StrCat(", if ", one.prediction.assumptions.front());
  return {.text = std::move(text), .value = left_ns, .unit = "ns"};
}

}  // namespace

std::optional<Bottleneck> UnaskedFixes(const Run& run, const Predictor& predictor,
                                       const std::vector<Bottleneck>& found) {
  if (!UsesPyTorch(run) || std::ranges::any_of(found, JudgesRecording)) return std::nullopt;
  const Trace& trace = *predictor.main_rank().of->trace;
  if (static_cast<int64_t>(trace.slices.size() + trace.gpu_ops.size()) < kMinEvents) return std::nullopt;
  const std::vector<Priced> worth = WorthAsking(predictor, NotAskedFor(found));
  if (worth.empty()) return std::nullopt;
  Bottleneck unasked;
  unasked.id = kPredictedFix, unasked.type = KindOfTime(predictor, *worth.front().fix);
  // No measured waste stands behind it: a warning at most.
  unasked.severity = std::min(kCriticalSeverity, MostSevere(worth.front().gain.expected));
  unasked.title = StrCat(worth.front().fix->name, " is predicted to save time, though no kind of waste points to it");
  unasked.description =
      "The recording, replayed with this fix, takes less time, although no kind of idle time or work that the rules "
      "look at is large enough to ask for it.";
  for (const Priced& one : worth) {
    unasked.recommendations.push_back(AdviceOf(*one.fix));
    unasked.evidence.push_back(EvidenceOf(predictor, one));
  }
  return unasked;
}

}  // namespace gapless::internal
