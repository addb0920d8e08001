// SPDX-License-Identifier: Apache-2.0
// Tests the verdicts on kernel metrics: utilisation, memory, occupancy, divergence, and missing metrics.
#include "diagnose/kernel_analyzer.h"

#include <gtest/gtest.h>

#include <array>

namespace gapless::internal {
namespace {

std::vector<Bottleneck> Of(KernelMetrics kernel) { return KernelAnalyzer::Analyze(std::array{std::move(kernel)}); }

TEST(KernelAnalyzer, ComputeUnderusedAndCritically) {
  const auto some = Of({.name = "k", .sm_throughput_pct = 50});
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].type, BottleneckType::kKernelEfficiency);
  EXPECT_EQ(some[0].title, "k: its compute units are underused");
  EXPECT_DOUBLE_EQ(some[0].severity, 0.5);
  EXPECT_FALSE(some[0].share_of_step);
  EXPECT_EQ(Of({.name = "k", .sm_throughput_pct = 39.9})[0].title, "k: its compute units are critically underused");
  EXPECT_TRUE(Of({.name = "k", .sm_throughput_pct = 60}).empty());
}

TEST(KernelAnalyzer, MemoryBoundIsNotAlsoUnderused) {
  const auto found = Of({.name = "k", .sm_throughput_pct = 30, .dram_throughput_pct = 90});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, BottleneckType::kMemoryBandwidth);
  EXPECT_DOUBLE_EQ(found[0].severity, 0.9);
  EXPECT_TRUE(Of({.name = "k", .sm_throughput_pct = 70, .dram_throughput_pct = 90}).empty()) << "both are well used";
}

TEST(KernelAnalyzer, OccupancyAndDivergence) {
  const auto found = Of({.name = "k",
                         .sm_throughput_pct = 80,
                         .achieved_occupancy_pct = 20,
                         .warp_efficiency_pct = 70,
                         .registers_per_thread = 255});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].title, "k: low occupancy") << "the worse first";
  EXPECT_EQ(found[0].evidence[0].text, "achieved occupancy 20.0 %, 255 registers per thread");
  EXPECT_EQ(found[1].title, "k: threads of a warp diverge");
}

TEST(KernelAnalyzer, AShareOfTheStepDecidesSeverity) {
  const auto found = Of({.name = "k", .share_of_step = 0.08, .sm_throughput_pct = 10});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].severity, 0.41, 0.005);
  EXPECT_DOUBLE_EQ(*found[0].share_of_step, 0.08);
}

TEST(KernelAnalyzer, WhatWasNotMeasuredSaysNothing) { EXPECT_TRUE(Of({.name = "k"}).empty()); }

}  // namespace
}  // namespace gapless::internal
