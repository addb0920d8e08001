// SPDX-License-Identifier: Apache-2.0
#include "predict/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gapless::internal {

extern const std::string_view kAdviceCsv;

namespace {

AdviceRow Row(std::string kind, double measured, double expected, double half_width = 0.1) {
  return {.kind = std::move(kind),
          .measured = measured,
          .model = {
              .low = expected * std::exp(-half_width), .expected = expected, .high = expected * std::exp(half_width)}};
}

TEST(Calibration, WithoutTestsTheModelStands) {
  const StepShares share = Calibration({}).Apply("amp", {.low = 0.5, .expected = 0.6, .high = 0.8});
  EXPECT_DOUBLE_EQ(share.expected, 0.6);
  EXPECT_NEAR(share.low, 0.6 * std::exp(-std::hypot(std::log(0.6 / 0.5), kLeastWidth)), 1e-12);
  EXPECT_FALSE(Calibration({}).QuoteFor("amp").has_value());
}

// Two pairs that came out 10 % slower than predicted, against a prior of two that were right: half of it is believed.
TEST(Calibration, MovesAKindByWhatItsTestsWereOff) {
  const std::vector<AdviceRow> rows = {Row("workers", 0.66, 0.6), Row("workers", 0.88, 0.8)};
  const Calibration calibration(rows);
  EXPECT_NEAR(calibration.ShiftOf("workers"), std::log(1.1) / 2, 1e-12);
  EXPECT_EQ(calibration.ShiftOf("amp"), 0);
  EXPECT_EQ(calibration.ShiftOf("amp+workers"), calibration.ShiftOf("workers")) << "a combination: its parts'";
}

// Truths scatter twice as far as the models believe: intervals of tested predictions hold four of five all the same.
TEST(Calibration, IntervalsHoldFourOfFiveTruths) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> off(0, 0.2);
  std::vector<AdviceRow> rows;
  for (int i = 0; i < 200; ++i) rows.push_back(Row("any", 0.7 * std::exp(off(random)), 0.7));
  const std::vector<StepShares> predicted = LeaveOneOut(rows);
  size_t held = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    held += rows[i].measured >= predicted[i].low && rows[i].measured <= predicted[i].high ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(held) / 200, kCoverage, 0.02);
  EXPECT_NEAR(Calibration(rows).factor(), 1.2816 * 0.2 / std::hypot(0.1, kLeastWidth), 0.25);
}

TEST(Calibration, QuotesItsKindOnceThereAreEnough) {
  std::vector<AdviceRow> rows = {Row("amp", 1.1, 1), Row("amp", 0.9, 1), Row("pin", 1, 1), Row("pin", 1, 1)};
  auto quote = Calibration(rows).QuoteFor("amp");
  ASSERT_TRUE(quote.has_value());
  EXPECT_TRUE(quote->any_kind);
  EXPECT_EQ(quote->pairs, 4U);
  rows.push_back(Row("amp", 1.1, 1)), rows.push_back(Row("amp", 0.9, 1));
  quote = Calibration(rows).QuoteFor("amp");
  EXPECT_FALSE(quote->any_kind);
  EXPECT_EQ(quote->pairs, 4U);
  EXPECT_NEAR(quote->within, 0.12, 0.03);
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
