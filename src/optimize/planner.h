// SPDX-License-Identifier: Apache-2.0
// Finds the fixes that make a command significantly faster, one after the other:
//
//   1. Two runs of the unchanged command: the step time, and how much the losses of two runs differ.
//   2. A few runs in which all switchable fixes are measured in blocks of steps (screening.h), until each is clear or a
//      quarter of the time is used. They drop those without a gain and accept none.
//   3. Every other candidate, the one with the most gain per second of trial first (plan_order.h). One run with it on
//      top of the accepted fixes: does it apply, does the run succeed, are the losses those that its class promises?
//      Then a paired comparison with the accepted fixes (contest.h; live_blocks.h if it can be switched in a running
//      program). Only a verdict accepts it. Of several values of a fix that cannot be switched each has one run, and
//      the fastest goes on to the comparison. A first run that looks slow is compared with one without it (beside.h).
//   4. Each accepted fix but the last is removed once more: a fix without a gain beside the others is dropped.
//   5. All accepted fixes together against the unchanged command: as many pairs as the budget allows, evaluated once.
//
// The budget is wall time. No pair begins that would end after it if it took as long as those before. No
// comparison begins without time for a verdict, or without leaving time for step 5. A run that is still active
// when the budget is over is ended. Fixes that were not tried are listed with their predictions. Decisions are
// kept in a journal, and a planner that is started again continues from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "optimize/candidates.h"
#include "optimize/contest.h"
#include "optimize/decision.h"
#include "optimize/live_blocks.h"

namespace gapless::internal {

constexpr size_t kMinMeasuredSteps = 5;

class JobRunner : public Runner {
 public:
  // The command as it is, for the `number`-th time. Its first steps are recorded for Training() and do not count.
  virtual Result<RunSample> RunBaseline(size_t /*number*/) { return Run({}); }
  // The first run with a set; recorded likewise.
  virtual Result<RunSample> RunFirst(const FixSet& set) { return Run(set); }
  // Compares the training of the latest RunFirst(set) with that of the unchanged command. May run the fix once more.
  virtual Result<ParityReport> Training(const FixSet& set, bool exact) = 0;
  // One process with `set` on, in which `driver` switches its fix.
  virtual Result<RunSample> RunBlocks(const FixSet& set, BlockDriver& driver) = 0;
  // Runs that begin from now on are ended by then.
  virtual void EndBy(Clock::time_point /*when*/) {}
  // Runs that begin from now on measure steps for this long at most, and kMinMeasuredSteps at least.
  virtual void MeasureFor(double /*seconds*/) {}
  // Runs that begin from now on are stopped early, as done, when their steps take longer than this in the mean; 0:
  // none.
  virtual void CutAbove(double /*step_ms*/) {}
};

struct PlannerOptions {
  Safety allow = Safety::kStochastic;
  bool exact = false;                      // losses and parameters must be the same, bit for bit
  Clock::time_point begun = Clock::now();  // since when the budget runs
  double budget_s = 600;
  PairOptions pairs{};
  size_t most_pairs = 12;
  size_t warmup = 10;  // steps
  uint64_t seed = 0;
  size_t loader_workers = 0;                   // workers of the DataLoader that has most
  bool has_metric = false;                     // each run reports a result, see RunSample::metric
  std::optional<double> memory_limit_bytes{};  // memory of the GPU; a tenth of it stays free
  bool inference = false;                      // requests are measured and outputs compared, in pairs of runs alone
};

// A progress message for the waiting user.
struct PlannerEvent {
  enum class Kind : uint8_t {
    kBaseline,
    kScreening,
    kTrying,
    kPair,
    kDecided,
    kRetesting,
    kFinal
  } kind = Kind::kBaseline;
  const FixItem* item = nullptr;
  const Contest* contest = nullptr;    // kPair
  const Decision* decision = nullptr;  // kDecided
  size_t done = 0, of = 0;             // candidates
};

// A candidate that the budget had no time for, or not enough to decide.
struct Untried {
  FixItem item{};
  double promise = 1;  // expected speedup
  double needs_s = 0;  // about, until it is decided
};

// An Optimized is the outcome of a planner, complete up to where the user interrupted it.
struct Optimized {
  Stage before{};
  std::vector<Decision> decisions{};  // in the order they were made
  FixSet accepted{};
  std::optional<RatioInterval> speedup{};  // speedup of all together; absent: nothing was accepted, or no time was left
  size_t pairs = 0;                        // that it is from
  std::optional<Stage> after{};
  std::optional<ParityReport> training{};  // comparison of the trainings with and without all fixes
  std::optional<MetricChange> metric{};    // result of --metric with and without all fixes
  std::string against{};  // sentence with the reason against all fixes together, whatever their speed; empty: no reason
  std::vector<std::string> warnings{};
  std::vector<Untried> untried{};  // the one with the most gain per second first
  std::vector<Untried> ahead{};    // tried and faster so far, but not decided; the most promising first
  double took_s = 0;               // part of the budget that was used
  double budget_s = 0;
  bool interrupted = false;  // by the user; what was decided stands
  bool inference = false;    // a step is a request, and the training is what the model answers
};

// Returns true if all fixes together are significantly faster, and no reason against them was found.
bool IsProved(const Optimized& result);

// Keeps what was decided, for a planner that is started again.
class DecisionKeeper {
 public:
  virtual ~DecisionKeeper() = default;
  virtual const Decision* Find(const FixItem& item, const FixSet& beside) const = 0;
  virtual void Add(const Decision& decision, const FixSet& beside) = 0;
  // Returns how much longer than a usual start the latest slow one took, in seconds; absent: none was measured.
  virtual std::optional<double> SlowStartS() const { return std::nullopt; }
};

// An error: the command itself fails, or takes no time that can be measured.
Result<Optimized> Plan(const std::vector<Candidate>& candidates, const PlannerOptions& options, JobRunner& runner,
                       DecisionKeeper& keeper, const std::function<void(const PlannerEvent&)>& on_event);

}  // namespace gapless::internal
