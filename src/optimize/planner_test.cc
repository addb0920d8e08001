// SPDX-License-Identifier: Apache-2.0
// Tests the planner's decisions about simulated jobs with known effects.
#include "optimize/planner.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "optimize/contest.h"
#include "optimize/journal.h"
#include "optimize/testing/simulated_job.h"
#include "optimize/time_budget.h"

namespace gapless::internal {
namespace {

// As many fixes as a test wants, each of its own name.
Fix Named(std::string_view name, Safety safety = Safety::kRounding) {
  return {.name = name, .help = "", .safety = safety, .own_file = "/own.py"};
}

class Planning : public ::testing::Test {
 protected:
  Optimized Find(const std::vector<Candidate>& candidates) {
    if (!journal_) journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
    auto result = Plan(candidates, options_, job_, *journal_, [](const PlannerEvent&) {});
    EXPECT_TRUE(result) << result.error().ToString();
    return result ? *result : Optimized{};
  }
  Candidate Of(size_t fix) const { return {.item = {.fix = &fixes_[fix]}}; }
  void TearDown() override { std::filesystem::remove(path_); }

  std::vector<Fix> fixes_ = {Named("one"), Named("two"), Named("three")};
  SimulatedJob job_{1};
  PlannerOptions options_{};
  std::string path_ =
      ::testing::TempDir() + "/planner_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
  std::optional<DecisionJournal> journal_{};
};

TEST_F(Planning, KeepsWhatIsFasterAndProvesAllTogether) {
  job_.fixes["one"].factor = 0.7;
  job_.fixes["two"].factor = 1.0;
  job_.fixes["three"].factor = 0.9;
  const Optimized result = Find({Of(0), Of(1), Of(2)});
  EXPECT_EQ(result.accepted.ToString(), "one, three");
  ASSERT_TRUE(result.speedup && result.speedup->low && result.speedup->high);
  EXPECT_LT(*result.speedup->low, 1 / 0.63);
  EXPECT_GT(*result.speedup->high, 1 / 0.63);
  EXPECT_GT(*result.decisions[0].measured->low, 1);
  EXPECT_EQ(result.decisions[1].outcome, FixOutcome::kTooSmall);
  ASSERT_TRUE(result.training);
  EXPECT_EQ(result.training->verdict, ParityVerdict::kExact);
  ASSERT_TRUE(result.after && result.decisions[2].stage);
  EXPECT_EQ(result.decisions[2].stage->step_ms,
            result.after->step_ms);  // `after` is measured in the same runs as `before`
}

TEST_F(Planning, TrapsAreRefusedWithTheirReason) {
  fixes_ = {Named("slower"), Named("other_loss"), Named("crashes"), Named("hangs"), Named("memory"), Named("nan")};
  job_.fixes["slower"].factor = 1.4;
  job_.fixes["other_loss"] = {.factor = 0.5, .training = ParityVerdict::kOtherTraining};
  job_.fixes["crashes"] = {.factor = 0.5, .fault = Fault::kCrash};
  job_.fixes["hangs"] = {.factor = 0.5, .fault = Fault::kHang};
  job_.fixes["memory"] = {.factor = 0.5, .fault = Fault::kOutOfMemory};
  job_.fixes["nan"] = {.factor = 0.5, .loss = [](double loss, size_t step) {
                         return step < 5 ? loss : std::numeric_limits<double>::quiet_NaN();
                       }};
  const Optimized result = Find({Of(0), Of(1), Of(2), Of(3), Of(4), Of(5)});
  EXPECT_TRUE(result.accepted.empty());
  EXPECT_FALSE(result.speedup);
  const std::pair<FixOutcome, std::string> expected[] = {
      {FixOutcome::kSlower, "as long"},       {FixOutcome::kOtherTraining, "differ"},
      {FixOutcome::kFault, "ValueError: no"}, {FixOutcome::kFault, "hung"},
      {FixOutcome::kFault, "out of memory"},  {FixOutcome::kOtherTraining, "not finite from step 5"}};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(result.decisions[i].outcome, expected[i].first) << i;
    EXPECT_NE(result.decisions[i].reason.find(expected[i].second), std::string::npos) << result.decisions[i].reason;
  }
}

// A fix may change as much of the training as its class says, and nothing at all with --exact.
TEST_F(Planning, TheTrainingIsHeldToTheClass) {
  fixes_ = {Named("one", Safety::kExact), Named("two", Safety::kRounding), Named("three", Safety::kStochastic)};
  for (const char* name : {"one", "two", "three"})
    job_.fixes[name] = {.factor = 0.7, .training = ParityVerdict::kRounding};
  Optimized result = Find({Of(0), Of(1), Of(2)});
  EXPECT_EQ(result.decisions[0].outcome, FixOutcome::kOtherTraining);
  EXPECT_EQ(result.accepted.ToString(), "two, three");
  journal_.reset();
  options_.exact = true;
  result = Find({Of(1)});
  EXPECT_EQ(result.decisions[0].outcome, FixOutcome::kOtherTraining);
  EXPECT_NE(result.decisions[0].reason.find("allowed is exact"), std::string::npos) << result.decisions[0].reason;
  // No decision is possible: that is no reason against a fix, unless every bit must be the same.
  job_.fixes["two"].training = ParityVerdict::kCannotTell;
  journal_.reset();
  EXPECT_EQ(Find({Of(1)}).decisions[0].outcome, FixOutcome::kOtherTraining);
  journal_.reset();
  options_.exact = false;
  EXPECT_EQ(Find({Of(1)}).decisions[0].outcome, FixOutcome::kAccepted);
}

TEST_F(Planning, WhatBringsNothingBesideTheOthersIsTakenOut) {
  // Both cure the same wait: with either of them there is nothing left for the other.
  class Either : public SimulatedJob {
   public:
    using SimulatedJob::SimulatedJob;
    Result<RunSample> Run(const FixSet& set) override {
      fixes["one"].factor = set.Has("two") ? 1 : 0.8;
      fixes["two"].factor = 0.6;
      return SimulatedJob::Run(set);
    }
  } job(3);
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
  const auto result = Plan({Of(0), Of(1)}, options_, job, *journal_, [](const PlannerEvent&) {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->accepted.ToString(), "two");
  EXPECT_EQ(result->decisions[0].outcome, FixOutcome::kTakenOut);
}

TEST_F(Planning, ASlowStartIsPlannedAsTheLatestOneOfTheJournal) {
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, {}));
  EXPECT_FALSE(journal_->SlowStartS());
  journal_->Add({.item = *ParseFixItem("gc_freeze"), .outcome = FixOutcome::kTooSmall, .startup_s = 3}, {});
  EXPECT_FALSE(journal_->SlowStartS()) << "its start is as any other";
  journal_->Add({.item = *ParseFixItem("compile=default"), .outcome = FixOutcome::kTooSmall, .startup_s = 42}, {});
  journal_ = *DecisionJournal::Open(path_, "a job", false, {});
  EXPECT_DOUBLE_EQ(journal_->SlowStartS().value_or(0), 42);
}

