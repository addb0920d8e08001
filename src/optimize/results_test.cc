// SPDX-License-Identifier: Apache-2.0
// Tests the comparison of losses.
#include "optimize/results.h"

#include <gtest/gtest.h>

#include <limits>

namespace gapless::internal {
namespace {

constexpr double kLostLoss = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

RunSample WithLosses(std::vector<double> losses) {
  RunSample sample;
  sample.losses = std::move(losses);
  return sample;
}

TEST(Results, ALossThatIsNoLongerFinite) {
  const std::vector<RunSample> without = {WithLosses({2, 1.5, kLostLoss, 1}), WithLosses({2, 1.5, 1.2, 1})};
  const auto first = [&](std::vector<double> losses) {
    const RunSample with = WithLosses(std::move(losses));
    return FirstLostLoss(without, {&with, 1});
  };
  EXPECT_FALSE(first({2, 1.5, 1.2, 1}));
  EXPECT_EQ(first({2, kInf, 1.2, 1}), 1U);
  EXPECT_FALSE(first({2, 1.5, kLostLoss, 1})) << "it is not in all runs without, either";
  EXPECT_FALSE(first({2, 1.5, 1.2, 1, kLostLoss})) << "none of those without came so far";
  EXPECT_FALSE(first({})) << "no loss was seen";
  EXPECT_FALSE(first({kLostLoss, kLostLoss})) << "no loss was seen";
}

}  // namespace
}  // namespace gapless::internal
