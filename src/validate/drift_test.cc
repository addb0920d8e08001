// SPDX-License-Identifier: Apache-2.0
// Tests the slope, its robustness to outliers, and the coverage of its interval.
#include "validate/drift.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

TEST(Drift, TheSlopeOfALineIsExactAndOutliersDoNotMoveIt) {
  std::vector<double> values;
  for (int i = 0; i < 101; ++i) values.push_back(100 + 0.25 * i);
  values[10] = 900;
  values[60] = std::nan("");
  const auto drift = FindDrift(values);
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->slope, 0.25, 1e-9);
  EXPECT_TRUE(drift->Drifts());
  EXPECT_NEAR(*drift->relative, 0.25 / 112.5, 1e-4);
}

// 95 % intervals on series without drift; dependent ones would be reported to drift in a third of all cases without the
// correction.
TEST(Drift, WithoutDriftTheIntervalHoldsZero) {
  for (const double phi : {0.0, 0.5}) {
    int wrong = 0;
    for (uint64_t seed = 0; seed < 300; ++seed)
      wrong += FindDrift(NoiseSource(seed).Series(80, 10, 1, phi))->Drifts() ? 1 : 0;
    EXPECT_LE(wrong, 27) << phi;
    EXPECT_GE(wrong, 3) << phi;
  }
}

TEST(Drift, LongSeriesAreCutIntoStretches) {
  std::vector<double> values = NoiseSource(9).Series(50000, 10, 1);
  for (size_t i = 0; i < values.size(); ++i) values[i] += 1e-4 * static_cast<double>(i);
  EXPECT_NEAR(FindDrift(values)->slope, 1e-4, 2e-6);
}

TEST(Drift, TooFewValuesHaveNone) {
  EXPECT_FALSE(FindDrift(std::vector<double>{1, 2, 3}));
  const auto constant = FindDrift(std::vector<double>(30, 0));
  ASSERT_TRUE(constant);
  EXPECT_FALSE(constant->Drifts());
  EXPECT_FALSE(constant->relative);
}

}  // namespace
}  // namespace gapless::internal
