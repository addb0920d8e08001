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

GateVerdict Judge(const std::vector<GateRun>& history, double current, const GateOptions& options = {},
                  const std::vector<double>& fresh = {}) {
  auto verdict = JudgeAgainstHistory(history, current, options, fresh);
  EXPECT_TRUE(verdict);
  return verdict ? *verdict : GateVerdict{};
}

// The history with more runs of the same value behind it.
std::vector<GateRun> And(std::vector<GateRun> history, size_t runs, double value) {
  for (size_t i = 0; i < runs; ++i) history.push_back({value, GateMark::kUnmarked});
  return history;
}

TEST(HistoryGate, OneSlowRunIsPendingAndSaysWhatWouldSettleIt) {
  const GateVerdict verdict = Judge(History(50, 100, 2), 115);
  EXPECT_EQ(verdict.kind, GateKind::kCannotTell);
  EXPECT_EQ(verdict.pending, GateKind::kRegression);
  EXPECT_EQ(verdict.more_runs, 2u);
  EXPECT_FALSE(verdict.reason.empty());
  EXPECT_NEAR(*verdict.change, 0.15, 0.02);
}

TEST(HistoryGate, AClearSlowdownIsARegressionWithItsFigures) {
  const GateVerdict verdict = Judge(And(History(50, 100, 2), 2, 115), 115);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_FALSE(verdict.confirmed || verdict.pending);
  EXPECT_EQ(verdict.window_runs, 3u) << "since the first slow one";
  EXPECT_EQ(verdict.baseline_first, 0u);
  EXPECT_EQ(verdict.baseline_runs, 50u);
  EXPECT_NEAR(*verdict.level, 100, 1);
  EXPECT_NEAR(*verdict.noise, 0.02, 0.006);
  EXPECT_NEAR(*verdict.change, 0.15, 0.02);
  EXPECT_GT(*verdict.statistic, *verdict.limit);
  EXPECT_NEAR(*verdict.mde, 0.1, 0.035);
  EXPECT_LE(*verdict.false_alarms, 0.07);
  EXPECT_EQ(verdict.runs_to_alarm, 3u);
}

// The more runs there are to compare with, the fewer are needed.
TEST(HistoryGate, ARegressionTakesThreeRunsToSix) {
  const auto runs = [](size_t history) {
    for (size_t more = 0; more < 12; ++more)
      if (Judge(And(History(history, 100, 1), more, 120), 120).kind == GateKind::kRegression) return more + 1;
    return size_t{99};
  };
  EXPECT_EQ(runs(10), 6u);
  EXPECT_EQ(runs(20), 4u);
  EXPECT_EQ(runs(50), 3u);
}

// Runs on a slow machine that come one by one, whatever their size, are nothing new where there were such before.
TEST(HistoryGate, SpikesAreNoRegressionAndAShiftAmongThemIs) {
  std::vector<GateRun> history = History(60, 100, 2);
  for (const size_t at : {7u, 19u, 33u, 34u, 52u}) history[at].value *= 1.5;
  EXPECT_EQ(Judge(history, 150).pending, GateKind::kRegression);
  history.push_back({150, GateMark::kPending});
  EXPECT_NE(Judge(history, 151).kind, GateKind::kRegression) << "two of them in turn";
  history.back() = {101, GateMark::kUnmarked};
  EXPECT_EQ(Judge(And(history, 7, 120), 120).kind, GateKind::kRegression) << "less than a spike, but it stays";
}

// Two kinds of machine, at random: a run on the slower one is no news.
TEST(HistoryGate, TwoMachinesAreOneNoise) {
  std::vector<GateRun> history = History(60, 100, 1);
  for (size_t i = 0; i < 60; i += 2) history[i].value *= 1.25;
  EXPECT_FALSE(Judge(And(history, 4, 125), 126).pending);
  std::vector<GateRun> slower = history;
  for (int i = 0; i < 5; ++i) slower.push_back({i % 2 == 0 ? 130.0 : 162.0, GateMark::kUnmarked});
  EXPECT_NE(Judge(slower, 162).kind, GateKind::kFine);
}

TEST(HistoryGate, WhatCannotBeSeenBetweenTwoMachinesIsSaid) {
  std::vector<GateRun> history = History(60, 100, 1);
  for (size_t i = 0; i < 60; i += 2) history[i].value *= 1.25;
  const GateVerdict verdict = Judge(history, 100);
  EXPECT_EQ(verdict.look, NoiseLook::kTwoMachines);
  ASSERT_TRUE(verdict.seen_within);
  EXPECT_GE(*verdict.seen_within, 0.1);
  EXPECT_LE(*verdict.seen_within, 0.3);
  EXPECT_FALSE(Judge(History(60, 100, 1), 100).seen_within);
}

