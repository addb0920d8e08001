// SPDX-License-Identifier: Apache-2.0
// Judges the working tree against a commit: both are checked out or run in place, and run in pairs until the
// comparison is decided.
//
// The question is one-sided: is the change above the effect (a regression) or below it? The pairs are looked at as seen
// from the effect, after each of them, until one side is sure at the level of 0.05; when all pairs or the time are used
// up, once more in the end. "Below" is not "no change": the interval then says whether it is an improvement.
#include <chrono>
#include <cmath>

#include "base/strings.h"
#include "proof/judgement.h"
#include "trial/checkout.h"

namespace gapless::internal {
namespace {

constexpr double kLevel = 0.05;

// The request, to be run in a checkout of the commit.
Result<RunRequest> RequestAt(const std::string& sha, Checkouts& checkouts, const RunRequest& request) {
  GAPLESS_ASSIGN(const auto place, checkouts.At(sha));
  if (place.build_status != 0)
    return Fail(ErrorCode::kCommand, StrCat(sha.substr(0, kShortSha), " cannot be built"), "",
                Printable(place.build_tail));
  RunRequest there = request;
  there.working_folder = place.folder;
  there.note_on_failure = place.lacks;
  return there;
}

// With a build, HEAD runs in a checkout too: building in the user's folder would change the user's files.
Result<PairPlan> PlanFor(const CommitQuestion& question, const Commit& other, Checkouts& checkouts) {
  PairPlan plan{.a = {}, .b = question.request, .most_pairs = question.most_pairs, .seed = question.seed};
  GAPLESS_ASSIGN(plan.a, RequestAt(other.sha, checkouts, question.request));
  if (question.build.empty()) return plan;
  GAPLESS_ASSIGN(const auto head, FindCommit(question.folder, "HEAD"));
  GAPLESS_ASSIGN(plan.b, RequestAt(head.sha, checkouts, question.request));
  return plan;
}

// Returns why the pairs decide nothing, and what would.
std::string Undecided(size_t pairs) {
  const size_t fewest = FewestPairsToDecide(kLevel);
  return StrCat("after ", pairs, pairs == 1 ? " pair" : " pairs",
                pairs < fewest ? StrCat(", of which it takes ", fewest, " at least") : "",
                "; --pairs and --budget allow more");
}

// Turns the pairs into a judgement. `beyond` holds them as seen from the effect: "slower" is a regression.
MetricJudgement JudgementOf(const CommitQuestion& question, const Comparison& comparison, const PairSequence& beyond) {
  const SpeedVerdict side = beyond.Verdict();
  const RatioInterval ratio = comparison.sequence().Interval();
  const auto [before, now] = comparison.Typical();
  MetricJudgement judgement;
  judgement.metric = question.pattern_value ? "value" : "time";
  judgement.unit = question.pattern_value ? "" : "ms";
  judgement.kind = side == SpeedVerdict::kCannotTell ? GateKind::kCannotTell
                   : side == SpeedVerdict::kSlower   ? GateKind::kRegression
                   : ratio.high && *ratio.high < 1   ? GateKind::kImprovement
                                                     : GateKind::kFine;
  if (side == SpeedVerdict::kCannotTell) judgement.reason = Undecided(comparison.pairs());
  judgement.current = now;
  judgement.baseline = before;
  judgement.change = ratio.expected - 1;
  if (ratio.low) judgement.change_low = *ratio.low - 1;
  if (ratio.high) judgement.change_high = *ratio.high - 1;
  judgement.mde = comparison.sequence().DetectableShare();
  judgement.runs = comparison.pairs();
  return judgement;
}

}  // namespace

Result<Judgement> JudgeCommit(const CommitQuestion& question) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  GAPLESS_ASSIGN(const auto other, FindCommit(question.folder, question.against));
  GAPLESS_ASSIGN(auto checkouts, Checkouts::Make(question.folder, question.build, question.shared));
  GAPLESS_ASSIGN(auto plan, PlanFor(question, other, checkouts));
  Comparison comparison({.alpha = kLevel, .margin = 0});
  PairSequence beyond({.alpha = kLevel, .margin = 0});
  plan.budget_s = std::max(0.0, question.budget_s - std::chrono::duration<double>(Clock::now() - begun).count());
  plan.ends_with_budget = true;
  if (question.on_run) plan.on_run = [&](size_t done) { question.on_run(done, comparison); };
  const auto ran = RunPairs(plan, comparison, [&] {
    beyond.Add(comparison.sequence().log_ratios().back() - std::log1p(question.effect));
    return beyond.Verdict() == SpeedVerdict::kCannotTell;
  });
  if (comparison.sequence().is_over()) beyond.End();
  const bool interrupted = !ran && ran.error().code == ErrorCode::kInterrupted;
  if (!ran && (!interrupted || comparison.pairs() == 0)) return Unexpected{ran.error()};
  if (comparison.pairs() == 0)
    return Fail(ErrorCode::kUsage, "there was no time for a single pair", "", "--budget allows more");
  Judgement judgement;
  judgement.threshold = question.effect;
  judgement.judged = StrCat("judged are pairs of runs of the two commits: more than ", FormatPercent(question.effect),
                            question.pattern_value ? " larger" : " slower", " is a regression");
  judgement.against =
      StrCat(other.sha.substr(0, kShortSha), " ", Printable(other.subject), ", in ", comparison.pairs(), " pairs");
  judgement.baseline_commit = other.sha;
  judgement.false_alarm_rate = kLevel;
  judgement.false_alarm_over = "this comparison";
  judgement.metrics.push_back(JudgementOf(question, comparison, beyond));
  judgement.interrupted = interrupted;
  if (interrupted) judgement.notes.emplace_back("interrupted: this is what was known until then");
  return judgement;
}

}  // namespace gapless::internal
