// SPDX-License-Identifier: Apache-2.0
// Tests EnergyOf: where the power comes from, how it is divided, and that the parts add up. Figures by hand.
#include "diagnose/energy.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Telemetry of a GPU: 300 W on the mean, 100 W at least.
Analysed Sampled() {
  HandMade trace;
  trace.Format("telemetry");
  for (const auto& [at, watts] : {std::pair{0, 100.0}, {10, 400.0}, {20, 400.0}}) {
    trace.Counter("gpu.power", at, watts, 0).Counter("gpu.utilization", at, 0.9, 0);
    trace.Counter("gpu.power", at, 20, 1).Counter("gpu.utilization", at, 0, 1);  // somebody else's GPU, idle
  }
  return Analysed(trace);
}

// A GPU that works for three quarters of a step of one second, and waits for data in the rest.
RunSummary OneGpu(std::string_view name = "") {
  RunSummary summary;
  DeviceBreakdown gpu{.device_name = std::string(name), .wall_ns = 4000, .compute_ns = 2000, .exposed_comm_ns = 1000};
  gpu.idle_ns = gpu.idle_data_ns = 1000;
  summary.breakdown = {gpu};
  summary.total = gpu;
  summary.mean_step_ns = 1e9;
  return summary;
}

Bottleneck Found(BottleneckType type, double share, double speedup) {
  Bottleneck found{.id = "found", .type = type};
  found.share_of_step = share;
  if (speedup > 1) found.gain = Gain{.low = speedup, .expected = speedup, .high = speedup};
  return found;
}

TEST(Energy, IsDividedByWaitingAndWork) {
  Analysed run = Sampled();
  const auto account = EnergyOf(run.tables(), OneGpu(), {}, {});
  ASSERT_TRUE(account);
  EXPECT_EQ(account->source, PowerSource::kSampled);
  EXPECT_DOUBLE_EQ(account->watts, 300);
  EXPECT_DOUBLE_EQ(*account->joules_per_step, 300);
  ASSERT_EQ(account->parts.size(), 3U);
  double joules = 0;
  for (const EnergyPart& part : account->parts) joules += part.joules;
  EXPECT_DOUBLE_EQ(joules, 300);
  EXPECT_EQ(account->parts[2].name, "idle_data");
  EXPECT_DOUBLE_EQ(account->parts[2].joules, 25);                // 100 W for 0.25 s
  EXPECT_DOUBLE_EQ(account->parts[0].watts, 275 / 0.75);         // what is left, over the rest of the step
  EXPECT_DOUBLE_EQ(account->parts[0].joules, 275 / 0.75 * 0.5);  // half a step
  EXPECT_DOUBLE_EQ(*account->day.kwh, 7.2);                      // 300 W for 24 h
  EXPECT_FALSE(account->day.money || account->day.carbon_kg || account->epoch);
}

TEST(Energy, EachFindingByTheDay) {
  Analysed run = Sampled();
  const std::vector<Bottleneck> found = {Found(BottleneckType::kDataLoading, 0.25, 1.25),
                                         Found(BottleneckType::kKernelEfficiency, 0.5, 1)};
  const CostRates rates{.price_per_gpu_hour = 2, .carbon_g_per_kwh = 500, .gpus = 8, .steps_per_epoch = 3600};
  const auto account = EnergyOf(run.tables(), OneGpu(), found, rates);
  ASSERT_TRUE(account);
  ASSERT_EQ(account->findings.size(), 2U);
  const EnergyOfFinding& data = account->findings[0];
  EXPECT_TRUE(data.is_waiting);
  EXPECT_DOUBLE_EQ(*data.day.kwh, 4.8);  // 100 W, a quarter of 24 h, 8 GPUs
  EXPECT_DOUBLE_EQ(*data.day.money, 96);
  EXPECT_DOUBLE_EQ(*data.day.carbon_kg, 2.4);
  EXPECT_DOUBLE_EQ(*data.saved.money, 76.8);  // a fifth of the day
  EXPECT_FALSE(account->findings[1].is_waiting);
  EXPECT_DOUBLE_EQ(*account->findings[1].day.kwh, 275 / 0.75 * 12 * 8 / 1000);
  EXPECT_FALSE(account->findings[1].saved.kwh) << "nobody knows what its fix brings";
  EXPECT_DOUBLE_EQ(*account->epoch->kwh, 2.4);  // 300 W on 8 GPUs for an hour
  EXPECT_DOUBLE_EQ(*account->epoch->money, 16);
}

TEST(Energy, OfTheHostsBesideTheGpus) {
  HandMade trace;
  trace.Format("telemetry").Counter("gpu.power", 0, 300, 0);
  for (int look = 0; look < 12; ++look)
    trace.Counter("host.energy", look * int64_t{100'000'000}, look * 10.0)
        .Counter("host.energy.dram", look * int64_t{100'000'000}, look * 2.0);
  Analysed run(trace), without = Sampled();
  const auto account = EnergyOf(run.tables(), OneGpu(), {}, {.carbon_g_per_kwh = 500});
  ASSERT_TRUE(account) << account.error().message;
  ASSERT_TRUE(account->host);
  EXPECT_EQ(account->host->hosts, 1);
  EXPECT_DOUBLE_EQ(account->host->processor_watts, 100);
  EXPECT_DOUBLE_EQ(*account->host->memory_watts, 20);
  EXPECT_DOUBLE_EQ(*account->host->joules_per_step, 100);  // of a step of one second
  EXPECT_DOUBLE_EQ(*account->host->day.kwh, 2.4);
  EXPECT_DOUBLE_EQ(*account->host->day.carbon_kg, 1.2);
  EXPECT_DOUBLE_EQ(*account->joules_per_step, 300) << "the GPU's alone";
  EXPECT_FALSE(EnergyOf(without.tables(), OneGpu(), {}, {})->host);
}

TEST(Energy, WhereThePowerComesFrom) {
  HandMade empty;
  Analysed sampled = Sampled(), nothing(empty);
  const auto given = EnergyOf(sampled.tables(), OneGpu(), {}, {.watts_per_gpu = 500});
  EXPECT_EQ(given->source, PowerSource::kGiven);
  EXPECT_DOUBLE_EQ(given->watts, 500);
  const auto limit = EnergyOf(nothing.tables(), OneGpu("NVIDIA A100-SXM4-80GB"), {}, {});
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->source, PowerSource::kLimit);
  EXPECT_DOUBLE_EQ(limit->parts[2].watts, 400) << "no lower power is known: all parts draw the same";
  const auto unknown = EnergyOf(nothing.tables(), OneGpu("an unheard-of GPU"), {}, {});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("--watts"), std::string::npos);
  EXPECT_FALSE(EnergyOf(sampled.tables(), RunSummary(), {}, {})) << "no GPU worked";
}

}  // namespace
}  // namespace gapless::internal