TEST_F(Planning, ClassesThatAreNotAllowedAreNotTried) {
  fixes_ = {Named("one", Safety::kTraining)};
  job_.fixes["one"].factor = 0.5;
  Optimized result = Find({Of(0)});
  EXPECT_EQ(result.decisions[0].outcome, FixOutcome::kNotAllowed);
  EXPECT_EQ(job_.runs, 2U) << "only as it is";
  options_.allow = Safety::kTraining;
  result = Find({Of(0)});
}

// A step that has twice the samples and takes 1.6 times as long.
TEST_F(Planning, ALargerStepIsJudgedByItsSamples) {
  job_.fixes["one"] = {.factor = 1.6, .samples = 2};
  EXPECT_EQ(Find({Of(0)}).decisions[0].outcome, FixOutcome::kSlower) << "who knows what its steps are";
  journal_.reset();
  job_.samples = 32;
  const Optimized result = Find({Of(0)});
  ASSERT_EQ(result.accepted.ToString(), "one");
  EXPECT_LT(*result.speedup->low, 1.25);
  EXPECT_GT(*result.speedup->high, 1.25);
  EXPECT_GT(result.after->step_ms, result.before.step_ms);
}

TEST_F(Planning, OneThatDoesNotApplySaysWhy) {
  job_.fixes["one"] = {.factor = 0.5, .refusal = "the program made no DataLoader"};
  const Optimized result = Find({Of(0)});
  EXPECT_EQ(result.decisions[0].outcome, FixOutcome::kDoesNotApply);
  EXPECT_EQ(result.decisions[0].reason, "the program made no DataLoader");
}