// Runs of two machines that differ by 25 % and name themselves.
std::vector<GateRun> Named(size_t runs, double slower = 1) {
  std::vector<GateRun> history = History(runs, 100 * slower, 1, 9);
  for (size_t i = 0; i < runs; ++i) {
    history[i].machine = i % 2 == 0 ? 1 : 2;
    if (i % 2 == 1) history[i].value *= 1.25;
  }
  return history;
}

TEST(HistoryGate, NamedMachinesAreJudgedEachAtItsLevel) {
  std::vector<GateRun> history = Named(40);
  const GateOptions fast{.machine = 1}, slow{.machine = 2};
  EXPECT_EQ(Judge(history, 100, fast).machines, MachineUse::kByName);
  EXPECT_EQ(Judge(history, 125, slow).kind, GateKind::kFine);
  EXPECT_NEAR(*Judge(history, 125, slow).level, 125, 2);
  EXPECT_EQ(Judge(history, 125, fast).pending, GateKind::kRegression) << "that is slow for the fast machine";
  for (GateRun run : Named(3, 1.1)) history.push_back(run);
  const GateVerdict verdict = Judge(history, 137.5, slow);
  EXPECT_EQ(verdict.kind, GateKind::kRegression) << "less than what separates the machines";
  EXPECT_EQ(verdict.window_first, 40u);
}

TEST(HistoryGate, AMachineThatIsNewIsNoRegression) {
  std::vector<GateRun> history = Named(40);
  for (int i = 0; i < 4; ++i) history.push_back({170, GateMark::kUnmarked, 3});
  const GateVerdict verdict = Judge(history, 170, {.machine = 3});
  EXPECT_EQ(verdict.machines, MachineUse::kUnknown);
  EXPECT_EQ(verdict.pending, GateKind::kRegression);
  EXPECT_NE(verdict.reason.find("fewer than five"), std::string_view::npos) << verdict.reason;
  EXPECT_EQ(Judge(history, 100, {.machine = 1}).left_out, 4u) << "its runs are no baseline";
}

// Runners of a cloud have another name each time: there is nothing that could be compared by name.
TEST(HistoryGate, NamesThatNeverComeAgainAreNone) {
  std::vector<GateRun> history = History(50, 100, 2);
  for (uint32_t i = 0; i < 50; ++i) history[i].machine = i + 1;
  const GateVerdict verdict = Judge(history, 101, {.machine = 99});
  EXPECT_EQ(verdict.machines, MachineUse::kNone);
  EXPECT_EQ(verdict.baseline_runs, 50u);
}

TEST(HistoryGate, TheDirectionIsTheMetrics) {
  GateOptions throughput;
  throughput.higher_is_better = true;
  const auto after = [](double value) { return And(History(50, 100, 2), 2, value); };
  EXPECT_EQ(Judge(after(115), 115, throughput).kind, GateKind::kImprovement);
  EXPECT_EQ(Judge(after(85), 85, throughput).kind, GateKind::kRegression);
  EXPECT_NEAR(*Judge(after(85), 85, throughput).change, -0.15, 0.02);
  EXPECT_EQ(Judge(after(85), 85).kind, GateKind::kImprovement);
  EXPECT_EQ(Judge(History(50, 100, 2), 85).pending, GateKind::kImprovement);
  EXPECT_EQ(Judge(History(50, 100, 2), 101).kind, GateKind::kFine);
}

TEST(HistoryGate, FewerThanTenRunsCannotTell) {
  const GateVerdict verdict = Judge(History(9, 100, 2), 200);
  EXPECT_EQ(verdict.kind, GateKind::kCannotTell);
  EXPECT_FALSE(verdict.reason.empty());
  EXPECT_FALSE(verdict.level);
  EXPECT_EQ(Judge(History(10, 100, 2), 200).pending, GateKind::kRegression);
}

// Ten runs with 5 % of noise: 14 % more is no proof, and nothing that could be called fine.
TEST(HistoryGate, AChangeThatTheNoiseMayExplainIsNotFine) {
  const GateVerdict verdict = Judge(History(10, 100, 5), 114);
  EXPECT_EQ(verdict.kind, GateKind::kCannotTell);
  EXPECT_FALSE(verdict.reason.empty());
  EXPECT_GT(*verdict.mde, 0.14);
  EXPECT_EQ(Judge(History(10, 100, 5), 101).kind, GateKind::kFine);
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
  const GateVerdict verdict = Judge(And(history, 3, 90), 90);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_EQ(verdict.baseline_first, 40u);
  EXPECT_NEAR(*verdict.level, 80, 1);
}

