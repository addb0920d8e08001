// SPDX-License-Identifier: Apache-2.0
// Tests which runs of a history are comparable, and the names of other differences.
#include "proof/trend_runs.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

BenchmarkRecord RunOf(int64_t number, double value, std::string benchmark = "", std::string gpu = "") {
  BenchmarkRecord record;
  record.recorded_unix_ns = number;
  record.commit_sha = StrCat("c", number);
  record.benchmark = std::move(benchmark);
  record.gpu_type = std::move(gpu);
  record.metrics.push_back(
      {.name = "step_time_ms", .value = value, .unit = "ms", .higher_is_better = {}, .samples = {}});
  return record;
}

TEST(TrendRunsTest, TheNewestRunSaysWhatCounts) {
  const TrendRuns runs =
      RunsLikeTheNewest({RunOf(1, 10, "bert", "H100"), RunOf(2, 90, "resnet", "H100"), RunOf(3, 20, "bert", "A100"),
                         RunOf(4, 10, "", "H100"), RunOf(5, 10, "bert"), RunOf(6, 11, "bert", "H100")});
  ASSERT_EQ(runs.records.size(), 3U);
  EXPECT_EQ(runs.records[0].recorded_unix_ns, 1);
  EXPECT_EQ(runs.records[1].recorded_unix_ns, 5) << "a machine that is not known does not differ";
  EXPECT_EQ(runs.other_benchmarks, 2U);
  EXPECT_EQ(runs.other_machines, 1U);
  EXPECT_EQ(runs.benchmarks_left_out, (std::vector<std::string>{"", "resnet"}));
}

TEST(TrendRunsTest, TheNumberOfGpusCounts) {
  BenchmarkRecord one = RunOf(1, 10), eight = RunOf(2, 10), unknown = RunOf(3, 10);
  one.num_gpus = 1, eight.num_gpus = 8;
  EXPECT_FALSE(IsSameMachine(one, eight));
  EXPECT_TRUE(IsSameMachine(one, unknown));
}

TEST(TrendRunsTest, TheFingerprintCounts) {
  BenchmarkRecord one = RunOf(1, 10), other = RunOf(2, 10), unknown = RunOf(3, 10);
  one.fingerprint = "a", other.fingerprint = "b";
  EXPECT_FALSE(IsSameMachine(one, other));
  EXPECT_TRUE(IsSameMachine(one, unknown));
}

TEST(TrendRunsTest, TheDeviceCounts) {
  BenchmarkRecord gpu = RunOf(1, 10), cpu = RunOf(2, 10), unknown = RunOf(3, 10);
  gpu.environment = R"({"device": "gpu"})", cpu.environment = R"({"device": "cpu"})", unknown.environment = "{}";
  gpu.fingerprint = cpu.fingerprint = unknown.fingerprint = "one machine";
  EXPECT_FALSE(IsSameMachine(gpu, cpu));
  EXPECT_TRUE(IsSameMachine(gpu, gpu));
  EXPECT_TRUE(IsSameMachine(cpu, unknown));
}

TEST(TrendRunsTest, TheLimitIsOfWhatIsLeft) {
  const TrendRuns runs =
      RunsLikeTheNewest({RunOf(1, 10, "a"), RunOf(2, 10, "a"), RunOf(3, 10, "b"), RunOf(4, 10, "a")}, 2);
  ASSERT_EQ(runs.records.size(), 2U);
  EXPECT_EQ(runs.records[0].recorded_unix_ns, 2);
  EXPECT_TRUE(RunsLikeTheNewest({}).records.empty());
}

TEST(TrendRunsTest, UsualMetricsElseAll) {
  std::vector<BenchmarkRecord> runs = {RunOf(1, 10)};
  runs[0].metrics.push_back({.name = "extra", .value = 1, .unit = {}, .higher_is_better = {}, .samples = {}});
  EXPECT_EQ(UsualMetrics(runs), (std::vector<std::string>{"step_time_ms"}));
  runs[0].metrics.erase(runs[0].metrics.begin());
  EXPECT_EQ(UsualMetrics(runs), (std::vector<std::string>{"extra"}));
  EXPECT_TRUE(UsualMetrics({}).empty());
}

TEST(TrendRunsTest, UnitAndDirectionComeFromTheRunsElseFromTheName) {
  std::vector<BenchmarkRecord> runs = {RunOf(1, 10)};
  runs[0].metrics[0].unit.clear();
  runs[0].metrics.push_back(
      {.name = "samples_per_second", .value = 1, .unit = {}, .higher_is_better = {}, .samples = {}});
  runs[0].metrics.push_back({.name = "loss", .value = 1, .unit = {}, .higher_is_better = {}, .samples = {}});
  runs[0].metrics.push_back({.name = "gpu_utilization", .value = 1, .unit = {}, .higher_is_better = {}, .samples = {}});
  runs[0].metrics.push_back({.name = "memory_usage_gb", .value = 1, .unit = {}, .higher_is_better = {}, .samples = {}});
  const auto traits = [&](const std::string& name) {
    const Trend trend = TrendOf(runs, name);
    return StrCat(trend.unit, trend.higher_is_better ? *trend.higher_is_better ? " up" : " down" : "");
  };
  EXPECT_EQ(traits("step_time_ms"), "ms down");
  EXPECT_EQ(traits("samples_per_second"), "1/s up");
  EXPECT_EQ(traits("gpu_utilization"), "% up");
  EXPECT_EQ(traits("memory_usage_gb"), "GB down");
  EXPECT_EQ(traits("loss"), "");
  runs[0].metrics[0].higher_is_better = true;
  EXPECT_EQ(traits("step_time_ms"), "ms up") << "what was recorded wins";
  EXPECT_TRUE(TrendOf(runs, "none").points.empty());
}

TEST(TrendRunsTest, ValuesInAnotherUnitAreNotMixedIn) {
  std::vector<BenchmarkRecord> runs;
  for (int64_t i = 0; i < 20; ++i) {
    runs.push_back(RunOf(i, i < 10 ? 0.01 : 10));
    if (i < 10) runs.back().metrics[0].unit = "s";
  }
  const Trend trend = TrendOf(runs, "step_time_ms");
  EXPECT_EQ(trend.points.size(), 10U);
  EXPECT_EQ(trend.other_units, 10U);
  EXPECT_TRUE(trend.changes.empty());
}

TEST(TrendRunsTest, WhatElseChangedIsSaid) {
  std::vector<BenchmarkRecord> runs;
  for (int64_t i = 0; i < 40; ++i) {
    runs.push_back(RunOf(i, (i < 20 ? 10 : 15) + 0.01 * static_cast<double>(i * 7 % 5)));
    runs.back().driver = i < 20 ? "550" : "560";
    runs.back().batch_size = 64;
    if (i >= 20) runs.back().host = "b";  // the host before is not known
  }
  const Trend trend = TrendOf(runs, "step_time_ms");
  ASSERT_EQ(trend.changes.size(), 1U);
  EXPECT_EQ(trend.also_changed.at(0), (std::vector<std::string>{"driver 550 to 560"}));
}

}  // namespace
}  // namespace gapless::internal
