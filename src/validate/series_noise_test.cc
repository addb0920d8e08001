// SPDX-License-Identifier: Apache-2.0
// Tests the noise estimates with outliers, ties and level shifts.
#include "validate/series_noise.h"

#include <gtest/gtest.h>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

TEST(SeriesNoise, OneFarValueIsPulledInAndALevelStays) {
  std::vector<double> values = NoiseSource(3).Series(100, 10, 0.1);
  values[40] = 50;
  for (size_t i = 60; i < 100; ++i) values[i] += 5;
  const std::vector<double> y = Winsorise(values, 11, 3.5, 1e-9);
  EXPECT_LT(y[40], 10.6);
  EXPECT_NEAR(y[70], values[70], 1e-9);
}

TEST(SeriesNoise, ResolutionShowsOnlyWhereValuesTie) {
  EXPECT_DOUBLE_EQ(ResolutionFloor(std::vector<double>{1, 2, 1, 3, 2, 1, 1, 2}), 0.5);
  EXPECT_LT(ResolutionFloor(std::vector<double>{1, 2, 4, 7, 11}), 1e-10);
  EXPECT_GT(ResolutionFloor(std::vector<double>{5, 5, 5}), 0);
}

TEST(SeriesNoise, ALevelShiftDoesNotWidenTheFirstGuess) {
  std::vector<double> values = NoiseSource(4).Series(2000, 0, 1);
  for (size_t i = 1000; i < 2000; ++i) values[i] += 20;
  EXPECT_NEAR(SdByDifferences(values, 0), 1, 0.05);
}

TEST(SeriesNoise, ResidualsGiveDeviationAndDependence) {
  for (const double phi : {0.0, 0.3, 0.5, 0.7}) {
    std::vector<double> values = NoiseSource(5).Series(20000, 100, 2, phi);
    for (size_t i = 10000; i < 20000; ++i) values[i] += 9;
    const SeriesNoise noise = NoiseByResiduals(values, std::vector<size_t>{10000}, 0);
    EXPECT_NEAR(noise.phi, phi, 0.03);
    EXPECT_NEAR(noise.sd, 2, 0.1);
  }
}

TEST(SeriesNoise, NoNoiseIsTheFloorAndIndependent) {
  const SeriesNoise noise = NoiseByResiduals(std::vector<double>(50, 4), {}, 0.25);
  EXPECT_EQ(noise.sd, 0.25);
  EXPECT_EQ(noise.phi, 0);
  EXPECT_EQ(SdByDifferences(std::vector<double>(50, 4), 0.25), 0.25);
}

}  // namespace
}  // namespace gapless::internal
