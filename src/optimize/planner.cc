// SPDX-License-Identifier: Apache-2.0
#include "optimize/planner.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "optimize/judge.h"
#include "optimize/time_budget.h"

namespace gapless::internal {
namespace {

constexpr size_t kBaselines = 2;
constexpr size_t kLeastBlock = 4;  // steps
constexpr size_t kMostBlockPairs = 60;
constexpr size_t kMostProcesses = 8;  // of a contest in blocks

double Seconds(Clock::duration passed) { return std::chrono::duration<double>(passed).count(); }
double LongestSeconds(std::span<const RunSample> runs) {
  int64_t longest_ns = 0;
  for (const RunSample& run : runs) longest_ns = std::max(longest_ns, run.wall_ns - run.parity_ns);
  return static_cast<double>(longest_ns) / 1e9;
}

class Planner {
 public:
  Planner(const PlannerOptions& options, JobRunner& runner, DecisionKeeper& keeper,
          const std::function<void(const PlannerEvent&)>& on_event)
      : options_(options),
        runner_(runner),
        keeper_(keeper),
        on_event_(on_event),
        time_(options.begun + Lasting(options.budget_s)) {}

  Result<Optimized> Run(const std::vector<Candidate>& candidates) {
    GAPLESS_TRY(MeasureBaseline());
    runner_.EndBy(time_.deadline());
    auto done = TryAll(candidates);
    if (done) done = TakeOutWhatIsIdle();
    if (done) done = ProveTheWhole();
    if (!done) {
      if (done.error().code != ErrorCode::kInterrupted) return Unexpected{done.error()};
      result_.interrupted = true;
    }
    StageByBlocks(result_.before, proved_, result_.decisions);
    result_.took_s = Seconds(Clock::now() - options_.begun);
    return std::move(result_);
  }

 private:
  Result<void> MeasureBaseline();
  Result<void> TryAll(const std::vector<Candidate>& candidates);
  Result<void> TryValues(const Candidate& candidate);
  Result<Decision> Try(const Candidate& candidate, const FixItem& item);
  Result<bool> PassesFirstRun(const RunSample& first, const FixSet& set, Decision& decision);
  Result<void> Measure(const FixSet& set, Decision& decision);
  Result<void> CompareHang(double after_s, Decision& decision);
  Result<Contest> HoldPairs(const FixSet& a, const FixSet& b, const FixItem* item, Clock::time_point deadline);
  Result<Contest> HoldBlocks(const FixItem& item, double& run_s, std::string& refusal);
  Result<void> TakeOutWhatIsIdle();
  bool IsProvedAlready();
  Result<void> ProveTheWhole();
  Result<void> CheckTrainingOfTheWhole(std::span<const RunSample> runs);

  bool Refuse(const Candidate& candidate, Decision& decision) const;
  void Tell(PlannerEvent event) {
    event.done = done_, event.of = candidates_;
    on_event_(event);
  }

