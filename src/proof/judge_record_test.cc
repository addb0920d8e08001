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

TEST_F(JudgeRecordTest, ARegressionIsPendingAndNamesItsCommit) {
  RecordTwenty();
  const Judgement judgement = Judge(Measured(20, 1.2));
  EXPECT_TRUE(judgement.IsRegression());
  EXPECT_EQ(judgement.culprit, "c20");
  ASSERT_EQ(judgement.verdicts.size(), 1u);
  EXPECT_EQ(judgement.verdicts[0].kind, "pending");
  EXPECT_NEAR(*PerformanceChange(judgement.metrics[0]), 1 / 1.2 - 1, 0.01);
}

TEST_F(JudgeRecordTest, AnImprovementIsLearnedFrom) {
  RecordTwenty();
  const Judgement judgement = Judge(Measured(20, 0.8));
  EXPECT_EQ(judgement.Kind(), GateKind::kImprovement);
  EXPECT_TRUE(judgement.verdicts.empty());
  for (int i = 20; i < 32; ++i) Record(Measured(i, 0.8));
  EXPECT_EQ(Judge(Measured(32, 0.8)).Kind(), GateKind::kFine);
  EXPECT_TRUE(Judge(Measured(32)).IsRegression());
}

TEST_F(JudgeRecordTest, FreshRunsConfirmAnAlarmOrClearIt) {
  RecordTwenty();
  int runs = 0;
  double slower = 1.2;
  HistoryQuestion question{.metrics = {"samples_per_second", "step_time_p50_ms"}};
  question.measure_again = [&]() -> Result<BenchmarkRecord> { return Measured(100 + runs++, slower); };
  const Judgement confirmed = Judge(Measured(20, 1.2), question);
  EXPECT_TRUE(confirmed.IsRegression());
  EXPECT_TRUE(confirmed.metrics[0].confirmed && confirmed.metrics[1].confirmed);
  EXPECT_EQ(runs, 3);  // both metrics are of the same runs
  ASSERT_EQ(confirmed.verdicts.size(), 2u);
  EXPECT_EQ(confirmed.verdicts[1].kind, "confirmed");
  slower = 1;
  const Judgement cleared = Judge(Measured(20, 1.2), question);
  EXPECT_FALSE(cleared.IsRegression());
  ASSERT_EQ(cleared.verdicts.size(), 2u);
  EXPECT_EQ(cleared.verdicts[0].kind, "cleared");
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
  EXPECT_EQ(Judge(Measured(21, 1.2)).Kind(), GateKind::kCannotTell);  // one run is too few
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
  EXPECT_TRUE(Judge(current).IsRegression());
}

}  // namespace
}  // namespace gapless::internal
