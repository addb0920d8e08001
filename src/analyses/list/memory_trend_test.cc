// SPDX-License-Identifier: Apache-2.0
// Tests table memory_trend: memory of the host by telemetry, of devices by the agent, while steps run.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kStart = 1'700'000'000'000'000'000;
constexpr int64_t kSecond = 1'000'000'000;

// Adds an agent with steps of half a second for so many seconds.
void AddAgent(HandMade& agent, int64_t seconds) {
  agent.Process(2, kStart);
  for (int64_t step = 0; step < 2 * seconds; ++step)
    agent.AgentStep(step, step * kSecond / 2, (step + 1) * kSecond / 2);
  agent.Annotation("Python GC", 0, 1);
}

TEST(MemoryTrend, IsTheHostsByTelemetryWhileStepsRun) {
  HandMade telemetry, agent;
  telemetry.Format("telemetry").Process(1, kStart);
  for (int64_t at = 0; at < 60; ++at) {
    telemetry.Counter("process.resident", at * kSecond, 1000 + 10.0 * static_cast<double>(at));
    telemetry.Counter("host.memory.available", at * kSecond, 5000 - static_cast<double>(at));
  }
  AddAgent(agent, 40);
  Analysed run(std::vector{telemetry.Finish(), agent.Finish()});
  const auto table = run["memory_trend"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_TRUE(table.IsNull(0, "device"));
  EXPECT_EQ(table.Int(0, "samples"), 40);
  EXPECT_EQ(table.Int(0, "span_ns"), 39 * kSecond);
  EXPECT_EQ(table.Real(0, "first_bytes"), 1045);
  EXPECT_EQ(table.Real(0, "last_bytes"), 1345);
  EXPECT_NEAR(table.Real(0, "slope_bytes_s"), 10, 1e-6);
  EXPECT_EQ(table.Real(0, "rank_correlation"), 1);
  EXPECT_NEAR(table.Real(0, "bytes_per_step"), 5, 1e-6);
  EXPECT_EQ(table.Real(0, "free_bytes"), 5000 - 39);
}

TEST(MemoryTrend, ItsSlopeIsThatOfWhatComesAfterTheFirstQuarter) {
  HandMade telemetry, agent;
  telemetry.Format("telemetry").Process(1, kStart);
  for (int64_t at = 0; at < 40; ++at)
    telemetry.Counter("process.resident", at * kSecond, 100.0 * static_cast<double>(std::min<int64_t>(at, 10)));
  AddAgent(agent, 40);
  Analysed run(std::vector{telemetry.Finish(), agent.Finish()});
  EXPECT_EQ(run["memory_trend"].Real(0, "slope_bytes_s"), 0);
  EXPECT_EQ(run["memory_trend"].Real(0, "rank_correlation"), 0);
}

TEST(MemoryTrend, IsADevicesByTheAgent) {
  HandMade agent;
  AddAgent(agent, 40);
  for (int64_t at = 0; at < 40; ++at)
    agent.Counter("allocated memory", at * kSecond, 7.0 * static_cast<double>(at), 1)
        .Counter("reserved memory", at * kSecond, 1e9, 1);
  Analysed run(agent);
  const auto table = run["memory_trend"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "device"), 1);
  EXPECT_NEAR(table.Real(0, "slope_bytes_s"), 7, 1e-6);
  EXPECT_TRUE(table.IsNull(0, "free_bytes"));
}

TEST(MemoryTrend, KnowsNothingOfAFewSamplesNorWithoutSteps) {
  HandMade telemetry, agent;
  telemetry.Format("telemetry").Process(1, kStart);
  for (int64_t at = 0; at < 10; ++at) telemetry.Counter("process.resident", at * kSecond, 1e9);
  AddAgent(agent, 40);
  const auto trace = telemetry.Finish();
  EXPECT_EQ(Analysed(std::vector{trace, agent.Finish()})["memory_trend"].rows(), 0U);
  EXPECT_EQ(Analysed(std::vector{trace})["memory_trend"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
