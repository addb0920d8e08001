// SPDX-License-Identifier: Apache-2.0
// Tests the history gate on series with and without changes, and its false-alarm rate.
#include "validate/history_gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

std::vector<GateRun> History(size_t runs, double level, double sd, uint64_t seed = 1) {
  std::vector<GateRun> history;
  for (const double value : NoiseSource(seed).Series(runs, level, sd)) history.push_back({value, GateMark::kUnmarked});
  return history;
}

GateVerdict Judge(const std::vector<GateRun>& history, double current, const GateOptions& options = {}) {
  auto verdict = JudgeAgainstHistory(history, current, options);
  EXPECT_TRUE(verdict);
  return verdict ? *verdict : GateVerdict{};
}

TEST(HistoryGate, AClearSlowdownIsARegressionWithItsFigures) {
  const GateVerdict verdict = Judge(History(50, 100, 2), 115);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_FALSE(verdict.confirmed);
  EXPECT_EQ(verdict.baseline_first, 0u);
  EXPECT_EQ(verdict.baseline_runs, 50u);
  EXPECT_NEAR(*verdict.level, 100, 1);
  EXPECT_NEAR(*verdict.noise, 0.02, 0.006);
  EXPECT_NEAR(*verdict.change, 0.15, 0.02);
  EXPECT_GT(*verdict.statistic, *verdict.limit);
  EXPECT_NEAR(*verdict.mde, 0.1, 0.035);
  EXPECT_EQ(verdict.false_alarm_rate, 0.05);
}

TEST(HistoryGate, TheDirectionIsTheMetrics) {
  GateOptions throughput;
  throughput.higher_is_better = true;
  EXPECT_EQ(Judge(History(50, 100, 2), 115, throughput).kind, GateKind::kImprovement);
  EXPECT_EQ(Judge(History(50, 100, 2), 85, throughput).kind, GateKind::kRegression);
  EXPECT_NEAR(*Judge(History(50, 100, 2), 85, throughput).change, -0.15, 0.02);
  EXPECT_EQ(Judge(History(50, 100, 2), 85).kind, GateKind::kImprovement);
  EXPECT_EQ(Judge(History(50, 100, 2), 101).kind, GateKind::kFine);
}

TEST(HistoryGate, FewerThanTenRunsCannotTell) {
  const GateVerdict verdict = Judge(History(9, 100, 2), 200);
  EXPECT_EQ(verdict.kind, GateKind::kCannotTell);
  EXPECT_FALSE(verdict.reason.empty());
  EXPECT_FALSE(verdict.level);
  EXPECT_EQ(Judge(History(10, 100, 2), 200).kind, GateKind::kRegression);
}

TEST(HistoryGate, ValuesThatAreNoTimesAreRefused) {
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(JudgeAgainstHistory(History(20, 100, 1), bad));
    std::vector<GateRun> history = History(20, 100, 1);
    history[3].value = bad;
    EXPECT_FALSE(JudgeAgainstHistory(history, 100));
    EXPECT_FALSE(NaiveGate(History(20, 100, 1), bad));
  }
}

TEST(HistoryGate, OnlyRunsSinceTheLastChangeAreTheBaseline) {
  std::vector<GateRun> history = History(80, 100, 1);
  for (size_t i = 40; i < 80; ++i) history[i].value *= 0.8;
  const GateVerdict verdict = Judge(history, 90);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_EQ(verdict.baseline_first, 40u);
  EXPECT_NEAR(*verdict.level, 80, 1);
}

// A small lasting slowdown that no single run shows.
TEST(HistoryGate, SeveralRunsTogetherShowWhatOneDoesNot) {
  std::vector<GateRun> history = History(50, 100, 2);
  GateOptions sharp;
  sharp.effect = 0.025;
  EXPECT_EQ(Judge(history, 105, sharp).kind, GateKind::kFine);
  for (int i = 0; i < 4; ++i) history.push_back({105, GateMark::kUnmarked});
  const GateVerdict verdict = Judge(history, 105, sharp);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_GT(verdict.window_runs, 1u);
}

TEST(HistoryGate, AThresholdIsWhatItSays) {
  EXPECT_EQ(Judge(History(50, 100, 0.1), 104.5).kind, GateKind::kFine) << "surely slower, but by less than 5 %";
  EXPECT_EQ(Judge(History(50, 100, 0.1), 105.5).kind, GateKind::kRegression);
  EXPECT_EQ(Judge(History(50, 100, 0.1), 95.5).kind, GateKind::kFine);
  EXPECT_EQ(Judge(History(50, 100, 0.1), 94.5).kind, GateKind::kImprovement);
  GateOptions sharp;
  sharp.effect = 0.02;
  EXPECT_EQ(Judge(History(50, 100, 0.1), 101.5, sharp).kind, GateKind::kFine);
  EXPECT_EQ(Judge(History(50, 100, 0.1), 102.5, sharp).kind, GateKind::kRegression);
}

