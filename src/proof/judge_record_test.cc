// SPDX-License-Identifier: Apache-2.0
// Tests judgements against simulated histories: regressions, improvements, fresh runs, and accepted levels.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "collect/files.h"
#include "proof/judgement.h"

namespace gapless::internal {
namespace {

MetricRecord Metric(std::string name, double value) { return {.name = std::move(name), .value = value}; }

// Steps of 10 ms, give or take 1 %, and 100 samples a second that go with them.
BenchmarkRecord Measured(int number, double slower = 1) {
  const double noise = 1 + 0.005 * ((number * 7) % 5 - 2);
  BenchmarkRecord record;
  record.commit_sha = StrCat("c", number);
  record.branch = "main";
  record.recorded_unix_ns = number;
  record.metrics = {Metric("step_time_p50_ms", 10 * slower * noise),
                    Metric("samples_per_second", 100 / slower / noise)};
  return record;
}

class JudgeRecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    auto history = History::Open(StrCat("sqlite:", folder_->path(), "/history.db"));
    ASSERT_TRUE(history) << history.error().ToString();
    history_.emplace(std::move(*history));
  }

  void Record(BenchmarkRecord record) {
    record.uid = NewUid();
    ASSERT_TRUE(history_->Record(record));
  }
  void RecordTwenty() {
    for (int i = 0; i < 20; ++i) Record(Measured(i));
  }
  Judgement Judge(const BenchmarkRecord& current, const HistoryQuestion& question = {}) {
    auto judgement = JudgeRecord(current, *history_, question);
    EXPECT_TRUE(judgement) << judgement.error().ToString();
    return std::move(*judgement);
  }

  std::optional<TemporaryFolder> folder_;
  std::optional<History> history_;
};

TEST_F(JudgeRecordTest, ARunLikeTheOthersIsFine) {
  RecordTwenty();
  const Judgement judgement = Judge(Measured(20));
  ASSERT_EQ(judgement.metrics.size(), 1u);
  EXPECT_EQ(judgement.metrics[0].metric, "samples_per_second");  // throughput says most
  EXPECT_TRUE(judgement.metrics[0].higher_is_better);
  EXPECT_EQ(judgement.Kind(), GateKind::kFine);
  EXPECT_TRUE(judgement.verdicts.empty());
}

TEST_F(JudgeRecordTest, OneSlowRunIsPendingAndNamesNoCommit) {
  RecordTwenty();
  const Judgement judgement = Judge(Measured(20, 1.2));
  EXPECT_FALSE(judgement.IsRegression());
  EXPECT_TRUE(judgement.IsPending());
  EXPECT_EQ(judgement.Kind(), GateKind::kCannotTell);
  EXPECT_EQ(judgement.culprit, "");
  ASSERT_EQ(judgement.verdicts.size(), 1u);
  EXPECT_EQ(judgement.verdicts[0].kind, "pending");
  EXPECT_NE(judgement.metrics[0].reason.find("3 more like it"), std::string::npos) << judgement.metrics[0].reason;
  EXPECT_NEAR(*PerformanceChange(judgement.metrics[0]), 1 / 1.2 - 1, 0.01);
}

TEST_F(JudgeRecordTest, SeveralThatAgreeAreARegressionOfTheFirstOfThem) {
  RecordTwenty();
  for (int i = 20; i < 24; ++i) {
    const Judgement judgement = Judge(Measured(i, 1.2));
    EXPECT_EQ(judgement.IsRegression(), i == 23) << i;
    EXPECT_EQ(judgement.culprit, i == 23 ? "c20" : "");
    BenchmarkRecord record = Measured(i, 1.2);
    record.verdicts = judgement.verdicts;
    Record(record);
  }
  const Judgement judgement = Judge(Measured(24, 1.2));
  EXPECT_TRUE(judgement.IsRegression());
  EXPECT_EQ(judgement.verdicts[0].kind, "confirmed");
  EXPECT_EQ(judgement.metrics[0].runs, 20u) << "the baseline learns nothing from them";
}

