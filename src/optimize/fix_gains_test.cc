// SPDX-License-Identifier: Apache-2.0
// Tests the parsing of measured gains, and the repository's own file.
#include "optimize/fix_gains.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "optimize/fix_item.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNames =
    "fix,script,machine,outcome,measured_low,measured_expected,measured_high,predicted,pairs,losses,torch,date,"
    "reason\n";

TEST(FixGains, ARowWithoutFiguresHasItsReason) {
  const auto gains = ParseFixGains(StrCat(kNames, "pin,a.py,EPYC,does_not_apply,,,,,,,2.15.0,2026-11-22,no GPU\n",
                                          "threads=2,b.py,EPYC,accepted,1.5,1.6,,1.4,8,within,2.15.0,2026-11-22,\n"));
  ASSERT_TRUE(gains);
  ASSERT_EQ(gains->size(), 2U);
  EXPECT_FALSE((*gains)[0].measured);
  EXPECT_EQ((*gains)[0].reason, "no GPU");
  EXPECT_EQ((*gains)[1].measured->low, 1.5);
  EXPECT_FALSE((*gains)[1].measured->high) << "absent is absent";
  EXPECT_EQ((*gains)[1].predicted, 1.4);
}

TEST(FixGains, AFaultNamesItsRow) {
  const auto no_number = ParseFixGains(StrCat(kNames, "pin,a.py,EPYC,accepted,1,fast,1,,,,,,\n"));
  ASSERT_FALSE(no_number);
  EXPECT_EQ(no_number.error().place, "row 2: fast");
  EXPECT_FALSE(ParseFixGains(StrCat(kNames, "pin,a.py\n")));
  EXPECT_FALSE(ParseFixGains(""));
}

// Checks the repository's own file: every row has an existing fix and script, and an interval around its middle.
TEST(FixGains, TheLedgerOfThisProgramHolds) {
  ASSERT_FALSE(MeasuredGains().empty());
  for (const FixGain& gain : MeasuredGains()) {
    EXPECT_TRUE(ParseFixItem(gain.item)) << gain.item;
    const size_t script = gain.script.find("examples/");
    ASSERT_NE(script, gain.script.npos) << gain.script;
    EXPECT_TRUE(std::filesystem::exists(gain.script.substr(script, gain.script.find(' ', script) - script)));
    if (!gain.measured) {
      EXPECT_FALSE(gain.reason.empty()) << gain.item;
      continue;
    }
    EXPECT_LE(gain.measured->low.value_or(0), gain.measured->expected) << gain.item;
    EXPECT_GE(gain.measured->high.value_or(1e9), gain.measured->expected) << gain.item;
    if (gain.outcome == "accepted") {
      EXPECT_GT(gain.measured->low.value_or(0), 1) << gain.item;
    }
  }
}

}  // namespace
}  // namespace gapless::internal
