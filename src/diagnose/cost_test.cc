// SPDX-License-Identifier: Apache-2.0
// Tests CostOf and SavingPerMonth: rates, numbers from the user, and absent values.
#include "diagnose/cost.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

const Run kNoRun;

// Two GPUs, steps of 360 ms.
RunSummary TwoGpus(std::string_view device = "") {
  RunSummary summary;
  for (int64_t rank = 0; rank < 2; ++rank) {
    DeviceBreakdown one;
    one.rank = rank, one.device_name = device, one.wall_ns = 1;
    summary.breakdown.push_back(one);
  }
  summary.mean_step_ns = 360e6;
  return summary;
}

TEST(Cost, IsGpuTimeTimesTheRates) {
  const CostRates rates{
      .price_per_gpu_hour = 2.5, .carbon_g_per_kwh = 400, .watts_per_gpu = 500, .steps_per_epoch = 1000};
  const auto cost = CostOf(kNoRun, TwoGpus(), rates);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->gpus, 2);
  ASSERT_TRUE(cost->step);  // two GPUs for 0.36 s are 0.0002 GPU-hours
  EXPECT_DOUBLE_EQ(*cost->step->money, 0.0005);
  EXPECT_DOUBLE_EQ(*cost->step->kwh, 0.0001);
  EXPECT_DOUBLE_EQ(*cost->step->carbon_kg, 0.00004);
  EXPECT_DOUBLE_EQ(*cost->epoch->money, 0.5);
  EXPECT_DOUBLE_EQ(*cost->month.money, 2 * 730 * 2.5);
  EXPECT_DOUBLE_EQ(*cost->month.kwh, 730);
  EXPECT_FALSE(cost->watts_are_limit);
}

TEST(Cost, TheUserMaySayHowManyGpusAndHours) {
  const auto cost = CostOf(kNoRun, TwoGpus(), {.price_per_gpu_hour = 1, .gpus = 64, .hours_per_month = 100});
  EXPECT_DOUBLE_EQ(*cost->month.money, 6400);
}

TEST(Cost, IsAbsentWithoutARateOrADevice) {
  EXPECT_FALSE(CostOf(kNoRun, TwoGpus(), {}));
  EXPECT_FALSE(CostOf(kNoRun, RunSummary(), {.price_per_gpu_hour = 1}));
}

TEST(Cost, SaysNothingOfEnergyWhereNoPowerIsKnown) {
  const auto cost = CostOf(kNoRun, TwoGpus("an unheard-of GPU"), {.price_per_gpu_hour = 1, .carbon_g_per_kwh = 400});
  EXPECT_TRUE(cost->month.money);
  EXPECT_FALSE(cost->month.kwh);
  EXPECT_FALSE(cost->month.carbon_kg);
}

TEST(Cost, TakesTheBoardsLimitForThePowerAndSaysSo) {
  const auto cost = CostOf(kNoRun, TwoGpus("NVIDIA A100-SXM4-80GB"), {.carbon_g_per_kwh = 100});
  ASSERT_TRUE(cost->watts_per_gpu);
  EXPECT_DOUBLE_EQ(*cost->watts_per_gpu, 400);
  EXPECT_TRUE(cost->watts_are_limit);
  EXPECT_FALSE(cost->month.money);
}

TEST(Saving, IsTheShareOfTimeThatGoesAway) {
  const auto cost = CostOf(kNoRun, TwoGpus(), {.price_per_gpu_hour = 1, .gpus = 1, .hours_per_month = 100});
  const Saving saving = SavingPerMonth(*cost, {.low = 1, .expected = 1.25, .high = 2});
  EXPECT_DOUBLE_EQ(*saving.low.money, 0);
  EXPECT_DOUBLE_EQ(*saving.expected.money, 20);
  EXPECT_DOUBLE_EQ(*saving.high.money, 50);
}

}  // namespace
}  // namespace gapless::internal
