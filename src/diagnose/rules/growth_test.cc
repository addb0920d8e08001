// SPDX-License-Identifier: Apache-2.0
// Tests step_growth and memory_growth where tests/rules/ has no recording: what comes near them and is no growth, which
// source is named, and how soon memory is full.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"
#include "trace/formats.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kStart = 1'700'000'000'000'000'000;
constexpr int64_t kSecond = 1'000'000'000;

std::vector<Bottleneck> Found(std::string_view id, Analysed& run) {
  const auto rule = std::ranges::find(AllRules(), id, [](const Rule* rule) { return rule->id; });
  auto found = CheckRule(**rule, run.tables());
  return found ? std::move(*found) : std::vector<Bottleneck>{};
}

// The findings about a run whose steps take so many µs, by number.
std::vector<Bottleneck> OfSteps(int64_t count, const std::function<double(double)>& duration_us,
                                HandMade&& agent = HandMade()) {
  int64_t at = 0;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t end = at + std::llround(duration_us(static_cast<double>(step)) * 1000);
    agent.AgentStep(step, at, end);
    at = end;
  }
  agent.Annotation(kGarbageName, 0, 1);
  Analysed run(agent);
  return Found("step_growth", run);
}

TEST(StepGrowth, IsFoundFromThreeTenthsAndFortyStepsOn) {
  const auto grows = [](double by) { return [by](double step) { return 1000 + by * step; }; };
  EXPECT_EQ(OfSteps(200, grows(3)).size(), 1U);
  EXPECT_EQ(OfSteps(200, grows(1)).size(), 0U);
  EXPECT_EQ(OfSteps(41, grows(30)).size(), 1U);
  EXPECT_EQ(OfSteps(40, grows(30)).size(), 0U) << "the first step does not count";
}

TEST(StepGrowth, IsNotAWarmUpNorNoiseNorAPhase) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  std::lognormal_distribution<double> noise(7, 0.5);
  EXPECT_TRUE(OfSteps(200, [](double step) { return 5000 / (1 + step / 20); }).empty()) << "becomes faster";
  EXPECT_TRUE(OfSteps(200, [&](double) { return noise(random); }).empty());
  EXPECT_TRUE(OfSteps(200, [](double step) { return step < 100 ? 1000 : 4000; }).empty()) << "a phase";
  EXPECT_TRUE(OfSteps(200, [](double step) { return 3000 + 2000 * std::sin(step / 9); }).empty()) << "lengths";
  EXPECT_TRUE(OfSteps(200, [](double step) { return 1000 + 40 * std::fmod(step, 50); }).empty()) << "epochs";
}

TEST(StepGrowth, IsNotThatOfAModelThatGenerates) {
  const auto grows = [](double step) { return 1000 + 30 * step; };
  HandMade generates, trains;
  generates.Environment(kAgentRoleKey, kRoleOnlyInfers), trains.Environment(kAgentRoleKey, kRoleTrains);
  EXPECT_TRUE(OfSteps(200, grows, std::move(generates)).empty());
  EXPECT_EQ(OfSteps(200, grows, std::move(trains)).size(), 1U);
}

TEST(StepGrowth, IsFoundBelowNoise) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  std::lognormal_distribution<double> noise(0, 0.3);
  EXPECT_EQ(OfSteps(400, [&](double step) { return (1000 + 10 * step) * noise(random); }).size(), 1U);
  int found = 0;
  for (int run = 0; run < 20; ++run)
    found += OfSteps(112, [&](double step) { return (1000 + 20 * step) * noise(random); }).empty() ? 0 : 1;
  EXPECT_GE(found, 18);
}

// A recording beside the agent's steps, in each of whose steps the program calls a function as often.
std::vector<Bottleneck> OnABusyMachine(uint32_t seed, double by, const std::vector<int64_t>& calls) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> noise(0, 1.0);
  HandMade agent, recording;
  agent.Process(1, kStart).Annotation(kGarbageName, 0, 1);
  recording.Process(1, kStart);
  int64_t at = 0;
  for (int64_t step = 0; step < 400; ++step) {
    const int64_t end = at + std::llround((1000 + by * static_cast<double>(step)) * noise(random) * 1000);
    agent.AgentStep(step, at, end);
    at = end;
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t begin = static_cast<int64_t>(i) * 10'000;
    recording.Step(static_cast<int64_t>(i), begin, begin + 10'000).Operator("aten::mm", begin + 9000, begin + 9900);
    for (int64_t call = 0; call < calls[i]; ++call)
      recording.Python("train.py(7): keep_mean", begin + 100 + 100 * call, begin + 190 + 100 * call, "train.py:20");
  }
  Analysed run({agent.Finish(), recording.Finish()});
  return Found("step_growth", run);
}