TEST_F(Planning, WithoutTimeNothingIsTried) {
  options_.budget_s = 0;
  const Optimized result = Find({Of(0), Of(1)});
  EXPECT_EQ(result.decisions[1].outcome, FixOutcome::kNoTime);
  EXPECT_TRUE(result.accepted.empty());
}

TEST_F(Planning, NoPairBeginsThatWouldNotBeDoneInTime) {
  using std::chrono_literals::operator""h;
  ContestPlan plan{.most_pairs = 5, .deadline = Clock::now() + 1h, .pair_takes = 2h};
  auto contest = RunContest(plan, job_, [](const Contest&) {});
  ASSERT_TRUE(contest);
  EXPECT_EQ(contest->ending, Ending::kNoTime);
  EXPECT_EQ(job_.runs, 0U);
  plan.pair_takes = Clock::duration{1};
  contest = RunContest(plan, job_, [](const Contest&) {});
  EXPECT_GT(contest->sequence.size(), 0U);
}

TEST_F(Planning, WhatTheRecordingTookIsPartOfTheBudget) {
  options_.begun = Clock::now() - std::chrono::hours(1);
  const Optimized result = Find({Of(0)});
  EXPECT_EQ(result.decisions[0].outcome, FixOutcome::kNoTime);
  EXPECT_GT(result.took_s, 3600);
}

// Steps may be short and the start long, as where a model is compiled: eight pairs of that are kept for the proof.
TEST_F(Planning, TheLastProofIsGivenTheTimeThatItsRunsTake) {
  for (const char* name : {"one", "two", "three"}) job_.fixes[name].factor = 0.7;
  job_.fixes["one"].wall_s = 20;
  EXPECT_EQ(Find({Of(0), Of(1), Of(2)}).accepted.ToString(), "one, two, three") << "8 x 20 s of 600 s";
  journal_.reset();
  job_.fixes["one"].wall_s = 90;
  const Optimized result = Find({Of(0), Of(1), Of(2)});
  EXPECT_EQ(result.accepted.ToString(), "one") << "8 x 90 s are more than there is";
  EXPECT_EQ(result.decisions[1].outcome, FixOutcome::kNoTime);
  EXPECT_TRUE(result.speedup);
}

// The blocks showed twice the speed; separate runs cannot decide. The row says what the blocks did, not what a run
// happened to.
TEST_F(Planning, ARowIsWhatItsOwnMeasurementSaid) {
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
  journal_->Add({.item = {.fix = &fixes_[0]},
                 .outcome = FixOutcome::kAccepted,
                 .measured = RatioInterval{.low = 1.9, .high = 2.1, .expected = 2},
                 .pairs = 9,
                 .live = true,
                 .stage = Stage{.step_ms = 17}},
                {});
  journal_ = *DecisionJournal::Open(path_, "a job", false, fixes_);
  const Optimized result = Find({Of(0)});
  ASSERT_TRUE(result.speedup && result.speedup->low && result.decisions[0].stage);
  ASSERT_LT(*result.speedup->low, 1);
  EXPECT_DOUBLE_EQ(result.decisions[0].stage->step_ms, result.before.step_ms / 2);
}

// Eight pairs are looked at once: their interval has bounds, which one that may be looked at after every pair has not.
TEST_F(Planning, PairsThatAreLookedAtOnceTellMore) {
  job_.fixes["one"].factor = 0.8;
  ContestPlan plan{.b = FixSet().With({.fix = &fixes_[0]}), .most_pairs = 8, .at_once = true};
  const auto at_once = RunContest(plan, job_, [](const Contest&) {});
  plan.at_once = false;
  const auto watched = RunContest(plan, job_, [](const Contest&) {});
  ASSERT_TRUE(at_once && watched);
  EXPECT_EQ(at_once->sequence.size(), 8U);
  const RatioInterval speedup = at_once->Speedup();
  ASSERT_TRUE(speedup.low && speedup.high);
  EXPECT_LT(*speedup.low, 1.25);
  EXPECT_GT(*speedup.high, 1.25);
  EXPECT_GT(*speedup.low, 1.2);
  EXPECT_FALSE(watched->Speedup().low);
}

