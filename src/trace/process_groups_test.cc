// SPDX-License-Identifier: Apache-2.0
// Tests the texts of process groups.
#include "trace/process_groups.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

using Ranks = std::vector<int64_t>;

TEST(ProcessGroups, RanksAreWrittenAsStretchesAndReadBack) {
  const std::pair<Ranks, std::string> kTexts[] = {{{3}, "3"},
                                                  {{8, 9, 10, 11}, "8-11"},
                                                  {{0, 8, 16, 24}, "0-24/8"},
                                                  {{0, 1}, "0-1"},
                                                  {{0, 8}, "0,8"},
                                                  {{1, 9, 30}, "1,9,30"},
                                                  {{7, 3}, "7,3"},
                                                  {{0, 4, 8, 9, 10}, "0-8/4,9-10"}};
  for (const auto& [ranks, text] : kTexts) {
    EXPECT_EQ(RankStretches(ranks), text);
    EXPECT_EQ(RanksInText(text), ranks) << text;
  }
}

TEST(ProcessGroups, AListOfPyTorchIsReadUnlessItWasCut) {
  EXPECT_EQ(RanksInText("[0, 8, 16]"), (Ranks{0, 8, 16}));
  EXPECT_EQ(RanksInText("[0, 1, 2, ..., 255]"), Ranks());
}

TEST(ProcessGroups, WhatIsNoListHasNoRanks) {
  for (const std::string_view text : {"", "[]", "a", "-1", "3-", "5-3", "0-9/0", "0-99999999999", "1,,2", "1-2-3"})
    EXPECT_EQ(RanksInText(text), Ranks()) << text;
}

}  // namespace
}  // namespace gapless::internal