TEST(StepGrowth, CallsThatGrowAreAWitnessOnABusyMachine) {
  const std::vector<int64_t> grow = {8, 9, 10, 11, 12, 13}, stay = {8, 8, 8, 8, 8, 8};
  int alone = 0, with = 0, without_growth = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    alone += OnABusyMachine(seed, 6, stay).empty() ? 0 : 1;
    with += OnABusyMachine(seed, 6, grow).empty() ? 0 : 1;
    without_growth += OnABusyMachine(seed, 0, grow).empty() ? 0 : 1;
  }
  EXPECT_LE(alone, 20);
  EXPECT_GE(with, 33);
  EXPECT_EQ(without_growth, 0);
}

TEST(StepGrowth, SaysWhenTheLoaderBecomesSlower) {
  HandMade agent;
  int64_t at = 0;
  for (int64_t step = 0; step < 100; ++step) {
    const int64_t wait = step * 20'000;
    agent.AgentStep(step, at, at + 1'000'000 + wait, wait);
    at += 1'000'000 + wait;
  }
  agent.Annotation(kGarbageName, 0, 1);
  Analysed run(agent);
  const auto found = Found("step_growth", run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].evidence.back().text.find("waiting for batches"), std::string::npos);
}

// The findings about a run whose processes hold so many bytes, by seconds of 60.
std::vector<Bottleneck> OfMemory(const std::function<double(double)>& bytes, double free = 1e15) {
  HandMade telemetry, agent;
  telemetry.Format("telemetry").Process(1, kStart), agent.Process(2, kStart);
  for (int64_t at = 0; at < 60; ++at) {
    telemetry.Counter("process.resident", at * kSecond, bytes(static_cast<double>(at)));
    telemetry.Counter("host.memory.available", at * kSecond, free);
    agent.AgentStep(at, at * kSecond, (at + 1) * kSecond);
  }
  agent.Annotation(kGarbageName, 0, 1);
  Analysed run(std::vector{telemetry.Finish(), agent.Finish()});
  return Found("memory_growth", run);
}

TEST(MemoryGrowth, IsFoundFromATenthAndAHundredMegabytesOn) {
  const auto grows = [](double from, double by) { return [=](double at) { return from + by * at; }; };
  EXPECT_EQ(OfMemory(grows(500e6, 5e6)).size(), 1U);
  EXPECT_EQ(OfMemory(grows(500e6, 3e6)).size(), 0U) << "90 MB";
  EXPECT_EQ(OfMemory(grows(5e9, 5e6)).size(), 0U) << "3 %";
}

TEST(MemoryGrowth, IsNotACacheThatFillsNorMemoryThatComesAndGoes) {
  EXPECT_TRUE(OfMemory([](double at) { return 500e6 + 20e6 * std::min(at, 30.0); }).empty());
  EXPECT_TRUE(OfMemory([](double at) { return at < 40 ? 500e6 : 2e9; }).empty()) << "a jump";
  EXPECT_TRUE(OfMemory([](double at) { return 2e9 + 1e9 * std::sin(at / 3); }).empty());
  EXPECT_TRUE(OfMemory([](double at) { return 5e9 - 50e6 * at; }).empty());
  EXPECT_EQ(OfMemory([](double at) { return 500e6 + 20e6 * at + 50e6 * std::fmod(at, 3); }).size(), 1U) << "a saw";
}

TEST(MemoryGrowth, IsCriticalWhereMemoryIsFullWithinAnHour) {
  const auto grows = [](double at) { return 500e6 + 10e6 * at; };
  const auto later = OfMemory(grows, 40e9), soon = OfMemory(grows, 30e9);
  ASSERT_EQ(later.size() + soon.size(), 2U);
  EXPECT_EQ(later[0].severity, 0.5);
  EXPECT_EQ(soon[0].severity, 0.75);
  EXPECT_NE(soon[0].title.find("10.0 MB a step, 600 MB a minute"), std::string::npos) << soon[0].title;
  EXPECT_FALSE(soon[0].gain.has_value());
}

TEST(MemoryGrowth, IsThatOfADeviceToo) {
  HandMade agent;
  for (int64_t at = 0; at < 60; ++at) {
    agent.AgentStep(at, at * kSecond, (at + 1) * kSecond);
    agent.Counter("allocated memory", at * kSecond, 1e9 + 10e6 * static_cast<double>(at), 1);
  }
  Analysed run(agent);
  const auto found = Found("memory_growth", run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("of GPU 1"), std::string::npos) << found[0].title;
}

}  // namespace
}  // namespace gapless::internal
