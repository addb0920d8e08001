// SPDX-License-Identifier: Apache-2.0
// Tests the calibration: fits per kind and machine, trials per repository, interval coverage, and parsing of test data.
#include "predict/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gapless::internal {

extern const std::string_view kAdviceCsv;

namespace {

AdviceRow TestedRow(std::string kind, double measured, double expected, std::string repository,
                    double half_width = 0.1) {
  return {.id = repository,
          .kind = std::move(kind),
          .repository = repository,
          .machine = "gpu",
          .measured = measured,
          .model = {
              .low = expected * std::exp(-half_width), .expected = expected, .high = expected * std::exp(half_width)}};
}

Calibration OnGpus(std::span<const AdviceRow> rows) { return {rows, Machine::kGpu}; }

StepShares Apply(const Calibration& calibration, std::string_view kind, const StepShares& model) {
  return SharesOf(calibration.Apply(kind, EffectOf(model)));
}

TEST(Calibration, WithoutTestsTheModelStandsInAWideInterval) {
  const StepShares share = Apply(OnGpus({}), "amp", {.low = 0.5, .expected = 0.6, .high = 0.8});
  EXPECT_DOUBLE_EQ(share.expected, 0.6);
  const double width = std::hypot(std::log(0.6 / 0.5), kUntestedWidth);
  EXPECT_NEAR(share.low, 0.6 * std::exp(-std::hypot(width, kUntestedShare * std::log(0.6))), 1e-12);
  EXPECT_EQ(OnGpus({}).TestedOf("amp").programs, 0U);
}

// Three programs that kept half of what was predicted, against a prior of two that kept all. Two say too little.
TEST(Calibration, BelievesAKindAsFarAsItsTestsDid) {
  const double effect = std::exp(-kPriorEffect), half = std::exp(-kPriorEffect / 2);
  const std::vector<AdviceRow> rows = {TestedRow("workers", half, effect, "a"), TestedRow("workers", half, effect, "b"),
                                       TestedRow("workers", half, effect, "c")};
  const Calibration calibration = OnGpus(rows);
  EXPECT_NEAR(calibration.SlopeOf("workers"), (3 * 0.5 + 2) / 5, 1e-12);
  EXPECT_EQ(OnGpus(std::span(rows).first(2)).SlopeOf("workers"), 1);
  EXPECT_EQ(calibration.SlopeOf("amp"), 1);
  EXPECT_EQ(Apply(calibration, "workers", {1, 1, 1}).expected, 1) << "no effect stays none";
}

TEST(Calibration, ALadderOfOneRepositoryIsOneTrial) {
  std::vector<AdviceRow> rows = {TestedRow("amp", 0.5, 0.7, "one"), TestedRow("amp", 0.7, 0.7, "other"),
                                 TestedRow("amp", 0.7, 0.7, "third")};
  const double before = OnGpus(rows).SlopeOf("amp");
  for (int i = 0; i < 9; ++i) rows.push_back(rows[0]);
  EXPECT_NEAR(OnGpus(rows).SlopeOf("amp"), before, 1e-12);
  EXPECT_EQ(OnGpus(rows).TestedOf("amp").programs, 3U);
}

TEST(Calibration, KeepsMachinesApart) {
  std::vector<AdviceRow> rows = {TestedRow("compile", 0.3, 0.9, "a"), TestedRow("compile", 0.3, 0.9, "b"),
                                 TestedRow("compile", 0.3, 0.9, "c")};
  for (AdviceRow& row : rows) row.machine = "cpu";
  EXPECT_EQ(OnGpus(rows).SlopeOf("compile"), 1);
  EXPECT_GT(Calibration(rows, Machine::kHost).SlopeOf("compile"), 1.2);
  rows[0].machine.clear();
  EXPECT_EQ(OnGpus(rows).TestedOf("compile").programs, 1U) << "a program of an unknown machine counts for both";
}

// Truths scatter twice as far as the models believe: intervals of tested predictions hold four of five all the same.
TEST(Calibration, IntervalsHoldFourOfFiveTruths) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> off(0, 0.2);
  std::vector<AdviceRow> rows;
  for (int i = 0; i < 200; ++i) rows.push_back(TestedRow("any", 0.7 * std::exp(off(random)), 0.7, std::to_string(i)));
  const std::vector<StepShares> predicted = LeaveOneOut(rows);
  size_t held = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    held += rows[i].measured >= predicted[i].low && rows[i].measured <= predicted[i].high ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(held) / 200, kCoverage, 0.02);
  EXPECT_NEAR(OnGpus(rows).WidthOf("any", std::log(0.7)), std::sqrt(1.2816 * 1.2816 * 0.2 * 0.2 - 0.1 * 0.1), 0.04);
  EXPECT_GT(OnGpus(rows).Apply("another", {.expected = -1}).up, OnGpus(rows).Apply("any", {.expected = -1}).up);
}