// Each run of a pull request is one of its branch; those of its commit count together.
TEST_F(JudgeRecordTest, RunsOfTheSameCommitOnAnotherBranchCount) {
  RecordTwenty();
  BenchmarkRecord of_request = Measured(20, 1.2);
  of_request.branch = "work";
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Judge(of_request, {.is_new = true}).IsRegression());
    Record(of_request);
  }
  const Judgement judgement = Judge(of_request, {.is_new = true});
  EXPECT_TRUE(judgement.IsRegression());
  EXPECT_EQ(judgement.culprit, "c20");
  BenchmarkRecord other = Measured(21, 1.2);
  other.branch = "work";
  EXPECT_FALSE(Judge(other, {.is_new = true}).IsRegression()) << "of another commit";
}

TEST_F(JudgeRecordTest, AnImprovementIsLearnedFrom) {
  RecordTwenty();
  EXPECT_EQ(Judge(Measured(20, 0.8)).metrics[0].pending, GateKind::kImprovement);
  for (int i = 20; i < 23; ++i) Record(Measured(i, 0.8));
  const Judgement judgement = Judge(Measured(23, 0.8));
  EXPECT_EQ(judgement.Kind(), GateKind::kImprovement);
  EXPECT_TRUE(judgement.verdicts.empty());
  for (int i = 23; i < 35; ++i) Record(Measured(i, 0.8));
  EXPECT_EQ(Judge(Measured(35, 0.8)).Kind(), GateKind::kFine);
  EXPECT_TRUE(Judge(Measured(35)).IsPending());
}

TEST_F(JudgeRecordTest, FreshRunsConfirmAnAlarmOrClearIt) {
  for (int i = 0; i < 80; ++i) Record(Measured(i));
  int runs = 0;
  double slower = 1.2;
  HistoryQuestion question{.metrics = {"samples_per_second", "step_time_p50_ms"}};
  question.measure_again = [&]() -> Result<BenchmarkRecord> { return Measured(100 + runs++, slower); };
  const Judgement confirmed = Judge(Measured(80, 1.2), question);
  EXPECT_TRUE(confirmed.IsRegression());
  EXPECT_TRUE(confirmed.metrics[0].confirmed && confirmed.metrics[1].confirmed);
  EXPECT_EQ(runs, 3) << "both metrics are of the same runs";
  ASSERT_EQ(confirmed.verdicts.size(), 2u);
  EXPECT_EQ(confirmed.verdicts[1].kind, "confirmed");
  slower = 1;
  const Judgement cleared = Judge(Measured(80, 1.2), question);
  EXPECT_FALSE(cleared.IsRegression());
  ASSERT_EQ(cleared.verdicts.size(), 2u);
  EXPECT_EQ(cleared.verdicts[0].kind, "cleared");
}

// Twenty runs do not know how often a machine is slow for a whole job.
TEST_F(JudgeRecordTest, FreshRunsOfOneMachineConfirmNothingAfterFewRuns) {
  RecordTwenty();
  int runs = 0;
  HistoryQuestion question;
  question.measure_again = [&]() -> Result<BenchmarkRecord> { return Measured(100 + runs++, 1.2); };
  const Judgement judgement = Judge(Measured(20, 1.2), question);
  EXPECT_TRUE(judgement.IsPending());
  EXPECT_EQ(judgement.culprit, "");
  EXPECT_NE(judgement.metrics[0].reason.find("one machine"), std::string::npos) << judgement.metrics[0].reason;
}

// Hosts that differ by 25 % and name themselves are each judged at their level.
TEST_F(JudgeRecordTest, MachinesAreToldApartByTheirHosts) {
  const auto on_host = [](int i, double slower) {
    BenchmarkRecord record = Measured(i, slower * (i % 2 == 0 ? 1 : 1.25));
    record.host = i % 2 == 0 ? "fast" : "slow";
    return record;
  };
  for (int i = 0; i < 40; ++i) Record(on_host(i, 1));
  EXPECT_EQ(Judge(on_host(41, 1)).Kind(), GateKind::kFine);
  for (int i = 40; i < 43; ++i) Record(on_host(i, 1.1));
  const Judgement judgement = Judge(on_host(43, 1.1));
  EXPECT_TRUE(judgement.IsRegression()) << judgement.metrics[0].reason;
  EXPECT_EQ(judgement.culprit, "c40");
}

