// SPDX-License-Identifier: Apache-2.0
// The parts of a data-parallel step, where they are known.
#include "optimize/exchange_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validate/random.h"

namespace gapless::internal {
namespace {

struct Truth {
  double compute_ms = 10, overhead_ms = 2, communication_ms = 4;
  double samples = 8, samples_alone = 4;  // in a step; 0: not known
  std::string refusal{};
};

Result<ExchangeCost> Measure(const Truth& truth, uint64_t seed = 1, const ExchangeOptions& options = {}) {
  Random random(seed);
  return MeasureExchange(options, 2, [&](ExchangePart part) -> Result<RunSample> {
    RunSample sample;
    sample.source = SampleSource::kSteps;
    double step_ms = truth.compute_ms;
    if (part != ExchangePart::kAlone) step_ms += truth.overhead_ms;
    if (part == ExchangePart::kWhole) step_ms += truth.communication_ms;
    step_ms *= std::exp(0.01 * random.Normal());
    sample.step_ns.assign(20, static_cast<int64_t>(step_ms * 1e6));
    const double samples = part == ExchangePart::kAlone ? truth.samples_alone : truth.samples;
    if (samples > 0) sample.samples_per_second = samples / step_ms * 1e3;
    if (part == ExchangePart::kWithoutExchange)
      sample.fixes.push_back(
          {truth.refusal.empty() ? 1 : 2, 0,
           R"({"fix":"nosync","what":")" + (truth.refusal.empty() ? "none" : truth.refusal) + "\"}"});
    return sample;
  });
}

TEST(ExchangeCostTest, FindsThePartsOfAStep) {
  const auto cost = Measure({});
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->step_ms, 16, 0.4);
  EXPECT_NEAR(*cost->Compute(), 10.0 / 16, 0.02);
  EXPECT_NEAR(*cost->Overhead(), 2.0 / 16, 0.02);
  EXPECT_NEAR(cost->Communication(), 4.0 / 16, 0.02);
  EXPECT_NEAR(*cost->Compute() + *cost->Overhead() + cost->Communication(), 1, 1e-12);
  EXPECT_EQ(cost->verdict, SpeedVerdict::kFaster);
  EXPECT_NEAR(cost->speedup.expected, 16.0 / 12, 0.03);
}

TEST(ExchangeCostTest, AnExchangeThatCostsNothingIsNotFound) {
  const auto cost = Measure({.communication_ms = 0});
  ASSERT_TRUE(cost);
  EXPECT_NE(cost->verdict, SpeedVerdict::kFaster);
  EXPECT_NEAR(cost->Communication(), 0, 0.02);
}

TEST(ExchangeCostTest, OtherWorkAloneIsNotCompared) {
  const auto cost = Measure({.samples_alone = 8});
  ASSERT_TRUE(cost);
  EXPECT_FALSE(cost->same_work);
  EXPECT_FALSE(cost->Compute().has_value());
  EXPECT_FALSE(cost->Overhead().has_value());
}

TEST(ExchangeCostTest, ErrorsSayWhatIsWrong) {
  const auto refused = Measure({.refusal = "the program uses no DistributedDataParallel"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no DistributedDataParallel"), std::string::npos);
  const auto failed = MeasureExchange({}, 2, [](ExchangePart) -> Result<RunSample> {
    RunSample sample;
    sample.exit_status = 1;
    sample.failure = "RuntimeError: no";
    return sample;
  });
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("RuntimeError: no"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
