// SPDX-License-Identifier: Apache-2.0
// Tests table kernel_limits by hand; tests/ncu_rules_test.py compares it with what Nsight Compute's own rules say.
#include <gtest/gtest.h>

#include <map>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;

std::map<std::string, double> LimitsOf(const std::map<std::string, double>& counters) {
  TraceBuilder builder;
  for (const auto& [name, value] : counters)
    builder.AddKernelMetric({.kernel_name = "k", .launch_index = 3, .metric = name, .value = value});
  Analysed run({std::make_shared<const Trace>(std::move(builder).Finish())});
  const auto table = run["kernel_limits"];
  std::map<std::string, double> limits;
  for (size_t row = 0; row < table.rows(); ++row)
    limits[std::string(table.Text(row, "limit"))] = table.Real(row, "saves_share");
  return limits;
}

const std::map<std::string, double> kSlow = {{"smsp__issue_active.avg.per_cycle_active", 0.25},
                                             {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20},
                                             {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 70}};

TEST(KernelLimits, FreeSlotsSaveNoMoreThanMemoryLeaves) {
  const auto limits = LimitsOf(kSlow);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_NEAR(limits.at("issue_slots"), 0.3, 1e-9) << "three of four slots are free, but memory runs at 70 %";
}

// A stall counts only from three tenths of the latency, and saves no more than the free slots.
TEST(KernelLimits, AStallSavesNoMoreThanTheFreeSlots) {
  auto counters = kSlow;
  counters["smsp__average_warp_latency_per_inst_issued.ratio"] = 20;
  counters["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"] = 15;
  counters["smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"] = 5;
  EXPECT_NEAR(LimitsOf(counters).at("stall"), 0.3, 1e-9);
  counters.erase("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  EXPECT_NEAR(LimitsOf(counters).at("stall"), 0.75, 1e-9) << "without throughputs the stall's own share counts";
  counters["smsp__issue_active.avg.per_cycle_active"] = 0.85;
  EXPECT_EQ(LimitsOf(counters).size(), 0U) << "schedulers issue almost every cycle";
}

TEST(KernelLimits, TheShapeOfTheLaunch) {
  EXPECT_NEAR(LimitsOf({{"launch__block_size", 48}}).at("odd_block"), 0.25, 1e-9);
  EXPECT_TRUE(LimitsOf({{"launch__block_size", 64}}).empty());
  EXPECT_NEAR(LimitsOf({{"launch__grid_size", 33}, {"launch__sm_count", 132}}).at("small_grid"), 0.75, 1e-9);
  EXPECT_TRUE(LimitsOf({{"launch__grid_size", 132}, {"launch__sm_count", 132}}).empty());
  EXPECT_NEAR(LimitsOf({{"launch__waves_per_multiprocessor", 1.2},
                        {"sm__maximum_warps_per_active_cycle_pct", 100},
                        {"sm__warps_active.avg.pct_of_peak_sustained_active", 70}})
                  .at("part_wave"),
              0.5, 1e-9);
}

TEST(KernelLimits, OccupancyDivergenceAndImbalance) {
  EXPECT_NEAR(LimitsOf({{"sm__maximum_warps_per_active_cycle_pct", 50}}).at("few_warps"), 0.5, 1e-9);
  EXPECT_NEAR(LimitsOf({{"smsp__thread_inst_executed_per_inst_executed.ratio", 16},
                        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 60}})
                  .at("divergence"),
              0.3, 1e-9);
  EXPECT_NEAR(LimitsOf({{"sm__cycles_active.avg", 80},
                        {"sm__cycles_active.max", 100},
                        {"sm__cycles_active.sum", 800},
                        {"sm__cycles_elapsed.sum", 1000}})
                  .at("imbalance"),
              0.16, 1e-9);
}

}  // namespace
}  // namespace gapless::internal
