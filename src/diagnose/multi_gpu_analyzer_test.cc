// SPDX-License-Identifier: Apache-2.0
// Tests the findings from plain figures and from tables.
#include "diagnose/multi_gpu_analyzer.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(MultiGpuAnalyzer, SpeaksOfCommunicationAboveATenth) {
  const auto found = MultiGPUAnalyzer::Analyze(NcclMetrics{.total_step_ns = 100'000'000, .nccl_ns = 18'000'000}, 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "communication");
  EXPECT_NEAR(found[0].severity, 0.70, 0.005);
  EXPECT_NEAR(found[0].gain->expected, 1 / 0.91, 1e-9);
  EXPECT_TRUE(MultiGPUAnalyzer::Analyze(NcclMetrics{.total_step_ns = 100, .nccl_ns = 10}, 8).empty());
  EXPECT_TRUE(MultiGPUAnalyzer::Analyze(NcclMetrics{.total_step_ns = 100, .nccl_ns = 50}, 1).empty()) << "one GPU";
}

TEST(MultiGpuAnalyzer, NamesTheSlowestRank) {
  const auto found = MultiGPUAnalyzer::Analyze(NcclMetrics{.rank_step_ns = {100, 120, 100, 80}}, 4);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "rank 1 is slower than the others");
  EXPECT_DOUBLE_EQ(*found[0].share_of_step, 80.0 / 480);
  EXPECT_TRUE(MultiGPUAnalyzer::Analyze(NcclMetrics{.rank_step_ns = {100, 110}}, 2).empty()) << "a tenth is usual";
}

TEST(MultiGpuAnalyzer, ScalingEfficiency) {
  const NcclMetrics metrics{.single_gpu_throughput = 100, .total_throughput = 600};
  EXPECT_DOUBLE_EQ(*MultiGPUAnalyzer::ScalingEfficiency(metrics, 8), 0.75);
  const auto found = MultiGPUAnalyzer::Analyze(metrics, 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "8 GPUs scale with 75.0 %");
  EXPECT_FALSE(MultiGPUAnalyzer::ScalingEfficiency(NcclMetrics{.total_throughput = 600}, 8));
  EXPECT_FALSE(
      MultiGPUAnalyzer::ScalingEfficiency(NcclMetrics{.single_gpu_throughput = 0, .total_throughput = 600}, 8));
}

TEST(MultiGpuAnalyzer, OnTablesAsksTheRules) {
  std::vector<std::shared_ptr<const Trace>> ranks;
  for (int64_t rank = 0; rank < 2; ++rank) {
    testing::HandMade trace;
    trace.Rank(rank).Step(0, 0, 1'000'000).Kernel("gemm", {0, 10, 20, 600'000});
    trace.Kernel("nccl", {20, 30, 600'000, 1'000'000}, {.op_class = GpuOpClass::kCommunication, .stream = 20});
    ranks.push_back(trace.Finish());
  }
  testing::Analysed run(ranks);
  const auto found = MultiGPUAnalyzer::Analyze(run.tables(), 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "exposed_communication");
  EXPECT_TRUE(MultiGPUAnalyzer::Analyze(run.tables(), 1).empty());
}

}  // namespace
}  // namespace gapless::internal
