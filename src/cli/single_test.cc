// SPDX-License-Identifier: Apache-2.0
#include "cli/single.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(SingleStep, ReadsTimesWithTheirUnits) {
  EXPECT_EQ(ParseTimeNs("118ms"), 118'000'000);
  EXPECT_EQ(ParseTimeNs("0.12s"), 120'000'000);
  EXPECT_EQ(ParseTimeNs("950us"), 950'000);
  EXPECT_EQ(ParseTimeNs("950µs"), 950'000);
  for (const std::string_view text : {"118", "ms", "-3ms", "0ms", "1e99s", "nans", "3 weeks", ""})
    EXPECT_FALSE(ParseTimeNs(text)) << text;
}

}  // namespace
}  // namespace gapless::internal
