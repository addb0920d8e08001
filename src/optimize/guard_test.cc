// SPDX-License-Identifier: Apache-2.0
// What losses may do under each class of fix.
#include "optimize/guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "validate/random.h"

namespace gapless::internal {
namespace {

Losses Falling(size_t steps = 40) {
  Losses losses;
  for (size_t i = 0; i < steps; ++i) losses.push_back(1 + 2 * std::exp(-static_cast<double>(i) / 20));
  return losses;
}

Losses Changed(Losses losses, double share, size_t from = 0) {
  for (size_t i = from; i < losses.size(); ++i) losses[i] *= 1 + share;
  return losses;
}

GuardReport Check(FixClass promised, const Losses& with, std::vector<Losses> without = {Falling(), Falling()}) {
  return CheckLosses(promised, without, {&with, 1});
}

TEST(Guard, TheSameLossesPassEveryClass) {
  for (const auto promised : {FixClass::kExact, FixClass::kRounding, FixClass::kStochastic, FixClass::kTraining}) {
    const GuardReport report = Check(promised, Falling());
    EXPECT_TRUE(report.checked && report.passed && report.exact) << NameOf(promised);
    EXPECT_EQ(report.steps, 40U);
  }
}

TEST(Guard, ExactMeansEveryBit) {
  Losses with = Falling();
  with[17] = std::nextafter(with[17], 5);
  const GuardReport report = Check(FixClass::kExact, with);
  EXPECT_FALSE(report.passed);
  EXPECT_NE(report.reason.find("from step 17 on"), std::string::npos) << report.reason;
  EXPECT_TRUE(Check(FixClass::kRounding, with).passed);
}

TEST(Guard, AJobThatIsNotReproducibleIsHeldToItsOwnSpread) {
  const std::vector<Losses> without = {Falling(), Changed(Falling(), 1e-4)};
  EXPECT_TRUE(Check(FixClass::kExact, Changed(Falling(), 2e-4), without).passed);
  EXPECT_FALSE(Check(FixClass::kExact, Changed(Falling(), 2e-3), without).passed);
}

TEST(Guard, RoundingMayDriftApartLaterButNotAtOnce) {
  EXPECT_TRUE(Check(FixClass::kRounding, Changed(Falling(), 0.0005)).passed);
  EXPECT_FALSE(Check(FixClass::kRounding, Changed(Falling(), 0.005)).passed);
  EXPECT_TRUE(Check(FixClass::kRounding, Changed(Falling(), -0.05, kClose)).passed);
}

TEST(Guard, Bfloat16RoundsMore) {
  const std::vector<Losses> without = {Falling(), Falling()}, near = {Changed(Falling(), 0.005)},
                            far = {Changed(Falling(), 0.05)};
  EXPECT_TRUE(CheckLosses(FixClass::kRounding, without, near, kBfloat16Rounding).passed);
  EXPECT_FALSE(CheckLosses(FixClass::kRounding, without, far, kBfloat16Rounding).passed);
}

TEST(Guard, ALossThatIsNoNumber) {
  Losses with = Falling();
  with[9] = std::numeric_limits<double>::quiet_NaN();
  for (const auto promised : {FixClass::kExact, FixClass::kRounding, FixClass::kTraining}) {
    const GuardReport report = Check(promised, with);
    EXPECT_FALSE(report.passed);
    EXPECT_EQ(report.reason, "the loss is no number from step 9 on");
  }
  EXPECT_FALSE(Check(FixClass::kTraining, Losses(40, std::numeric_limits<double>::quiet_NaN())).passed);
  EXPECT_FALSE(Check(FixClass::kTraining, Losses(40, std::numeric_limits<double>::infinity())).passed);
}

TEST(Guard, ALossThatDriftsAway) {
  Losses with = Falling(100), without = Falling(100);
  for (size_t i = kClose; i < with.size(); ++i) with[i] += 0.002 * static_cast<double>(i - kClose);
  for (const auto promised : {FixClass::kRounding, FixClass::kStochastic, FixClass::kTraining}) {
    const GuardReport report = Check(promised, with, {without, without});
    EXPECT_FALSE(report.passed) << NameOf(promised);
    EXPECT_NE(report.reason.find("drifts away"), std::string::npos);
  }
}

// Other random numbers of the same distribution pass nearly always, a mean that is clearly higher does not.
TEST(Guard, StochasticComparesDistributions) {
  Random random(7);
  const auto noisy = [&](double level) {
    Losses losses;
    for (int i = 0; i < 80; ++i) losses.push_back(level + 0.05 * random.Normal());
    return losses;
  };
  int passed = 0, caught = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<Losses> without = {noisy(2), noisy(2)};
    passed += Check(FixClass::kStochastic, noisy(2), without).passed ? 1 : 0;
    caught += Check(FixClass::kStochastic, noisy(2.2), without).passed ? 0 : 1;
  }
  EXPECT_GE(passed, 198);
  EXPECT_GE(caught, 198);
  EXPECT_TRUE(Check(FixClass::kStochastic, noisy(1.5), {noisy(2), noisy(2)}).passed) << "less is no harm";
}

TEST(Guard, WithoutLossesNothingIsSaid) {
  const GuardReport report = CheckLosses(FixClass::kExact, {}, {});
  EXPECT_FALSE(report.checked);
  EXPECT_TRUE(report.passed);
}

TEST(Guard, AMetricThatTheProgramPrints) {
  const double without[] = {0.91, 0.91}, same[] = {0.91}, near[] = {0.905}, far[] = {0.80};
  EXPECT_TRUE(CheckMetric(FixClass::kExact, without, same).exact);
  EXPECT_FALSE(CheckMetric(FixClass::kExact, without, near).passed);
  EXPECT_TRUE(CheckMetric(FixClass::kRounding, without, near).passed);
  EXPECT_FALSE(CheckMetric(FixClass::kRounding, without, far).passed);
  EXPECT_FALSE(CheckMetric(FixClass::kRounding, without, {}).passed);
}

}  // namespace
}  // namespace gapless::internal
