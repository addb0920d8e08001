// SPDX-License-Identifier: Apache-2.0
// Implements the planner's main loop: the baseline and the trial of each candidate. planner_order.cc chooses
// candidates; planner_contests.cc runs comparisons; planner_proof.cc ends the plan.
#include "optimize/planner.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "optimize/planner_state.h"
#include "proof/kept_metric.h"

namespace gapless::internal {
namespace {

constexpr size_t kBaselines = 2;
constexpr size_t kRunsOfNoisyMetric = 4;  // of the unchanged command, to learn what its metric differs by
constexpr double kMaxMetricShare = 0.25;  // of the budget, for these
constexpr double kOtherValue = 1.02;      // speedup expected of another value of a fix that is on

// `file`: empty for what has no name, such as a buffer whose content a library writes itself.
std::string WarningOfSave(const std::string& file) {
  return StrCat("the command saves ", file.empty() ? "a checkpoint" : file, ": every trial writes it again");
}

}  // namespace

// The time for recording the first steps does not count: later runs do not record.
double LongestSeconds(std::span<const RunSample> runs) {
  int64_t longest_ns = 0;
  for (const RunSample& run : runs) longest_ns = std::max(longest_ns, run.wall_ns - run.parity_ns);
  return static_cast<double>(longest_ns) / 1e9;
}

// Returns a run of the unchanged command. `number` as in RunBaseline(); absent: nothing of it is recorded.
Result<RunSample> Planner::RunUnchanged(std::optional<size_t> number) {
  Tell({.kind = PlannerEvent::Kind::kBaseline});
  auto sample = number ? runner_.RunBaseline(*number) : runner_.Run({});
  if (!sample) return sample;
  if (FaultOf(*sample) != Fault::kNone)
    return Fail(ErrorCode::kCommand, StrCat("the command cannot be measured: ", DescribeFault(*sample)), "",
                "it must train for some steps and end well by itself");
  if (options_.has_metric) GAPLESS_TRY(CheckPrinted(*sample));
  return sample;
}

// The baselines are recorded, and begin with the same seeds where the program sets none: the two are one run for its
// metric. Others begin with seeds of their own; one that prints the same shows that the program repeats itself.
Result<void> Planner::MeasureMetric() {
  printed_ = {baselines_[0]};
  const auto is_noisy = [&] { return printed_.size() < 2 || printed_[1].metric != printed_[0].metric; };
  const auto has_time = [&] {
    const double after_next = Seconds(runner_.Now() - options_.begun) + LongestSeconds(baselines_);
    return printed_.size() < 2 || after_next < kMaxMetricShare * options_.budget_s;
  };
  while (printed_.size() < kRunsOfNoisyMetric && is_noisy() && has_time()) {
    GAPLESS_ASSIGN(auto sample, RunUnchanged(std::nullopt));
    printed_.push_back(std::move(sample));
  }
  return {};
}

// The slower of two runs is the one that fixes are compared with first, so that a lucky baseline rejects no fix.
Result<void> Planner::MeasureBaseline() {
  for (size_t i = 0; i < kBaselines; ++i) {
    GAPLESS_ASSIGN(auto sample, RunUnchanged(i));
    baselines_.push_back(std::move(sample));
  }
  if (options_.has_metric) GAPLESS_TRY(MeasureMetric());
  time_.command_s = time_.current_s = LongestSeconds(baselines_);
  const RunSample& last = baselines_.back();
  result_.before = StageOf(last);
  current_ = StageOf(SteadyStepMs(baselines_[0]) > SteadyStepMs(last) ? baselines_[0] : last);
  startup_s_ = static_cast<double>(last.warmup_ns) / 1e9;
  steps_ = last.warmup + last.step_ns.size();
  for (const std::string& file : last.saved)
    if (std::string warning = WarningOfSave(file);
        std::ranges::find(result_.warnings, warning) == result_.warnings.end())
      result_.warnings.push_back(std::move(warning));
  return {};
}

// Decides a candidate without running anything, if that is possible; returns true if it did. What does not apply
// comes before what is not allowed: the user should not be asked to allow something useless.
bool Planner::Refuse(const Candidate& candidate, Decision& decision) {
  const auto refuse = [&](FixOutcome outcome, std::string reason) {
    decision.outcome = outcome;
    decision.reason = std::move(reason);
    return true;
  };
  if (candidate.does_not_apply) return refuse(FixOutcome::kDoesNotApply, candidate.skip);
  const Safety promised = decision.item.Class();
  if (promised > options_.allow)
    return refuse(FixOutcome::kNotAllowed,
                  StrCat("it changes more than is allowed (", ToString(promised), "): --allow ", ToString(promised)));
  if (const Fix* other = result_.accepted.ConflictWith(*decision.item.fix))
    return refuse(FixOutcome::kConflict, StrCat("not together with ", other->name, ", which is on"));
  if (!candidate.skip.empty()) return refuse(FixOutcome::kNothingToGain, candidate.skip);
  return !HasTimeFor(candidate, decision);
}

// Measures the fix beside the accepted ones: in blocks if it can be switched, else in pairs of runs. A comparison
// whose time ran out is kept, to go on with later.
Result<void> Planner::Measure(const FixSet& set, Decision& decision) {
  std::string refusal = "it cannot be switched";
  std::optional<Contest> contest;
  if (decision.item.fix->trial.live) {
    GAPLESS_ASSIGN(auto blocks, HoldBlocks(decision.item, decision.run_s, refusal));
    // Blocks need a proof by pairs of runs. Where no time is left for both, pairs alone prove a fix that is alone.
    const bool has_no_time = blocks.ending == Ending::kNoTime && blocks.sequence.size() == 0;
    if (refusal.empty() && !(has_no_time && result_.accepted.empty())) contest = std::move(blocks);
  }
  decision.live = contest.has_value();
  if (!contest) {
    GAPLESS_ASSIGN(contest, HoldPairs(result_.accepted, set, &decision.item,
                                      time_.ShareDeadline(runner_.Now(), candidates_ - done_)));
  }
  judge_.Conclude(*contest, decision);
  if (decision.outcome == FixOutcome::kNoTime && decision.pairs > 0) {
    undecided_.push_back({.decision = decision, .beside = result_.accepted});
    if (!decision.live) undecided_.back().contest = *contest;
  }
  if (contest->hung_s > 0) return CompareHang(contest->hung_s, decision);
  if (decision.outcome != FixOutcome::kAccepted) return {};
  if (!contest->b.empty()) {
    decision.stage = StageOf(contest->b);
    if (!contest->a.empty()) decision.before = StageOf(contest->a);
    decision.run_s = LongestSeconds(contest->b);
    judge_.PassesResults(set, contest->b, decision, contest->a);
  }
  return {};
}

// The first steps of the run are recorded, as those of the baseline were: the recording of other fixes may take longer
// than any start does.
void Planner::TakeSlowStart(const RunSample& first, Decision& decision) {
  const auto start_s = [](double warmup_s, size_t warmup, double step_ms) {
    return warmup_s - static_cast<double>(warmup) * step_ms / 1e3;
  };
  decision.startup_s = start_s(static_cast<double>(first.warmup_ns) / 1e9, first.warmup, decision.stage->step_ms) -
                       start_s(startup_s_, baselines_[0].warmup, result_.before.step_ms);
  slow_start_s_ = std::max(0.0, *decision.startup_s);
}

// `measure`: go on to the contest. A decision that passed its first run has a stage.
Result<Decision> Planner::Try(const Candidate& candidate, const FixItem& item, bool measure) {
  Decision decision{.item = item,
                    .predicted = candidate.predicted,
                    .alone = result_.accepted.empty(),
                    .beside = result_.accepted.ToString()};
  if (const Decision* known = keeper_.Find(item, result_.accepted)) return *known;
  if (Refuse(candidate, decision)) return decision;
  const auto begun = runner_.Now();
  met_busy_machine_ = false;
  Tell({.kind = PlannerEvent::Kind::kTrying, .item = &item});
  const FixSet set = result_.accepted.With(item);
  runner_.CutAbove(set.Loosest() == Safety::kTraining ? 0 : kCutFactor * judge_.SlowFrom() * current_.step_ms);
  auto first = runner_.RunFirst(set);
  runner_.CutAbove(0);
  GAPLESS_TRY(first);
  decision.run_s = LongestSeconds({&*first, 1});
  const bool hung = FaultOf(*first) == Fault::kHang;
  if (hung && runner_.Now() >= time_.deadline()) {
    decision.reason = "the budget was over before its first run was";
    return decision;
  }
  GAPLESS_ASSIGN(auto passes, PassesFirstRun(*first, set, decision));
  if (passes) {
    decision.stage = StageOf(*first);
    if (item.fix->trial.slow_start) TakeSlowStart(*first, decision);
    if (measure) GAPLESS_TRY(Measure(set, decision));
  } else if (hung) {
    GAPLESS_TRY(CompareHang(decision.run_s, decision));
  }
  decision.took_s = Seconds(runner_.Now() - begun);
  return decision;
}

// Returns true if the fix applies, is fast enough to be measured, and keeps the training the same.
Result<bool> Planner::PassesFirstRun(const RunSample& first, const FixSet& set, Decision& decision) {
  bool passes = judge_.PassesFirstRun(first, set, current_, decision);
  if (!passes && decision.outcome == FixOutcome::kSlower) {
    GAPLESS_ASSIGN(const auto slow, IsSlowBeside(first, decision));
    passes = !slow;
  }
  if (!passes) return false;
  GAPLESS_ASSIGN(decision.training, runner_.Training(set, options_.exact));
  return judge_.PassesTraining(set, decision);
}

// Takes the decision into the result. Returns true if its fix is on now.
bool Planner::Settle(Decision decision) {
  const FixItem item = decision.item;
  if (decision.outcome != FixOutcome::kNoTime) keeper_.Add(decision, result_.accepted);
  if (decision.outcome == FixOutcome::kAccepted) {
    if (result_.accepted.Has(item.fix->name))  // a better value takes the place of the one before
      for (Decision& before : result_.decisions)
        if (before.item.fix == item.fix && before.outcome == FixOutcome::kAccepted) {
          before.outcome = FixOutcome::kTakenOut;
          before.reason = StrCat(item.ToString(), " is better still");
        }
    result_.accepted = result_.accepted.With(item);
    current_ = *decision.stage;
    time_.has_accepted = true;
    if (decision.run_s > 0) time_.current_s = decision.run_s;
  }
  const bool is_on = decision.outcome == FixOutcome::kAccepted || result_.accepted.Has(item.fix->name);
  result_.decisions.push_back(std::move(decision));
  Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &result_.decisions.back()});
  return is_on;
}

