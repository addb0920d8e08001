// SPDX-License-Identifier: Apache-2.0
#include "analyses/bandwidth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "trace/ids.h"

namespace gapless::internal {
namespace {

TEST(BandwidthTest, AlgorithmBandwidthIsBytesOverTime) {
  EXPECT_DOUBLE_EQ(AlgorithmBandwidthGbps(1'000'000'000, 1'000'000'000), 1.0);
  EXPECT_DOUBLE_EQ(AlgorithmBandwidthGbps(64 << 20, 1'000'000), 67.108864);
}

TEST(BandwidthTest, AnUnknownSizeOrNoTimeGivesNoBandwidth) {
  EXPECT_TRUE(std::isnan(AlgorithmBandwidthGbps(kAbsent, 1000)));
  EXPECT_TRUE(std::isnan(AlgorithmBandwidthGbps(1000, 0)));
}

TEST(BandwidthTest, BusFactorsOfNcclTests) {
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(BusFactor("all_gather", 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor("reduce_scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(BusFactor("all_to_all", 2), 0.5);
  EXPECT_DOUBLE_EQ(BusFactor("broadcast", 8), 1.0);
}

TEST(BandwidthTest, AGroupOfOneMovesNothingOverTheBus) { EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 1), 0.0); }

TEST(BandwidthTest, AnUnknownGroupOrKindHasNoFactor) {
  EXPECT_TRUE(std::isnan(BusFactor("all_reduce", kAbsent32)));
  EXPECT_TRUE(std::isnan(BusFactor("barrier", 8)));
}

}  // namespace
}  // namespace gapless::internal
