// SPDX-License-Identifier: Apache-2.0
#include "report/amounts.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(Money, HasThreeDigitsThatMeanSomething) {
  EXPECT_EQ(MoneyText(41'317), "$ 41,300");
  EXPECT_EQ(MoneyText(999.6), "$ 1,000");
  EXPECT_EQ(MoneyText(12.34), "$ 12.3");
  EXPECT_EQ(MoneyText(2.5), "$ 2.50");
  EXPECT_EQ(MoneyText(0.00009872), "$ 0.0000987");
  EXPECT_EQ(MoneyText(0), "$ 0");
}

TEST(Amount, NamesWhatIsKnown) {
  EXPECT_EQ(AmountTexts({.money = 100, .kwh = 1234, .carbon_kg = 5}),
            (std::vector<std::string>{"$ 100", "1,230 kWh", "5.00 kg CO₂"}));
  EXPECT_TRUE(AmountTexts({}).empty());
}

TEST(Gain, ShowsExpectationAndBounds) {
  EXPECT_EQ(GainText({.low = 1.1, .expected = 1.25, .high = 12.5}), "1.25× (1.10–12.50)");
  EXPECT_EQ(FactorText(12.5), "12.5×");
}

TEST(Severity, WordsAreThoseOfTheReport) {
  EXPECT_EQ(SeverityWord(0.71), "critical");
  EXPECT_EQ(SeverityWord(0.7), "warning");
  EXPECT_EQ(SeverityWord(0.4), "warning");
  EXPECT_EQ(SeverityWord(0.39), "minor");
}

}  // namespace
}  // namespace gapless::internal