TEST(HistoryGate, FreshRunsBelowTheThresholdClear) {
  const GateVerdict alarm = Judge(History(50, 100, 0.1), 107);
  ASSERT_EQ(alarm.kind, GateKind::kRegression);
  EXPECT_EQ(GateConfirm(alarm, std::vector<double>{104})->kind, GateKind::kFine);
  EXPECT_EQ(GateConfirm(alarm, std::vector<double>{106})->kind, GateKind::kRegression);
  EXPECT_EQ(GateConfirm(alarm, std::vector<double>{104}, 0.02)->kind, GateKind::kRegression);
}

TEST(HistoryGate, TheBaselineFreezesWhileAnAlarmIsPending) {
  std::vector<GateRun> history = History(50, 100, 1);
  for (int i = 0; i < 40; ++i)
    history.push_back({112 + 0.1 * (i % 5), i == 0 ? GateMark::kConfirmed : GateMark::kPending});
  const GateVerdict verdict = Judge(history, 112);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_EQ(verdict.baseline_runs, 50u);
  EXPECT_NEAR(*verdict.level, 100, 0.5);
  for (size_t i = 50; i < 90; ++i)
    history[i].mark = GateMark::kUnmarked;  // never marked: the new level is taken for the level
  EXPECT_EQ(Judge(history, 112).kind, GateKind::kFine);
}

TEST(HistoryGate, AnAcceptedLevelIsTheBaselineFromThereOn) {
  std::vector<GateRun> history = History(50, 100, 1);
  history.push_back({112, GateMark::kAccepted});
  for (int i = 0; i < 5; ++i) history.push_back({112, GateMark::kUnmarked});
  EXPECT_EQ(Judge(history, 112).kind, GateKind::kCannotTell);
  for (int i = 0; i < 5; ++i) history.push_back({112 + 0.3 * i, GateMark::kUnmarked});
  EXPECT_EQ(Judge(history, 112).kind, GateKind::kFine);
  EXPECT_EQ(Judge(history, 112).baseline_first, 50u);
}

TEST(HistoryGate, ClearedRunsAndLoneAlarmsAreOutliers) {
  for (const GateMark mark : {GateMark::kCleared, GateMark::kPending}) {
    std::vector<GateRun> history = History(50, 100, 1);
    history.push_back({150, mark});
    history.push_back({100, GateMark::kUnmarked});
    const GateVerdict verdict = Judge(history, 100.5);
    EXPECT_EQ(verdict.kind, GateKind::kFine);
    EXPECT_LT(*verdict.noise, 0.02);
  }
}

TEST(HistoryGate, FreshRunsConfirmOrClear) {
  const GateVerdict alarm = Judge(History(50, 100, 2), 120);
  const auto real = GateConfirm(alarm, std::vector<double>{118});
  ASSERT_TRUE(real);
  EXPECT_EQ(real->kind, GateKind::kRegression);
  EXPECT_TRUE(real->confirmed);
  const auto outlier = GateConfirm(alarm, std::vector<double>{101, 119, 99});
  ASSERT_TRUE(outlier);
  EXPECT_EQ(outlier->kind, GateKind::kFine);
  EXPECT_FALSE(outlier->confirmed);
  EXPECT_FALSE(GateConfirm(alarm, std::vector<double>{-1}));
  const auto nothing = GateConfirm(alarm, {});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->kind, GateKind::kRegression);
  EXPECT_FALSE(nothing->confirmed);
}

TEST(HistoryGate, WithoutNoiseTheResolutionIsTheNoise) {
  std::vector<GateRun> history(30, {100, GateMark::kUnmarked});
  EXPECT_EQ(Judge(history, 100).kind, GateKind::kFine);
  EXPECT_EQ(Judge(history, 101).kind, GateKind::kFine);
  EXPECT_EQ(Judge(history, 106).kind, GateKind::kRegression);
}

TEST(NaiveGate, IsTheBareRule) {
  const std::vector<GateRun> history(10, {100, GateMark::kUnmarked});
  EXPECT_EQ(NaiveGate(history, 104.9)->kind, GateKind::kFine);
  EXPECT_EQ(NaiveGate(history, 105.1)->kind, GateKind::kRegression);
  GateOptions throughput;
  throughput.higher_is_better = true;
  EXPECT_EQ(NaiveGate(history, 94.9, throughput)->kind, GateKind::kRegression);
  EXPECT_EQ(NaiveGate(history, 95.1, throughput)->kind, GateKind::kFine);
  EXPECT_EQ(NaiveGate(std::vector<GateRun>(9, {100, GateMark::kUnmarked}), 200)->kind, GateKind::kCannotTell);
}

}  // namespace
}  // namespace gapless::internal