  const PlannerOptions& options_;
  JobRunner& runner_;
  DecisionKeeper& keeper_;
  const std::function<void(const PlannerEvent&)>& on_event_;
  TimeBudget time_;
  Optimized result_{};
  std::vector<RunSample> baselines_{};
  Judge judge_{options_, baselines_};
  Stage current_{};  // with those accepted so far
  const Decision* proved_ = nullptr;
  double startup_s_ = 0;  // of the baseline: its steps before the measured ones
  size_t steps_ = 0;      // that a run takes, in all
  size_t done_ = 0, candidates_ = 0;
  uint64_t contests_ = 0;  // so that each draws its own lots
};

Result<void> Planner::MeasureBaseline() {
  for (size_t i = 0; i < kBaselines; ++i) {
    Tell({.kind = PlannerEvent::Kind::kBaseline});
    auto sample = runner_.RunBaseline(i);
    if (!sample) return Unexpected{sample.error()};
    if (FaultOf(*sample) != Fault::kNone)
      return Fail(ErrorCode::kCommand, StrCat("the command cannot be measured: ", DescribeFault(*sample)), "",
                  "it must train for some steps and end well by itself");
    baselines_.push_back(std::move(*sample));
  }
  time_.command_s = time_.current_s = LongestSeconds(baselines_);
  const RunSample& last = baselines_.back();
  result_.before = StageOf(last);
  current_ = StageOf(MeanStepMs(baselines_[0]) > MeanStepMs(last) ? baselines_[0] : last);
  startup_s_ = static_cast<double>(last.warmup_ns) / 1e9;
  steps_ = last.warmup + last.step_ns.size();
  for (const std::string& file : last.saved)
    result_.warnings.push_back(StrCat("the command saves ", file, ": every trial writes it again"));
  return {};
}

// Without running anything.
bool Planner::Refuse(const Candidate& candidate, Decision& decision) const {
  const auto refuse = [&](Outcome outcome, std::string reason) {
    decision.outcome = outcome;
    decision.reason = std::move(reason);
    return true;
  };
  if (candidate.does_not_apply) return refuse(Outcome::kDoesNotApply, candidate.skip);
  const FixClass promised = decision.item.Class();
  if (promised > options_.allow)
    return refuse(Outcome::kNotAllowed,
                  StrCat("it changes more than is allowed (", NameOf(promised), "): --allow ", NameOf(promised)));
  if (const Fix* other = result_.accepted.ConflictWith(*decision.item.fix))
    return refuse(Outcome::kConflict, StrCat("not together with ", other->name, ", which is on"));
  if (!candidate.skip.empty()) return refuse(Outcome::kNothingToGain, candidate.skip);
  if (Clock::now() + time_.PairTakes() > time_.deadline()) return refuse(Outcome::kNoTime, "the budget was used up");
  if (Clock::now() + time_.PairTakes() > time_.ContestDeadline())
    return refuse(Outcome::kNoTime, "what is left of the budget is kept to prove all together: --budget gives more");
  return false;
}

Result<Contest> Planner::HoldPairs(const FixSet& a, const FixSet& b, const FixItem* item, Clock::time_point deadline) {
  const ContestPlan plan{.a = a,
                         .b = b,
                         .options = options_.pairs,
                         .most_pairs = item == nullptr ? kPairsToDecide : options_.most_pairs,
                         .deadline = deadline,
                         .pair_takes = item == nullptr ? time_.ProofPairTakes() : time_.PairTakes(),
                         .seed = options_.seed + 7919 * ++contests_,
                         .at_once = item == nullptr};
  return Hold(plan, runner_, [&](const Contest& contest) {
    Tell({.kind = PlannerEvent::Kind::kPair, .item = item, .contest = &contest});
  });
}

// Processes in which the fix is switched, until it is clear. `refusal`: it cannot be switched after all. `run_s`: of
// the first run, which may have compiled what later ones find; then of these.
Result<Contest> Planner::HoldBlocks(const FixItem& item, double& run_s, std::string& refusal) {
  Contest contest(options_.pairs);
  const auto share = time_.ShareDeadline(candidates_ - done_),
             half = Clock::now() + (time_.deadline() - Clock::now()) / 2;
  const auto has_time = [&] {  // half of what is left is for the blocks, should there not be enough for both
    return Clock::now() < std::min(share, std::max(time_.ProofBegins(run_s), half)) - Lasting(run_s);
  };
  for (size_t process = 0; process < kMostProcesses && has_time(); ++process) {
    BlockDriver driver({.fix = item.ToString(),
                        .warmup = std::min(options_.warmup, std::max<size_t>(1, steps_ / 5)),
                        .block_steps = std::clamp<size_t>(steps_ / 8, kLeastBlock, 4 * kLeastBlock),
                        .most_pairs = kMostBlockPairs,
                        .seed = options_.seed + 7919 * ++contests_},
                       contest.sequence);
    auto sample = runner_.RunBlocks(result_.accepted, driver);
    if (!sample) return Unexpected{sample.error()};
    refusal = driver.refusal();
    if (!refusal.empty()) return contest;
    const Fault fault = FaultOf(*sample);
    if (fault == Fault::kHang && Clock::now() >= time_.deadline()) return contest;
    if (fault != Fault::kNone) {
      contest.ending = Ending::kFault;
      contest.fault = DescribeFault(*sample);
      if (fault == Fault::kHang) contest.hung_s = LongestSeconds({&*sample, 1});
      return contest;
    }
    const double took_s = LongestSeconds({&*sample, 1});
    run_s = std::max(process == 0 ? time_.command_s : run_s, took_s);
    Tell({.kind = PlannerEvent::Kind::kPair, .item = &item, .contest = &contest});
    if (const auto ending = WhetherToStop(contest.sequence, kMostBlockPairs)) {
      contest.ending = *ending;
      return contest;
    }
    if (driver.pairs() == 0) {
      refusal = "it takes too few steps to be switched within a run";
      return contest;
    }
  }
  if (has_time()) contest.ending = Ending::kTooSmall;
  return contest;
}

Result<void> Planner::Measure(const FixSet& set, Decision& decision) {
  std::string refusal = "it cannot be switched";
  std::optional<Contest> contest;
  if (decision.item.fix->live) {
    auto blocks = HoldBlocks(decision.item, decision.run_s, refusal);
    if (!blocks) return Unexpected{blocks.error()};
    if (refusal.empty()) contest = std::move(*blocks);
  }
  decision.live = contest.has_value();
  if (!contest) {
    auto pairs = HoldPairs(result_.accepted, set, &decision.item, time_.ShareDeadline(candidates_ - done_));
    if (!pairs) return Unexpected{pairs.error()};
    contest = std::move(*pairs);
  }
  judge_.Conclude(*contest, decision);
  if (contest->hung_s > 0) return CompareHang(contest->hung_s, decision);
  if (decision.outcome != Outcome::kAccepted) return {};
  if (!contest->b.empty()) {
    decision.stage = StageOf(contest->b);
    decision.run_s = LongestSeconds(contest->b);
    judge_.PassesResults(set, contest->b, decision);
  }
  return {};
}

// A run that is not done in its time may have met a busy machine: then the command without the fix is as slow.
Result<void> Planner::CompareHang(double after_s, Decision& decision) {
  const auto busy = [&](std::string reason) {
    decision.outcome = Outcome::kNoTime;
    decision.reason = std::move(reason);
  };
  const auto words = [](double seconds) { return FormatDuration(static_cast<int64_t>(seconds * 1e9)); };
  if (Clock::now() + time_.PairTakes() / 2 > time_.deadline()) {
    busy(StrCat("not done after ", words(after_s), ", and no time was left to see whether the machine is busy"));
    return {};
  }
  const auto beside = runner_.Run(result_.accepted);
  if (!beside) return Unexpected{beside.error()};
  const double took_s = LongestSeconds({&*beside, 1});
  if (FaultOf(*beside) == Fault::kHang || took_s > after_s / 2)
    busy(StrCat("the machine is busy: the command without it took ", words(took_s), " just now, ",
                words(time_.current_s), " before; start again when it is idle"));
  else
    decision.reason += StrCat("; without it the command took ", words(took_s), " right after");
  return {};
}

Result<Decision> Planner::Try(const Candidate& candidate, const FixItem& item) {
  Decision decision{.item = item, .predicted = candidate.predicted, .alone = result_.accepted.empty()};
  if (const Decision* known = keeper_.Find(item, result_.accepted)) return *known;
  if (Refuse(candidate, decision)) return decision;
  const auto begun = Clock::now();
  Tell({.kind = PlannerEvent::Kind::kTrying, .item = &item});
  const FixSet set = result_.accepted.With(item);
  auto first = runner_.RunFirst(set);
  if (!first) return Unexpected{first.error()};
  decision.run_s = LongestSeconds({&*first, 1});
  const bool hung = FaultOf(*first) == Fault::kHang;
  if (hung && Clock::now() >= time_.deadline()) {
    decision.reason = "the budget was over before its first run was";
    return decision;
  }
  auto passes = PassesFirstRun(*first, set, decision);
  if (!passes) return Unexpected{passes.error()};
  if (*passes) {
    decision.stage = StageOf(*first);
    decision.startup_s = static_cast<double>(first->warmup_ns) / 1e9 -
                         static_cast<double>(first->warmup) * decision.stage->step_ms / 1e3 -
                         (startup_s_ - static_cast<double>(baselines_[0].warmup) * result_.before.step_ms / 1e3);
    GAPLESS_TRY(Measure(set, decision));
  } else if (hung) {
    GAPLESS_TRY(CompareHang(decision.run_s, decision));
  }
  decision.took_s = Seconds(Clock::now() - begun);
  return decision;
}

// Does it apply, and does the training stay the same?
Result<bool> Planner::PassesFirstRun(const RunSample& first, const FixSet& set, Decision& decision) {
  if (!judge_.PassesFirstRun(first, set, current_, decision)) return false;
  auto training = runner_.Training(set, options_.exact);
  if (!training) return Unexpected{training.error()};
  decision.training = std::move(*training);
  return judge_.PassesTraining(set, decision);
}

// The first value, and once one is on, whether another is better still.
Result<void> Planner::TryValues(const Candidate& candidate) {
  std::vector<FixItem> items = {candidate.item};
  for (const std::string& value : candidate.others) items.push_back({.fix = candidate.item.fix, .value = value});
  for (const FixItem& item : items) {
    auto decision = Try(candidate, item);
    if (!decision) return Unexpected{decision.error()};
    if (decision->outcome != Outcome::kNoTime) keeper_.Add(*decision, result_.accepted);
    if (decision->outcome == Outcome::kAccepted) {
      if (result_.accepted.Has(item.fix->name))  // a better value takes the place of the one before
        for (Decision& before : result_.decisions)
          if (before.item.fix == item.fix && before.outcome == Outcome::kAccepted) {
            before.outcome = Outcome::kTakenOut;
            before.reason = StrCat(item.ToString(), " is better still");
          }
      result_.accepted = result_.accepted.With(item);
      current_ = *decision->stage;
      time_.has_accepted = true;
      if (decision->run_s > 0) time_.current_s = decision->run_s;
    }
    const bool stop = decision->outcome == Outcome::kNotAllowed || decision->outcome == Outcome::kConflict ||
                      decision->outcome == Outcome::kNothingToGain || decision->outcome == Outcome::kDoesNotApply ||
                      decision->outcome == Outcome::kNoTime || !result_.accepted.Has(item.fix->name);
    result_.decisions.push_back(std::move(*decision));
    Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &result_.decisions.back()});
    if (stop) break;
  }
  return {};
}