// A small lasting slowdown that no single run shows.
TEST(HistoryGate, SeveralRunsTogetherShowWhatOneDoesNot) {
  std::vector<GateRun> history = History(50, 100, 2, 2);
  GateOptions sharp;
  sharp.effect = 0.025;
  EXPECT_FALSE(Judge(history, 106, sharp).pending);
  for (int i = 0; i < 4; ++i) history.push_back({106, GateMark::kUnmarked});
  const GateVerdict verdict = Judge(history, 106, sharp);
  EXPECT_EQ(verdict.kind, GateKind::kRegression);
  EXPECT_EQ(verdict.window_runs, 5u);
}

TEST(HistoryGate, AThresholdIsWhatItSays) {
  const auto kind = [](double value, const GateOptions& options = {}) {
    return Judge(And(History(50, 100, 0.1), 2, value), value, options).kind;
  };
  EXPECT_EQ(kind(104.5), GateKind::kFine) << "surely slower, but by less than 5 %";
  EXPECT_EQ(kind(105.5), GateKind::kRegression);
  EXPECT_EQ(kind(95.5), GateKind::kFine);
  EXPECT_EQ(kind(94.5), GateKind::kImprovement);
  GateOptions sharp;
  sharp.effect = 0.02;
  EXPECT_EQ(kind(101.5, sharp), GateKind::kFine);
  EXPECT_EQ(kind(102.5, sharp), GateKind::kRegression);
}

TEST(HistoryGate, FreshRunsBelowTheThresholdClear) {
  const std::vector<GateRun> history = History(80, 100, 0.1);
  EXPECT_EQ(Judge(history, 107, {}, {104, 104, 104}).kind, GateKind::kFine);
  EXPECT_EQ(Judge(history, 107, {}, {106, 106, 106}).kind, GateKind::kRegression);
  EXPECT_EQ(Judge(history, 107, {.effect = 0.02}, {104, 104, 104}).kind, GateKind::kRegression);
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
  EXPECT_FALSE(Judge(history, 112).level) << "ten runs of it are needed";
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
  const std::vector<GateRun> history = History(80, 100, 2);
  const GateVerdict real = Judge(history, 120, {}, {118, 121, 119});
  EXPECT_EQ(real.kind, GateKind::kRegression);
  EXPECT_TRUE(real.confirmed);
  EXPECT_EQ(real.window_runs, 1u) << "fresh runs are not of the history";
  EXPECT_EQ(real.window_first, 80u) << "the current run";
  const GateVerdict outlier = Judge(history, 120, {}, {101, 119, 99});
  EXPECT_EQ(outlier.kind, GateKind::kFine);
  EXPECT_TRUE(outlier.cleared);
  EXPECT_FALSE(JudgeAgainstHistory(history, 120, {}, std::vector<double>{-1}));
  EXPECT_EQ(Judge(history, 101, {}, {150, 150, 150}).kind, GateKind::kFine) << "nothing was pending";
}

// Fresh runs are one sample of this machine. A short history does not know how often a machine is slow.
TEST(HistoryGate, FreshRunsConfirmNothingAfterFewRuns) {
  const std::vector<double> fresh = {151, 149, 152, 148, 150, 151};
  const GateVerdict verdict = Judge(History(40, 100, 2), 150, {}, fresh);
  EXPECT_EQ(verdict.kind, GateKind::kCannotTell);
  EXPECT_EQ(verdict.pending, GateKind::kRegression);
  EXPECT_NE(verdict.reason.find("75 past runs"), std::string_view::npos) << verdict.reason;
  EXPECT_TRUE(Judge(History(40, 100, 2), 150, {}, {151, 99, 98}).cleared) << "they refute";
}

// If single runs were as slow before, there are slow machines, and fresh runs are all of one. They may clear an alarm;
// what stays is settled by the next runs of the branch.
TEST(HistoryGate, FreshRunsDoNotTellASlowMachineThatIsKnown) {
  std::vector<GateRun> history = History(90, 100, 2);
  for (size_t i = 5; i < 90; i += 12) history[i].value *= 1.5;
  const GateVerdict verdict = Judge(history, 150, {}, {151, 149, 152, 148, 150, 151});
  EXPECT_EQ(verdict.pending, GateKind::kRegression);
  EXPECT_NE(verdict.reason.find("one machine"), std::string_view::npos) << verdict.reason;
  EXPECT_EQ(Judge(history, 150, {}, {151, 99, 98}).kind, GateKind::kFine);
}

TEST(HistoryGate, WithoutNoiseTheResolutionIsTheNoise) {
  std::vector<GateRun> history(30, {100, GateMark::kUnmarked});
  EXPECT_EQ(Judge(history, 100).kind, GateKind::kFine);
  EXPECT_EQ(Judge(history, 101).kind, GateKind::kFine);
  EXPECT_EQ(Judge(history, 106).pending, GateKind::kRegression);
  for (int i = 0; i < 3; ++i) history.push_back({106, GateMark::kPending});
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
