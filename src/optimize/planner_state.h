// SPDX-License-Identifier: Apache-2.0
// The planner's state and its phases (planner.h). planner.cc has the baseline, one trial and the proof,
// planner_screening.cc the shared processes before the first trial, planner_order.cc the choice of the next trial,
// planner_contests.cc the measurements that decide a trial.
#pragma once

#include <span>
#include <vector>

#include "optimize/beside.h"
#include "optimize/judge.h"
#include "optimize/plan_order.h"
#include "optimize/planner.h"
#include "optimize/screening.h"
#include "optimize/time_budget.h"
#include "validate/random.h"

namespace gapless::internal {

inline double Seconds(Clock::duration passed) { return std::chrono::duration<double>(passed).count(); }
// Returns the wall time of the longest run; 0 without any.
double LongestSeconds(std::span<const RunSample> runs);

class Planner {
 public:
  Planner(const PlannerOptions& options, JobRunner& runner, DecisionKeeper& keeper,
          const std::function<void(const PlannerEvent&)>& on_event)
      : options_(options),
        runner_(runner),
        keeper_(keeper),
        on_event_(on_event),
        time_(options.begun, options.budget_s),
        slow_start_s_(keeper.SlowStartS().value_or(kSlowStartS)) {}

  Result<Optimized> Run(const std::vector<Candidate>& candidates) {
    GAPLESS_TRY(MeasureBaseline());
    runner_.EndBy(time_.deadline());
    FitRunsToBudget();
    auto done = TryAll(candidates);
    if (done) done = GoOnWithUndecided();
    if (done) done = SpendWhatIsLeft();
    if (done) done = TakeOutWhatIsIdle();
    if (done) done = ProveTheWhole();
    if (!done) {
      if (done.error().code != ErrorCode::kInterrupted) return Unexpected{done.error()};
      result_.interrupted = true;
    }
    ListAhead();
    StageByGains(result_.before, proved_, result_.decisions);
    if (const std::string busy = machine_.Warning(); !busy.empty()) result_.warnings.push_back(busy);
    result_.took_s = Seconds(runner_.Now() - options_.begun);
    result_.budget_s = options_.budget_s;
    return std::move(result_);
  }

 private:
  Result<RunSample> RunUnchanged(std::optional<size_t> number);
  Result<void> MeasureMetric();
  Result<void> MeasureBaseline();
  void FitRunsToBudget();
  Result<void> TryAll(const std::vector<Candidate>& candidates);
  Result<void> Screen();
  std::vector<BlockArm> ArmsToScreen() const;
  void TakeScreened(std::vector<BlockArm> arms, double took_s);
  size_t NextWithin();
  Result<void> TryNext();
  Result<void> TryFamily(const std::vector<Candidate>& family);
  Result<void> TryValues(const Candidate& candidate);
  bool Settle(Decision decision);
  Result<Decision> Try(const Candidate& candidate, const FixItem& item, bool measure = true);
  Result<bool> PassesFirstRun(const RunSample& first, const FixSet& set, Decision& decision);
  void TakeSlowStart(const RunSample& first, Decision& decision);
  Result<void> Measure(const FixSet& set, Decision& decision);
  Result<void> CompareHang(double after_s, Decision& decision);
  Result<bool> IsSlowBeside(const RunSample& first, Decision& decision);
  Result<void> GoOnWithUndecided();
  Result<void> SpendWhatIsLeft();
  void ListAhead();
  Result<Contest> HoldPairs(const FixSet& a, const FixSet& b, const FixItem* item, Clock::time_point deadline,
                            const Contest* earlier = nullptr);
  Result<Contest> HoldBlocks(const FixItem& item, double& run_s, std::string& refusal);
  bool IsGainLarge() const;
  // A fix that is on, compared with all others without it.
  struct Member {
    Member(Decision* of, Contest pairs) : decision(of), contest(std::move(pairs)), verdict{.item = of->item} {}
    Decision* decision;
    Contest contest;
    Decision verdict;
  };
  Result<void> TakeOutWhatIsIdle();
  std::optional<std::vector<Member>> MembersToRetest();
  Result<std::optional<Member>> FindIdle();
  Result<bool> RunRound(Random& random, const std::vector<Member*>& open);
  bool IsProvedAlready();
  Result<void> ProveTheWhole();
  Result<void> CheckTrainingOfTheWhole(const Contest& contest);

  bool Refuse(const Candidate& candidate, Decision& decision);
  struct TrialTimes {
    Promise promise{};
    double trial_s = 0;
    bool needs_proof = false;  // by pairs of runs of its own, after the trial
    Clock::time_point ends{};  // when the trial has to be over
    bool fits = false;
  };
  TrialTimes TimesOf(const Candidate& candidate) const;
  double MinMeasuredS() const;
  void ShortenRunsTo(double seconds);
  bool FitsInShorterRuns(const Candidate& candidate);
  bool HasTimeFor(const Candidate& candidate, Decision& decision);
  // Blocks of the fix within one process, without a pair so far.
  BlockArm ArmOf(const FixItem& item) const {
    const auto shape_of = item.fix->trial.block_shape;
    return BlockArm(
        item.ToString(), options_.pairs,
        shape_of == nullptr ? BlockShape{} : shape_of(item.value, options_.loader_workers, current_.step_ms));
  }
  // Returns true if blocks of one process can measure the candidate: the program has not refused to switch it.
  bool IsSwitched(const Candidate& candidate) const {
    const auto found = screened_.find(candidate.item.ToString());
    return candidate.item.fix->trial.live && (found == screened_.end() || found->second.refusal.empty());
  }
  void Tell(PlannerEvent event) {
    event.done = done_, event.of = candidates_;
    on_event_(event);
  }

  const PlannerOptions& options_;
  JobRunner& runner_;
  DecisionKeeper& keeper_;
  const std::function<void(const PlannerEvent&)>& on_event_;
  TimeBudget time_;
  double slow_start_s_;  // a fix with a slow start takes longer in its first run, as the latest one did
  Optimized result_{};
  std::vector<RunSample> baselines_{};
  std::vector<RunSample> printed_{};  // runs of the unchanged command whose metrics are independent; empty: no metric
  Judge judge_{options_, baselines_, printed_};
  Stage current_{};  // with those accepted so far
  const Decision* proved_ = nullptr;
  double startup_s_ = 0;   // time of the baseline before its measured steps
  double measured_s_ = 0;  // that runs measure steps for, about
  size_t steps_ = 0;       // that a run takes, in all
  size_t done_ = 0, candidates_ = 0;
  std::vector<Candidate> pending_{};   // candidates to come
  std::vector<Candidate> left_out_{};  // candidates that were worth a trial, but had no time for it
  bool is_spending_ = false;           // on those, without time for a proof after the trial
  ScreenedArms screened_{};
  struct Undecided {
    Decision decision{};
    FixSet beside{};                   // fixes that were on
    std::optional<Contest> contest{};  // its pairs; none of blocks within a process, which pairs do not continue
  };
  std::vector<Undecided> undecided_{};
  MachineWatch machine_{};
  bool met_busy_machine_ = false;  // in the latest Try()
  uint64_t contests_ = 0;          // so that each draws its own lots
};

}  // namespace gapless::internal
