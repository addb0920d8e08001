// SPDX-License-Identifier: Apache-2.0
// Tests ScalingEfficiency with and without the step time of a single device.
#include "analyses/rank_summary.h"

#include <gtest/gtest.h>

#include "analyses/rows/ranks.h"
#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::kComm;

std::shared_ptr<const Trace> ComputingRank(int64_t rank, int64_t comm) {
  testing::HandMade trace;
  trace.Rank(rank).Step(0, 0, 1000).Kernel("gemm", {0, 5, 10, 1000 - comm});
  trace.Kernel("nccl", {6, 7, 1000 - comm, 1000}, kComm);
  return trace.Finish();
}

TEST(Scaling, IsTheStepAloneOverTheStepOfTheJob) {
  testing::Analysed run(std::vector{ComputingRank(0, 200), ComputingRank(1, 300)});
  const auto scaling = ScalingEfficiency(run.tables().Get<RanksRows>(), 800);
  ASSERT_TRUE(scaling);
  EXPECT_EQ(scaling->devices, 2);
  EXPECT_EQ(scaling->step_ns, 1000);
  EXPECT_DOUBLE_EQ(scaling->efficiency, 0.8);
  EXPECT_FALSE(scaling->estimated);
}

TEST(Scaling, WithoutASingleRunItIsBoundedByExposedCommunication) {
  testing::Analysed run(std::vector{ComputingRank(0, 200), ComputingRank(1, 300)});
  const auto scaling = ScalingEfficiency(run.tables().Get<RanksRows>(), std::nullopt);
  ASSERT_TRUE(scaling);
  EXPECT_TRUE(scaling->estimated);
  EXPECT_DOUBLE_EQ(scaling->efficiency, 1 - 500.0 / 2000);
}

// Rank 1 starts its recorder 300 ns late; from then on both come together.
TEST(Scaling, WhatTheStartOfTheRecordersCostsIsNoLoss) {
  std::vector<std::shared_ptr<const Trace>> ranks;
  for (const int64_t rank : {0, 1}) {
    const int64_t late = rank * 300'000;
    testing::HandMade trace;
    trace.Rank(rank).Step(0, 0, 1'000'000).Kernel("nccl", {0, 5, 10 + late, 400'000}, kComm);
    trace.Collective("all_reduce", 10 + late, 400'000, 64).Kernel("gemm", {20, 30, 400'000, 900'000});
    trace.Kernel("nccl", {40, 50, 900'000, 1'000'000}, kComm).Collective("all_reduce", 900'000, 1'000'000, 64);
    ranks.push_back(trace.Finish());
  }
  testing::Analysed run(ranks);
  const auto scaling = ScalingEfficiency(run.tables().Get<RanksRows>(), std::nullopt);
  ASSERT_TRUE(scaling);
  const double wall = 2 * 1'000'000.0 - 300'000, exposed = 2 * (100'000.0 + 100'000) - 10;
  EXPECT_NEAR(scaling->efficiency, 1 - exposed / wall, 1e-4);
}

TEST(Scaling, OfOneDeviceOrNoStepsIsAbsent) {
  testing::Analysed one(std::vector{ComputingRank(0, 200)});
  EXPECT_FALSE(ScalingEfficiency(one.tables().Get<RanksRows>(), std::nullopt));
  EXPECT_TRUE(ScalingEfficiency(one.tables().Get<RanksRows>(), 800));
  testing::HandMade no_steps;
  no_steps.Kernel("gemm", {0, 5, 10, 1000});
  testing::Analysed without(no_steps);
  EXPECT_FALSE(ScalingEfficiency(without.tables().Get<RanksRows>(), 800));
}

}  // namespace
}  // namespace gapless::internal
