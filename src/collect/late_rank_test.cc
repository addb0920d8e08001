// SPDX-License-Identifier: Apache-2.0
// Tests the rank that others wait for on made-up steps: a late one is named by its sign, and ranks that are alike
// are not, in 1 % of windows at most.
#include "collect/late_rank.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "collect/metrics.h"
#include "wire/testing/ring_file.h"

namespace gapless::internal {
namespace {

constexpr int64_t kLateMs = 1'000'000, kLateStart = int64_t{1'700'000'000'000'000'000};

wire::RingRecord LateStep(int64_t number, int64_t late_ns, int64_t wait_ns) {
  return {.number = 0,
          .kind = wire::RecordKind::kStep,
          .flags = 0,
          .value = 1,
          .ts_ns = kLateStart + number * 10 * kLateMs,
          .dur_ns = 10 * kLateMs + late_ns,
          .a = number,
          .b = 8,
          .x = static_cast<double>(wait_ns),
          .y = 0};
}

using LateNoise = std::function<int64_t(int64_t rank, int64_t step)>;

std::vector<LateRank::Finding> LateOf(int64_t ranks, int64_t steps, const LateNoise& late, const LateNoise& wait) {
  LateRank watch;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t rank = 0; rank < ranks; ++rank) watch.OnStep(rank, LateStep(step, late(rank, step), wait(rank, step)));
  auto findings = watch.Findings();
  std::erase_if(findings, [](const auto& finding) { return !finding.late; });
  return findings;
}

TEST(LateRank, TheOneThatEndsStepsLastIsNamed) {
  std::mt19937_64 rng(2);
  const auto noise = [&](int64_t, int64_t) { return static_cast<int64_t>(rng() % kLateMs); };
  const auto late = LateOf(
      4, 100,
      [&](int64_t rank, int64_t step) { return noise(rank, step) + (rank == 2 && step % 3 > 0 ? 2 * kLateMs : 0); },
      [](int64_t, int64_t) { return 0; });
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].rank, 2);
  EXPECT_EQ(late[0].sign, LateSign::kStepEnd);
  EXPECT_EQ(late[0].steps, 100);
  EXPECT_GE(late[0].hits, 60);
  EXPECT_GT(late[0].behind_ns, kLateMs / 2);
  EXPECT_NE(LateRank::TextOf(late[0], 4).find("rank 2 ends steps last in"), std::string::npos);
}

TEST(LateRank, WhereStepsEndTogetherTheWaitForABatchTells) {
  const auto late = LateOf(
      8, 300, [](int64_t, int64_t) { return 0; },
      [](int64_t rank, int64_t) { return rank == 5 ? 3 * kLateMs : kLateMs / 10; });
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].rank, 5);
  EXPECT_EQ(late[0].sign, LateSign::kBatch);
  EXPECT_EQ(late[0].steps, static_cast<int64_t>(LateRank::kSteps)) << "only the last ones count";
}

TEST(LateRank, RanksThatAreAlikeAreNotNamed) {
  std::mt19937_64 rng(5);
  const auto noise = [&](int64_t, int64_t) { return static_cast<int64_t>(rng() % (5 * kLateMs)); };
  int alarms = 0;
  constexpr int kWindows = 1000;
  for (int window = 0; window < kWindows; ++window) alarms += LateOf(4, 60, noise, noise).empty() ? 0 : 1;
  EXPECT_LE(alarms, 20) << "1 % of windows are ten";
}

TEST(LateRank, NothingIsSaidOfOneRankFewStepsAndOddSteps) {
  const auto late = [](int64_t rank, int64_t) { return rank == 0 ? 5 * kLateMs : 0; };
  EXPECT_TRUE(LateOf(1, 100, late, late).empty());
  EXPECT_TRUE(LateOf(2, 19, late, late).empty());
  LateRank watch;
  for (int64_t step = 0; step < 50; ++step)
    for (int64_t rank = 0; rank < 2; ++rank) {
      wire::RingRecord record = LateStep(step, late(rank, step), 0);
      record.flags = wire::kStepRecorded;
      watch.OnStep(rank, record);
    }
  EXPECT_TRUE(watch.Findings().empty());
}

TEST(LateRank, TheChanceIsThatOfTheBinomialDistribution) {
  EXPECT_NEAR(ChanceOfAtLeast(3, 3, 0.5), 0.125, 1e-12);
  EXPECT_NEAR(ChanceOfAtLeast(1, 2, 0.25), 1 - 0.75 * 0.75, 1e-12);
  EXPECT_EQ(ChanceOfAtLeast(0, 10, 0.1), 1);
}

// Rings of two ranks, of which rank 1 ends every step last.
TEST(LateRank, MetricsAndTheManifestNameIt) {
  namespace fs = std::filesystem;
  const std::string run = ::testing::TempDir() + "/gapless_late_rank";
  fs::remove_all(run);
  for (int rank = 0; rank < 2; ++rank) {
    fs::create_directories(run + "/rank" + std::to_string(rank));
    wire::RingFile ring(256);
    ring.header.pid = 40 + rank, ring.header.rank = rank;
    for (int64_t step = 0; step < 60; ++step) {
      ring.records.push_back(LateStep(step, rank == 1 ? 4 * kLateMs : 0, 0));
      ring.records.back().number = ++ring.header.written;
    }
    std::ofstream(run + "/rank" + std::to_string(rank) + "/agent-" + std::to_string(40 + rank) + ".ring",
                  std::ios::binary)
        << ring.Bytes();
  }
  RunMetrics metrics(nullptr);
  RingKeeper rings(run, false);
  auto control = ControlBlock::Make(run);
  ASSERT_TRUE(control);
  std::vector<RunEvent> events;
  rings.Drain(true, [&](AgentProcess& process, const wire::RingRecord& record) { metrics.OnRecord(process, record); });
  metrics.OnTick(rings, *control, events);
  metrics.OnTick(rings, *control, events);
  ASSERT_EQ(events.size(), 1U) << "once, not at every look";
  EXPECT_NE(events[0].text.find("rank 1 ends steps last in 60 of the last 60, by 4.00 ms"), std::string::npos)
      << events[0].text;
  const std::string text = metrics.Text();
  EXPECT_NE(text.find("gapless_late_rank{rank=\"1\",sign=\"step_end\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("gapless_late_rank{rank=\"0\",sign=\"step_end\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find("gapless_last_in_steps_ratio{rank=\"1\",sign=\"step_end\"} 1\n"), std::string::npos);
  fs::remove_all(run);
}

}  // namespace
}  // namespace gapless::internal