TEST_F(JudgeRecordTest, TheStatedFalseAlarmsAreThoseOfItsNoise) {
  RecordTwenty();
  const Judgement one = Judge(Measured(20));
  ASSERT_TRUE(one.false_alarm_rate && one.metrics[0].false_alarms);
  EXPECT_EQ(*one.false_alarm_rate, *one.metrics[0].false_alarms);
  EXPECT_NE(one.false_alarm_over.find("20 runs"), std::string::npos) << one.false_alarm_over;
  const Judgement two = Judge(Measured(20), {.metrics = {"samples_per_second", "step_time_p50_ms"}});
  EXPECT_DOUBLE_EQ(*two.false_alarm_rate, *two.metrics[0].false_alarms + *two.metrics[1].false_alarms);
  const Judgement sharp = Judge(Measured(20), {.effect = 0.005});
  EXPECT_FALSE(sharp.false_alarm_rate) << "it was not simulated";
  EXPECT_FALSE(sharp.notes.empty());
}

TEST_F(JudgeRecordTest, AFreshRunThatFailsIsAnError) {
  RecordTwenty();
  HistoryQuestion question;
  question.measure_again = []() -> Result<BenchmarkRecord> { return Fail(ErrorCode::kCommand, "it failed"); };
  EXPECT_FALSE(JudgeRecord(Measured(20, 1.2), *history_, question));
}

TEST_F(JudgeRecordTest, OtherMachinesAndBenchmarksAreNoBaseline) {
  for (int i = 0; i < 20; ++i) {
    BenchmarkRecord other = Measured(i, 3);
    other.fingerprint = "another processor";
    Record(other);
    other = Measured(i);
    other.fingerprint = "this processor";
    Record(other);
  }
  BenchmarkRecord current = Measured(20);
  current.fingerprint = "this processor";
  const Judgement judgement = Judge(current);
  EXPECT_EQ(judgement.Kind(), GateKind::kFine);
  ASSERT_EQ(judgement.notes.size(), 1u);
  EXPECT_EQ(judgement.notes[0], "20 runs on other machines are left out");
  current.benchmark = "another";
  EXPECT_EQ(Judge(current).Kind(), GateKind::kCannotTell);
}

TEST_F(JudgeRecordTest, AnAcceptedRunBeginsTheBaseline) {
  RecordTwenty();
  BenchmarkRecord slower = Measured(20, 1.2);
  slower.verdicts = {{.recorded_unix_ns = 0, .metric = {}, .kind = "accepted", .detail = "{}"}};
  Record(slower);
  EXPECT_FALSE(Judge(Measured(21, 1.2)).metrics[0].baseline);  // one run is too few
  for (int i = 21; i < 32; ++i) Record(Measured(i, 1.2));
  EXPECT_EQ(Judge(Measured(32, 1.2)).Kind(), GateKind::kFine);
}

TEST_F(JudgeRecordTest, WhatTheResultLacksIsSaid) {
  RecordTwenty();
  EXPECT_FALSE(JudgeRecord(Measured(20), *history_, {.metrics = {"no such"}}));
  EXPECT_FALSE(JudgeRecord({}, *history_, {}));
}

TEST_F(JudgeRecordTest, TheRunItselfIsNotItsOwnBaseline) {
  RecordTwenty();
  const BenchmarkRecord current = Measured(20, 1.2);
  Record(current);
  const Judgement judgement = Judge(current);
  EXPECT_TRUE(judgement.IsPending());
  EXPECT_EQ(judgement.metrics[0].runs, 20u);
}

}  // namespace
}  // namespace gapless::internal