Result<void> Planner::TryAll(const std::vector<Candidate>& candidates) {
  candidates_ = candidates.size();
  for (const Candidate& candidate : candidates) {
    GAPLESS_TRY(TryValues(candidate));
    ++done_;
  }
  return {};
}

Result<void> Planner::TakeOutWhatIsIdle() {
  std::vector<Decision*> accepted;
  for (Decision& decision : result_.decisions)
    if (decision.outcome == Outcome::kAccepted) accepted.push_back(&decision);
  for (size_t i = 0; i + 1 < accepted.size(); ++i) {
    Decision& decision = *accepted[i];
    if (Clock::now() + time_.PairTakes() * kPairsToDecide > time_.ContestDeadline()) break;
    Tell({.kind = PlannerEvent::Kind::kRetesting, .item = &decision.item});
    auto contest = HoldPairs(result_.accepted.Without(decision.item.fix->name), result_.accepted, &decision.item,
                             time_.ContestDeadline());
    if (!contest) return Unexpected{contest.error()};
    Decision again{.item = decision.item};
    judge_.Conclude(*contest, again);
    if (again.outcome == Outcome::kAccepted || again.outcome == Outcome::kNoTime) continue;
    decision.outcome = Outcome::kTakenOut;
    decision.reason = StrCat("taken out again, beside the others: ", again.reason);
    result_.accepted = result_.accepted.Without(decision.item.fix->name);
    Tell({.kind = PlannerEvent::Kind::kDecided, .decision = &decision});
  }
  return {};
}

