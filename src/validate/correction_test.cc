// SPDX-License-Identifier: Apache-2.0
// Tests the adjusted p values against examples by hand.
#include "validate/correction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gapless::internal {
namespace {

// Benjamini and Hochberg 1995, section 3.2: fifteen p-values, of which their procedure rejects four at 0.05 and Holm's
// three.
const std::vector<double> kPaper = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};

size_t Rejected(const std::vector<double>& adjusted, double level) {
  size_t count = 0;
  for (const double p : adjusted) count += p <= level;
  return count;
}

TEST(CorrectionTest, TheExampleOfBenjaminiAndHochberg) {
  EXPECT_EQ(Rejected(*BenjaminiHochberg(kPaper), 0.05), 4u);
  EXPECT_EQ(Rejected(*Holm(kPaper), 0.05), 3u);
  EXPECT_LE(Rejected(*BenjaminiYekutieli(kPaper), 0.05), 4u);
}

TEST(CorrectionTest, EValuesByHand) {
  // m = 4 at 0.1 wants e >= 40 / k for the k-th greatest: 30 at k = 2 (20), 14 at k = 3 (13.3), not 5 at k = 4 (10).
  const std::vector<double> e = {14, 5, 30, 50};
  EXPECT_EQ(Rejected(*EBenjaminiHochberg(e), 0.1), 3u);
  EXPECT_EQ(Rejected(*EBenjaminiHochberg(std::vector<double>{13, 5, 30, 50}), 0.1), 2u);
  const auto extremes = EBenjaminiHochberg(std::vector<double>{0, HUGE_VAL});
  ASSERT_TRUE(extremes);
  EXPECT_EQ((*extremes)[0], 1);
  EXPECT_EQ((*extremes)[1], 0);
}

TEST(CorrectionTest, OrderIsKeptAndNothingShrinks) {
  std::vector<double> reversed(kPaper.rbegin(), kPaper.rend());
  for (const auto& correct : {Holm, BenjaminiHochberg, BenjaminiYekutieli}) {
    const auto forward = *correct(kPaper), backward = *correct(reversed);
    for (size_t i = 0; i < kPaper.size(); ++i) {
      EXPECT_GE(forward[i], kPaper[i]);
      EXPECT_DOUBLE_EQ(forward[i], backward[kPaper.size() - 1 - i]);
    }
  }
}

TEST(CorrectionTest, BadInputIsRefusedAndNothingIsNothing) {
  EXPECT_FALSE(Holm(std::vector<double>{0.5, 1.5}));
  EXPECT_FALSE(BenjaminiHochberg(std::vector<double>{std::nan("")}));
  EXPECT_FALSE(BenjaminiYekutieli(std::vector<double>{-0.1}));
  EXPECT_FALSE(EBenjaminiHochberg(std::vector<double>{-1}));
  EXPECT_FALSE(EBenjaminiHochberg(std::vector<double>{std::nan("")}));
  EXPECT_TRUE(Holm({})->empty());
  EXPECT_TRUE(EBenjaminiHochberg({})->empty());
}

}  // namespace
}  // namespace gapless::internal