// Tries the first value. Once it is on, the next one waits for all other candidates: most often it is no better still,
// and each of those may bring what this one did.
Result<void> Planner::TryValues(const Candidate& candidate) {
  GAPLESS_ASSIGN(auto decision, Try(candidate, candidate.item));
  if (met_busy_machine_ && !candidate.was_busy) {  // once more, after the others
    pending_.push_back(candidate);
    pending_.back().was_busy = true;
    met_busy_machine_ = false;
    return {};
  }
  const bool is_accepted = decision.outcome == FixOutcome::kAccepted;
  const bool is_on = Settle(std::move(decision));
  const bool goes_on = is_accepted || (is_on && result_.decisions.back().pairs > 0);
  if (!goes_on || candidate.others.empty()) return {};
  Candidate next = candidate;
  next.item.value = candidate.others.front();
  next.others.erase(next.others.begin());
  next.score = std::min(next.score, kOtherValue);
  pending_.push_back(std::move(next));
  return {};
}

bool IsProved(const Optimized& result) {
  return !result.accepted.empty() && result.speedup && result.speedup->low && *result.speedup->low > 1 &&
         result.against.empty();
}

Result<Optimized> Plan(const std::vector<Candidate>& candidates, const PlannerOptions& options, JobRunner& runner,
                       DecisionKeeper& keeper, const std::function<void(const PlannerEvent&)>& on_event) {
  return Planner(options, runner, keeper, on_event).Run(candidates);
}

}  // namespace gapless::internal
