// SPDX-License-Identifier: Apache-2.0
// The parts of a plan (planner.h), in the order in which they act. All work on one PlanState.
//
//   Baseline    planner_baseline.cc   the command as it is, and how long later runs measure
//   Contests    planner_contests.cc   comparisons: pairs of processes, blocks within processes
//   Trials      planner_trials.cc     one candidate: its first run, its contest, its decision
//   TrialOrder  planner_order.cc      which candidate is next; planner_screening.cc: shared processes before the first
//   Proof       planner_proof.cc      takes out what is idle, and proves all that stayed together
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

inline constexpr double kMinPromise = 1.01;  // a candidate that promises less is no reason for a larger budget

inline double Seconds(Clock::duration passed) { return std::chrono::duration<double>(passed).count(); }
// Returns the wall time of the longest run; 0 without any.
double LongestSeconds(std::span<const RunSample> runs);

// A comparison whose share of the time was over.
struct Undecided {
  Decision decision{};
  FixSet beside{};                   // fixes that were on
  std::optional<Contest> contest{};  // its pairs; none of blocks within a process, which pairs do not continue
};

// The state that all parts know and change: the budget, the measurements so far, and the result.
struct PlanState {
  PlanState(const PlannerOptions& given, JobRunner& of, DecisionKeeper& decisions,
            const std::function<void(const PlannerEvent&)>& tell)
      : options(given),
        runner(of),
        keeper(decisions),
        on_event(tell),
        time(given.begun, given.budget_s),
        slow_start_s(decisions.SlowStartS().value_or(kSlowStartS)) {}

  const PlannerOptions& options;
  JobRunner& runner;
  DecisionKeeper& keeper;
  const std::function<void(const PlannerEvent&)>& on_event;
  TimeBudget time;
  double slow_start_s;  // a fix with a slow start takes longer in its first run, as the latest one did
  Optimized result{};
  std::vector<RunSample> baselines{};
  std::vector<RunSample> printed{};  // runs of the unchanged command whose metrics are independent; empty: no metric
  Judge judge{options, baselines, printed};
  Stage current{};                   // with those accepted so far
  const Decision* proved = nullptr;  // the last fix of what was proved
  double startup_s = 0;              // time of the baseline before its measured steps
  double measured_s = 0;             // that runs measure steps for, about
  size_t steps = 0;                  // that a run takes, in all
  size_t done = 0, candidates = 0;
  ScreenedArms screened{};
  std::vector<Undecided> undecided{};
  MachineWatch machine{};
  bool met_busy_machine = false;  // in the latest trial
  uint64_t draws = 0;             // so that each comparison draws its own lots

  void Tell(PlannerEvent event) const {
    event.done = done, event.of = candidates;
    on_event(event);
  }
  // The shortest measurement that is of use, which is kMinMeasuredSteps where steps are long.
  double MinMeasuredS() const;
  // Runs measure for `seconds` from now on, as far as that is shorter, and long enough to be of use.
  void ShortenRunsTo(double seconds);
  // Blocks of the fix within one process, without a pair so far.
  BlockArm ArmOf(const FixItem& item) const {
    const auto shape_of = item.fix->trial.live.block_shape;
    return BlockArm(item.ToString(), options.pairs,
                    shape_of == nullptr ? BlockShape{} : shape_of(item.value, options.loader_workers, current.step_ms));
  }
  // Returns true if blocks of one process can measure the candidate: the program has not refused to switch it.
  bool IsSwitched(const Candidate& candidate) const {
    const auto found = screened.find(candidate.item.ToString());
    return candidate.item.fix->trial.live.between_steps && (found == screened.end() || found->second.refusal.empty());
  }
};

class Baseline {
 public:
  explicit Baseline(PlanState& plan) : plan_(plan) {}
  // An error: the command itself fails, or takes no time that can be measured.
  Result<void> Measure();

 private:
  Result<RunSample> RunUnchanged(std::optional<size_t> number);
  Result<void> MeasureMetric();
  void FitRunsToBudget();