TEST(Calibration, SaysHowFarHalfOfAKindWereOff) {
  const std::vector<AdviceRow> rows = {TestedRow("amp", 1.1, 1, "a"), TestedRow("amp", 0.9, 1, "b"),
                                       TestedRow("amp", 1, 1, "c")};
  const Calibration::Tested tested = OnGpus(rows).TestedOf("amp");
  EXPECT_EQ(tested.programs, 3U);
  EXPECT_NEAR(*tested.within, 0.1, 1e-9);
}

// Errors of a tenth of the effect: what is predicted to bring nothing is known better than what is to bring much.
TEST(Calibration, ErrorsGrowWithWhatIsPredicted) {
  std::vector<AdviceRow> rows;
  for (int i = 0; i < 10; ++i)
    rows.push_back(TestedRow("any", std::exp(i % 2 == 0 ? -1.2 : -0.8), std::exp(-1.0), std::to_string(i), 0));
  const Calibration calibration = OnGpus(rows);
  EXPECT_LT(calibration.WidthOf("any", 0), 0.5 * calibration.WidthOf("any", -1));
  EXPECT_GE(calibration.WidthOf("any", 0), kMinWidth);
}

// A kernel's time that is given says how well the replay does, not how well a model does.
TEST(Calibration, GivenChangesAreApart) {
  std::vector<AdviceRow> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(TestedRow("kernels", 0.5, 0.5, std::to_string(i), 0));
  for (int i = 10; i < 20; ++i) rows.push_back(TestedRow("amp", 0.5, 0.8, std::to_string(i), 0));
  EXPECT_EQ(OnGpus(rows).WidthOf("kernels", -0.5), kMinWidth);
  EXPECT_GT(OnGpus(rows).WidthOf("amp", -0.5), 0.05);
}

TEST(Effect, OfTwoThatAreIndependent) {
  const Effect both = Effect{-0.5, 0.3, 0.1} + Effect{-0.2, 0.4, 0.1};
  EXPECT_DOUBLE_EQ(both.expected, -0.7);
  EXPECT_DOUBLE_EQ(both.down, 0.5);
  EXPECT_NEAR(SharesOf(EffectOf({0.4, 0.5, 0.7})).high, 0.7, 1e-12);
}

TEST(Ledger, TheProgramsOwnCanBeRead) {
  const auto rows = ParseLedger(kAdviceCsv);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(BuiltInLedger().size(), rows->size());
}

TEST(Ledger, RowsThatWereNotTestedAreLeftOut) {
  const auto rows = ParseLedger(
      "id,kind,recording,measured_ratio,predicted_low,predicted_expected,predicted_high\n"
      "a,amp,x.json,0.5,0.4,0.6,0.7\n"
      "b,amp,y.json,,0.4,0.6,0.7\n"
      "c,amp,z.json,0.5,,,\n");
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ((*rows)[0].id, "a");
  EXPECT_EQ((*rows)[0].model.high, 0.7);
  EXPECT_EQ((*rows)[0].machine, "") << "older prediction test data names neither repository nor machine";
}
TEST(Ledger, TellsRepositoryAndMachine) {
  const auto rows = ParseLedger(
      "machine,id,kind,recording,measured_ratio,predicted_low,predicted_expected,predicted_high,repository\n"
      "gpu,a,amp,x.json,0.5,0.4,0.6,0.7,owner/name\n");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ((*rows)[0].machine, "gpu");
  EXPECT_EQ((*rows)[0].repository, "owner/name");
}

TEST(Ledger, SaysWhatItCannotRead) {
  constexpr std::string_view kNames =
      "id,kind,recording,measured_ratio,predicted_low,predicted_expected,predicted_high\n";
  EXPECT_FALSE(ParseLedger("").has_value());
  EXPECT_FALSE(ParseLedger("id,kind\n").has_value());
  for (const std::string_view row : {"a,amp,x,-1,1,1,1", "a,amp,x,nan,1,1,1", "a,amp,x,1e999,1,1,1", "a,amp"}) {
    const auto rows = ParseLedger(std::string(kNames) + std::string(row) + "\n");
    ASSERT_FALSE(rows.has_value()) << row;
    EXPECT_NE(rows.error().place.find("row 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace gapless::internal
