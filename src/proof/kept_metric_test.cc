// SPDX-License-Identifier: Apache-2.0
// Tests the option --metric and what becomes of its number in runs.
#include "proof/kept_metric.h"

#include <gtest/gtest.h>

#include <limits>

namespace gapless::internal {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

RunSample WithMetric(std::optional<double> metric) {
  RunSample sample;
  sample.metric = metric;
  return sample;
}

std::vector<RunSample> WithMetrics(const std::vector<std::optional<double>>& metrics) {
  std::vector<RunSample> samples;
  for (const auto& metric : metrics) samples.push_back(WithMetric(metric));
  return samples;
}

std::string ObjectionTo(const MetricRuns& runs, bool exact) {
  return MetricObjection(runs, ChangeOfMetric(runs, exact));
}

TEST(KeptMetric, AMetricThatRepeatsExactly) {
  const auto without = WithMetrics({0.91, 0.91});
  const auto objection = [&](bool exact, std::optional<double> metric) {
    const RunSample with = WithMetric(metric);
    return ObjectionTo({.without = without, .with = {&with, 1}}, exact);
  };
  EXPECT_EQ(objection(true, 0.91), "");
  EXPECT_EQ(objection(true, 0.905),
            "it is 0.905 after 0.91 (2 and 1 runs); any difference would be a change: runs repeat exactly");
  EXPECT_EQ(objection(false, 0.905), "") << "within 1 %";
  EXPECT_NE(objection(false, 0.80), "");
  EXPECT_NE(objection(false, 0.95), "") << "what is better is another result, too";
  EXPECT_NE(objection(false, kNoNumber), "");
}

TEST(KeptMetric, AMetricThatIsNoisy) {
  const auto without = WithMetrics({0.90, 0.94, 0.88, 0.92});
  const auto with = WithMetrics({0.80});
  EXPECT_EQ(ObjectionTo({.without = without, .with = with}, false), "") << "four runs cannot tell it from noise";
  // The same loss of 0.10 in pairs, beside runs of the same minutes.
  const auto beside = WithMetrics({0.91, 0.89, 0.93, 0.90}), worse = WithMetrics({0.81, 0.80, 0.82, 0.80});
  EXPECT_NE(ObjectionTo({.without = without, .with = worse, .beside = beside}, false), "");
  EXPECT_EQ(ObjectionTo({.without = without, .with = WithMetrics({0.90, 0.92, 0.90, 0.92}), .beside = beside}, false),
            "");
}

TEST(KeptMetric, AMetricThatIsMissingInARun) {
  const auto without = WithMetrics({0.91, 0.91});
  EXPECT_EQ(ObjectionTo({.without = without, .with = WithMetrics({std::nullopt})}, false), "it is no longer printed");
  EXPECT_EQ(ObjectionTo({.without = without, .with = WithMetrics({0.91, std::nullopt, 0.91})}, false),
            "it is not printed in 1 of 3 runs");
  EXPECT_EQ(
      ObjectionTo({.without = WithMetrics({0.91, std::nullopt}), .with = WithMetrics({0.91, std::nullopt})}, true), "")
      << "the unchanged command leaves it out, too";
  EXPECT_EQ(ObjectionTo({.with = WithMetrics({0.91})}, true), "") << "nothing was printed before";
}

TEST(KeptMetric, TheOptionIsANameAndAPattern) {
  const auto option = ParseMetric("accuracy=acc=([0-9.]+)");
  ASSERT_TRUE(option);
  EXPECT_EQ(option->name, "accuracy");
  EXPECT_EQ(option->pattern, "acc=([0-9.]+)");
  for (const char* wrong : {"accuracy", "=x", "accuracy="}) EXPECT_FALSE(ParseMetric(wrong)) << wrong;
  EXPECT_TRUE(CheckPrinted(WithMetric(0.9)));
  EXPECT_FALSE(CheckPrinted(WithMetric(std::nullopt)));
}

}  // namespace
}  // namespace gapless::internal