  PlanState& plan_;
};

class Contests {
 public:
  explicit Contests(PlanState& plan) : plan_(plan) {}
  // Pairs of processes until `deadline`. `item`: null for the proof of all together. `earlier`: to go on with.
  Result<Contest> HoldPairs(const FixSet& a, const FixSet& b, const FixItem* item, Clock::time_point deadline,
                            const Contest* earlier = nullptr);
  Result<Contest> HoldBlocks(const FixItem& item, double& run_s, std::string& refusal);
  Result<void> CompareHang(double after_s, Decision& decision);
  Result<bool> IsSlowBeside(const RunSample& first, Decision& decision);
  bool IsGainLarge() const;

 private:
  PlanState& plan_;
};

class Trials {
 public:
  Trials(PlanState& plan, Contests& contests) : plan_(plan), contests_(contests) {}

  struct TrialTimes {
    Promise promise{};
    double trial_s = 0;
    bool needs_proof = false;  // by pairs of runs of its own, after the trial
    Clock::time_point ends{};  // when the trial has to be over
    bool fits = false;
  };
  TrialTimes TimesOf(const Candidate& candidate) const;
  bool FitsInShorterRuns(const Candidate& candidate);
  Result<Decision> Try(const Candidate& candidate, const FixItem& item, bool measure = true);
  Result<void> Measure(const FixSet& set, Decision& decision);
  bool Settle(Decision decision);

  // Candidates that were worth a trial, but had no time for it. From here on each gets what time there is, without a
  // proof after the trial.
  std::vector<Candidate> TakeLeftOut() {
    is_spending_ = true;
    return std::exchange(left_out_, {});
  }

 private:
  bool Refuse(const Candidate& candidate, Decision& decision);
  bool HasTimeFor(const Candidate& candidate, Decision& decision);
  Result<bool> PassesFirstRun(const RunSample& first, const FixSet& set, Decision& decision);
  void TakeSlowStart(const RunSample& first, Decision& decision);

  PlanState& plan_;
  Contests& contests_;
  std::vector<Candidate> left_out_{};
  bool is_spending_ = false;
};

class TrialOrder {
 public:
  TrialOrder(PlanState& plan, Contests& contests, Trials& trials) : plan_(plan), contests_(contests), trials_(trials) {}
  Result<void> TryAll(const std::vector<Candidate>& candidates);
  Result<void> GoOnWithUndecided();
  Result<void> SpendWhatIsLeft();

 private:
  Result<void> Screen();
  void CompareInPairs();
  std::vector<BlockArm> ArmsToScreen() const;
  void TakeScreened(std::vector<BlockArm> arms, double took_s);
  size_t NextWithin();
  Result<void> TryNext();
  Result<void> TryFamily(const std::vector<Candidate>& family);
  Result<void> TryValues(const Candidate& candidate);

  PlanState& plan_;
  Contests& contests_;
  Trials& trials_;
  std::vector<Candidate> pending_{};  // candidates to come
};

class Proof {
 public:
  Proof(PlanState& plan, Contests& contests) : plan_(plan), contests_(contests) {}
  Result<void> TakeOutWhatIsIdle();
  Result<void> ProveTheWhole();

 private:
  // A fix that is on, compared with all others without it.
  struct Member {
    Member(Decision* of, Contest pairs) : decision(of), contest(std::move(pairs)), verdict{.item = of->item} {}
    Decision* decision;
    Contest contest;
    Decision verdict;
  };
  std::optional<std::vector<Member>> MembersToRetest();
  Result<std::optional<Member>> FindIdle();
  Result<bool> RunRound(Random& random, const std::vector<Member*>& open);
  bool IsProvedAlready();
  Result<void> CheckTrainingOfTheWhole(const Contest& contest);

  PlanState& plan_;
  Contests& contests_;
};

// Lists in the result the fixes that are not decided at the end, but were faster in the pairs that they have.
void ListAhead(PlanState& plan);

}  // namespace gapless::internal
