// SPDX-License-Identifier: Apache-2.0
// Tests what counts as a change of a printed number.
#include "validate/metric_change.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "validate/random.h"

namespace gapless::internal {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using MetricValues = std::vector<double>;

TEST(MetricChange, RunsThatRepeatExactlyAreHeldToTheNumberOrTheFloor) {
  const MetricValues same = {0.91, 0.91};
  EXPECT_FALSE(ChangeOfMetric(same, MetricValues{0.91}, true)->changed);
  EXPECT_TRUE(ChangeOfMetric(same, MetricValues{0.9101}, true)->changed)
      << "the last digit counts where bits must stay";
  EXPECT_FALSE(ChangeOfMetric(same, MetricValues{0.905}, false)->changed) << "within 1 %";
  EXPECT_TRUE(ChangeOfMetric(same, MetricValues{0.91, 0.90, 0.92}, false)->changed)
      << "one run is further off than 1 %";
  EXPECT_EQ(ChangeOfMetric(same, MetricValues{0.91, 0.905, 0.93}, false)->after, 0.93) << "the furthest is named";
  EXPECT_EQ(ChangeOfMetric(same, MetricValues{0.9}, false)->basis, MetricBasis::kFloor);
  EXPECT_DOUBLE_EQ(ChangeOfMetric(same, MetricValues{0.9}, false)->allowed, 0.0091);
}

TEST(MetricChange, ANoisyNumberIsHeldToItsOwnNoise) {
  const MetricValues noisy = {0.90, 0.92, 0.88, 0.91, 0.89};  // a standard deviation of 0.0158, a mean of 0.90
  const auto change = ChangeOfMetric(noisy, MetricValues{0.85}, false);
  EXPECT_EQ(change->basis, MetricBasis::kNoise);
  EXPECT_NEAR(change->allowed, 4.604 * 0.01581 * std::sqrt(1.0 / 5 + 1), 1e-3) << "Student's t of 4 degrees at 99 %";
  EXPECT_FALSE(change->changed) << "0.05 off is within 0.080";
  EXPECT_TRUE(ChangeOfMetric(noisy, MetricValues{0.80}, false)->changed);
  EXPECT_TRUE(ChangeOfMetric(noisy, MetricValues{0.84, 0.85, 0.86, 0.85, 0.85}, false)->changed)
      << "more runs show a smaller change";
  EXPECT_FALSE(ChangeOfMetric(noisy, MetricValues{0.92}, true)->changed)
      << "bits that stay do not repeat this number either";
}

TEST(MetricChange, PairsShowASmallerChangeThanSingleRuns) {
  const MetricValues before = {0.90, 0.95, 0.85, 0.92}, after = {0.87, 0.921, 0.819, 0.89};  // 0.03 lower, each time
  EXPECT_FALSE(ChangeOfMetric(before, after, false)->changed);
  const auto change = ChangeOfMetricPairs(before, after, false);
  EXPECT_TRUE(change->changed);
  EXPECT_EQ(change->basis, MetricBasis::kFloor) << "the differences scatter by less than 1 %";
  EXPECT_FALSE(ChangeOfMetricPairs(before, MetricValues{0.93, 0.88, 0.92, 0.87}, false)->changed);
}

TEST(MetricChange, ARunThatPrintsNoFiniteNumber) {
  EXPECT_TRUE(ChangeOfMetric(MetricValues{0.9, 0.8}, MetricValues{0.9, kNone}, false)->changed);
  EXPECT_TRUE(ChangeOfMetricPairs(MetricValues{0.9, 0.8, 0.85}, MetricValues{0.9, kNone, 0.9}, false)->changed);
  EXPECT_FALSE(ChangeOfMetric(MetricValues{kNone}, MetricValues{0.9}, false)) << "there was no number before";
  EXPECT_FALSE(ChangeOfMetric(MetricValues{0.9}, MetricValues{}, false));
}

TEST(MetricChange, FalseAlarmsOfNoiseAreRare) {
  Random random(7);
  int alarms = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    MetricValues before, after;
    for (int i = 0; i < 4; ++i) before.push_back(1 + 0.1 * random.Normal());
    for (int i = 0; i < 2; ++i) after.push_back(1 + 0.1 * random.Normal());
    alarms += ChangeOfMetric(before, after, true)->changed ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(alarms) / kTrials, kMetricAlpha, 0.006);
}

TEST(MetricChange, ItsWordsSayWhatWouldHaveBeenSeen) {
  EXPECT_EQ(
      MetricWords(*ChangeOfMetric(MetricValues{0.91, 0.91}, MetricValues{0.905}, false)),
      "0.905 after 0.91 (2 and 1 runs); a difference of more than 0.0091 would be a change: 1 % of it, the floor");
  EXPECT_EQ(MetricWords(*ChangeOfMetric(MetricValues{3, 3}, MetricValues{3}, true)),
            "3 after 3 (2 and 1 runs); any difference would be a change: runs repeat exactly");
}

}  // namespace
}  // namespace gapless::internal