// At most 5 % of 400 proofs of fixes without effect may report one, on either side.
TEST_F(Planning, WhatIsLookedAtOnceIsSeldomWrong) {
  size_t wrong = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SimulatedJob job(700 + seed, 0.05);
    const auto contest =
        RunContest({.b = FixSet().With({.fix = &fixes_[0]}), .most_pairs = 8, .seed = seed, .at_once = true}, job,
                   [](const Contest&) {});
    const RatioInterval speedup = contest->Speedup();
    wrong += *speedup.low > 1 || *speedup.high < 1;
  }
  EXPECT_LE(wrong, 32U);
  EXPECT_GE(wrong, 4U) << "an interval that is never wrong is too wide";
}

TEST_F(Planning, GoesOnWhereItWasInterrupted) {
  for (const char* name : {"one", "two", "three"}) job_.fixes[name].factor = 0.8;
  job_.interrupt_at = 30;
  const Optimized first = Find({Of(0), Of(1), Of(2)});
  EXPECT_TRUE(first.interrupted);
  ASSERT_FALSE(first.decisions.empty());
  EXPECT_LT(first.decisions.size(), 3U);
  SimulatedJob again(5);
  again.fixes = job_.fixes;
  auto journal = DecisionJournal::Open(path_, "a job", false, fixes_);
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->found(), first.decisions.size());
  const auto second = Plan({Of(0), Of(1), Of(2)}, options_, again, *journal, [](const PlannerEvent&) {});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->accepted.ToString(), "one, two, three");
  EXPECT_EQ(second->decisions[0].measured->expected, first.decisions[0].measured->expected) << "taken over";
  EXPECT_EQ(DecisionJournal::Open(path_, "another job", false, fixes_)->found(), 0U);
}

// The time that runs with the first fix take is not measured again, and still has to be kept for the proof.
TEST_F(Planning, AResumedOneKeepsAsMuchTimeForTheProof) {
  for (const char* name : {"one", "two"}) job_.fixes[name].factor = 0.7;
  job_.fixes["one"].wall_s = 90;
  EXPECT_EQ(Find({Of(0)}).accepted.ToString(), "one");
  journal_ = *DecisionJournal::Open(path_, "a job", false, fixes_);
  ASSERT_EQ(journal_->found(), 1U);
  const Optimized result = Find({Of(0), Of(1)});
  EXPECT_EQ(result.decisions[1].outcome, FixOutcome::kNoTime) << result.decisions[1].reason;
}

// The two runs of the command as it is differ by more than a tenth; a fix whose first run is as unlucky gets its pairs.
TEST_F(Planning, AFirstRunIsNotCalledSlowerForTheNoiseOfTheMachine) {
  class Uneven : public SimulatedJob {
   public:
    using SimulatedJob::SimulatedJob;
    Result<RunSample> Run(const FixSet& set) override {
      fixes["one"].factor = runs == 2 ? 1.2 : 0.8;
      auto sample = SimulatedJob::Run(set);
      if (runs == 1)
        for (int64_t& ns : sample->step_ns) ns = ns * 9 / 10;
      return sample;
    }
  } job(3);
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
  const auto result = Plan({Of(0)}, options_, job, *journal_, [](const PlannerEvent&) {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->accepted.ToString(), "one") << result->decisions[0].reason;
}

// The command itself is as slow just now: that is no fault of the fix, and it is not remembered as one.
TEST_F(Planning, ABusyMachineIsNotAFixThatHangs) {
  class Busy : public SimulatedJob {
   public:
    using SimulatedJob::SimulatedJob;
    Result<RunSample> Run(const FixSet& set) override {
      const bool late = runs >= 2;
      auto sample = SimulatedJob::Run(set);
      sample->wall_ns = int64_t{late ? 60 : 12} * 1'000'000'000;
      sample->timed_out = late && (busy || !set.empty());
      if (late && !busy && set.empty()) sample->wall_ns = 12'000'000'000;
      return sample;
    }
    bool busy = true;
  } job(3);
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
  const auto result = Plan({Of(0)}, options_, job, *journal_, [](const PlannerEvent&) {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->decisions[0].outcome, FixOutcome::kNoTime);
  EXPECT_NE(result->decisions[0].reason.find("the machine is busy"), std::string::npos) << result->decisions[0].reason;
  Busy idle(3);
  idle.busy = false;
  const auto other = Plan({Of(0)}, options_, idle, *journal_, [](const PlannerEvent&) {});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->decisions[0].outcome, FixOutcome::kFault);
  EXPECT_NE(other->decisions[0].reason.find("without it the command took"), std::string::npos)
      << other->decisions[0].reason;
}

// Four pairs, each slower: not enough for 95 %, and no reason to report a gain that is too small.
TEST_F(Planning, WhatWasAlwaysSlowerIsSaidToBe) {
  job_.fixes["one"].factor = 1.1;
  const std::string reason = Find({Of(0)}).decisions[0].reason;
  EXPECT_TRUE(reason.find("slower") != std::string::npos) << reason;
}

// Few of 60 planners with three fixes without effect keep any.
TEST_F(Planning, NoiseIsNoGain) {
  size_t kept = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SimulatedJob job(100 + seed, 0.03);
    options_.seed = seed;
    journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
    const auto result = Plan({Of(0), Of(1), Of(2)}, options_, job, *journal_, [](const PlannerEvent&) {});
    kept += result->accepted.items().size();
  }
  EXPECT_LE(kept, 6U) << "of 180";
}

