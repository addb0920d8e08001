// SPDX-License-Identifier: Apache-2.0
// Tests table gpu_state: the cost of throttling, absent samples, and the restriction to steps.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// A moment of GPU 0.
void Sample(HandMade& trace, int64_t at, double utilization, double clock_hz, bool hot) {
  trace.Counter("gpu.utilization", at, utilization, 0).Counter("gpu.clock.sm", at, clock_hz, 0);
  trace.Counter("gpu.throttle.sw_thermal", at, hot ? 1 : 0, 0).Counter("gpu.throttle.gpu_idle", at, 1, 0);
}

TEST(GpuState, ThrottlingIsPricedByTheClock) {
  HandMade trace;
  trace.Format("telemetry");
  Sample(trace, 0, 1, 2e9, false);
  Sample(trace, 10, 1, 1e9, true);
  Sample(trace, 20, 1, 2e9, false);
  Sample(trace, 30, 0, 0.3e9, false);  // idle: its clock says nothing
  Analysed run(trace);
  const auto table = run["gpu_state"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "samples"), 4);
  EXPECT_EQ(table.Int(0, "span_ns"), 30);
  EXPECT_EQ(table.Real(0, "throttled_share"), 0.25);
  EXPECT_EQ(table.Text(0, "reason"), "sw_thermal");
  EXPECT_EQ(table.Real(0, "throttled_clock_hz"), 1e9);
  EXPECT_EQ(table.Real(0, "free_clock_hz"), 2e9);
  EXPECT_EQ(table.Real(0, "utilization_share"), 0.75);
}

TEST(GpuState, WhatWasNotSampledIsAbsent) {
  HandMade trace;
  trace.Format("telemetry").Counter("gpu.memory.used", 0, 5e9, 0).Counter("gpu.memory.used", 10, 7e9, 0);
  Analysed run(trace);
  const auto table = run["gpu_state"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Real(0, "memory_peak_bytes"), 7e9);
  for (const std::string_view column :
       {"utilization_share", "throttled_share", "reason", "temperature_max", "foreign_share", "memory_bytes"})
    EXPECT_TRUE(table.IsNull(0, column)) << column;
}

// A stretch ends with the first sample that shows work, or with the last one.
TEST(GpuState, IdleStretches) {
  HandMade trace;
  trace.Format("telemetry");
  for (const auto& [at, share] : {std::pair{0, 0.9}, {10, 0.0}, {20, 0.04}, {30, 0.8}, {40, 0.0}, {45, 0.0}})
    trace.Counter("gpu.utilization", at, share, 0);
  Analysed run(trace);
  const auto table = run["gpu_state"];
  EXPECT_DOUBLE_EQ(table.Real(0, "idle_share"), 4.0 / 6);
  EXPECT_EQ(table.Int(0, "idle_stretches"), 2);
  EXPECT_EQ(table.Int(0, "longest_idle_ns"), 20);
  EXPECT_TRUE(table.IsNull(0, "capped_share"));
}

TEST(GpuState, PowerAtItsLimit) {
  HandMade trace;
  trace.Format("telemetry");
  for (int64_t at = 0; at < 40; at += 10)
    trace.Counter("gpu.power", at, at < 30 ? 398 : 200, 0).Counter("gpu.power.limit", at, 400, 0);
  Analysed run(trace);
  EXPECT_EQ(run["gpu_state"].Real(0, "capped_share"), 0.75);
  EXPECT_EQ(run["gpu_state"].Real(0, "power_limit_watts"), 400);
  EXPECT_TRUE(run["gpu_state"].IsNull(0, "idle_share"));
}

TEST(GpuState, SamplesCountWhileStepsRun) {
  HandMade telemetry, agent;
  telemetry.Format("telemetry").Process(1, 1'700'000'000'000'000'000);
  for (int64_t at = 0; at < 100; at += 10) Sample(telemetry, at, 1, 2e9, at < 50);
  agent.Process(2, 1'700'000'000'000'000'000).AgentStep(0, 0, 60).AgentStep(1, 60, 80).Annotation("Python GC", 0, 80);
  Analysed run(std::vector{telemetry.Finish(), agent.Finish()});
  const auto table = run["gpu_state"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "samples"), 8);
  EXPECT_EQ(table.Real(0, "throttled_share"), 5.0 / 8);
}

}  // namespace
}  // namespace gapless::internal