// One fix alone was measured against the command as it is.
bool Planner::IsProvedAlready() {
  if (result_.accepted.items().size() != 1) return false;
  for (const Decision& decision : result_.decisions) {
    if (decision.outcome != Outcome::kAccepted || decision.live || !decision.alone) continue;
    result_.speedup = decision.measured;
    result_.pairs = decision.pairs;
    result_.after = decision.stage;
    result_.training = decision.training;
    return true;
  }
  return false;
}

Result<void> Planner::ProveTheWhole() {
  if (result_.accepted.empty() || IsProvedAlready()) return {};
  Tell({.kind = PlannerEvent::Kind::kFinal});
  auto contest = HoldPairs({}, result_.accepted, nullptr, time_.deadline());
  if (!contest) return Unexpected{contest.error()};
  if (contest->ending == Ending::kFault)
    result_.against = StrCat("a run with all of them went wrong: ", contest->fault);
  result_.pairs = contest->sequence.size();
  if (result_.pairs > 0) result_.speedup = contest->Speedup();
  if (contest->b.empty()) return {};
  if (!contest->a.empty()) result_.before = StageOf(contest->a);
  result_.after = StageOf(contest->b);
  if (result_.speedup && result_.speedup->low.value_or(0) > 1) {
    // The last one with all before it is what was proved, beside `before` in the same minutes; its own runs were
    // earlier.
    const auto last = std::find_if(result_.decisions.rbegin(), result_.decisions.rend(),
                                   [](const Decision& decision) { return decision.outcome == Outcome::kAccepted; });
    last->stage = result_.after;
    proved_ = &*last;
  }
  return CheckTrainingOfTheWhole(contest->b);
}

// The last fix that stayed was recorded together with all before it, unless one of these was taken out since.
Result<void> Planner::CheckTrainingOfTheWhole(std::span<const RunSample> runs) {
  Decision all;
  for (const Decision& decision : result_.decisions) {
    if (decision.outcome == Outcome::kAccepted) all.training = decision.training;
    if (decision.outcome == Outcome::kTakenOut) all.training.reset();
  }
  if (!all.training) {
    const auto again = runner_.RunFirst(result_.accepted);
    if (!again) return Unexpected{again.error()};
    auto training = runner_.Training(result_.accepted, options_.exact);
    if (!training) return Unexpected{training.error()};
    all.training = std::move(*training);
  }
  result_.training = all.training;
  const bool same = judge_.PassesTraining(result_.accepted, all) && judge_.PassesResults(result_.accepted, runs, all);
  if (!same && result_.against.empty()) result_.against = StrCat("together they train something else: ", all.reason);
  return {};
}

}  // namespace

Result<Optimized> Plan(const std::vector<Candidate>& candidates, const PlannerOptions& options, JobRunner& runner,
                       DecisionKeeper& keeper, const std::function<void(const PlannerEvent&)>& on_event) {
  return Planner(options, runner, keeper, on_event).Run(candidates);
}

}  // namespace gapless::internal