// A gain that two pairs show and do not prove is named, with the time that would.
// A job whose every run takes as long.
class ClockedJob : public SimulatedJob {
 public:
  ClockedJob(uint64_t seed, double noise, double run_s) : SimulatedJob(seed, noise), run_s_(run_s) {}
  Clock::time_point Now() const override { return begun_ + Lasting(run_s_ * static_cast<double>(runs)); }
  Result<RunSample> Run(const FixSet& set) override {
    auto sample = SimulatedJob::Run(set);
    sample->wall_ns = static_cast<int64_t>(run_s_ * 1e9);
    return sample;
  }
  Clock::time_point begun() const { return begun_; }

 private:
  Clock::time_point begun_ = Clock::now();
  double run_s_;
};

TEST_F(Planning, WhatIsAheadIsNotThrownAway) {
  ClockedJob job(6, 0.1, 10);
  job.fixes["one"].factor = 0.9;
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
  options_.begun = job.begun();
  options_.budget_s = 175;
  const auto result = Plan({Of(0)}, options_, job, *journal_, [](const PlannerEvent&) {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->accepted.empty());
  ASSERT_EQ(result->ahead.size(), 1U) << result->decisions.at(0).reason;
  EXPECT_NEAR(result->ahead[0].promise, 1 / 0.9, 0.2);
  EXPECT_NEAR(result->ahead[0].needs_s, 20.0 * static_cast<double>(10 - result->decisions[0].pairs), 20);
}

// A trial and a proof after it do not fit; three pairs of runs do, and prove what is clear.
TEST_F(Planning, TimeThatIsLeftIsSpentOnTheMostPromising) {
  ClockedJob job(6, 0.01, 10);
  job.fixes["one"].factor = 0.99;
  job.fixes["two"].factor = 0.75;
  journal_.emplace(*DecisionJournal::Open(path_, "a job", true, fixes_));
  for (Fix& fix : fixes_) fix.own_file = {};
  options_.begun = job.begun();
  options_.budget_s = 110;
  Candidate small = Of(0), large = Of(1);
  small.score = 1.05, large.score = 1.3;
  const auto result = Plan({small, large}, options_, job, *journal_, [](const PlannerEvent&) {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->accepted.ToString(), "two") << result->decisions.at(0).reason;
  EXPECT_TRUE(IsProved(*result));
  EXPECT_GE(result->pairs, 3U);
}

TEST(LastWords, AreTheExceptionWhateverComesBehindIt) {
  EXPECT_EQ(LastWordsOf("Traceback:\n  File \"a.py\"\nValueError: no\n"), "ValueError: no");
  EXPECT_EQ(LastWordsOf("torch.jit._trace.TracingCheckError: Tracing failed!\nNode diff:\n\t?   +++\n"),
            "torch.jit._trace.TracingCheckError: Tracing failed!");
  EXPECT_EQ(LastWordsOf("loss 3\nAborted (core dumped)\n\n"), "Aborted (core dumped)");
}

}  // namespace
}  // namespace gapless::internal
