// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace gapless::internal {
namespace {

constexpr std::array<std::string_view, 4> kVerbs = {"analyze", "query", "formats", "docs"};

TEST(SuggestTest, DistanceCountsInsertedDeletedChangedAndSwappedLetters) {
  EXPECT_EQ(EditDistance("query", "query"), 0);
  EXPECT_EQ(EditDistance("query", "QUERY"), 0);
  EXPECT_EQ(EditDistance("qery", "query"), 1);
  EXPECT_EQ(EditDistance("queery", "query"), 1);
  EXPECT_EQ(EditDistance("qvery", "query"), 1);
  EXPECT_EQ(EditDistance("qurey", "query"), 1);
  EXPECT_EQ(EditDistance("", "docs"), 4);
}

TEST(SuggestTest, NamesTheNearest) {
  EXPECT_EQ(Nearest("analyse", kVerbs), "analyze");
  EXPECT_EQ(Nearest("qurey", kVerbs), "query");
  EXPECT_EQ(Nearest("format", kVerbs), "formats");
}

TEST(SuggestTest, ABeginningIsEnough) { EXPECT_EQ(Nearest("ana", kVerbs), "analyze"); }

TEST(SuggestTest, NothingNearIsNothing) {
  EXPECT_EQ(Nearest("profile", kVerbs), "");
  EXPECT_EQ(Nearest("", kVerbs), "");
  EXPECT_EQ(Nearest(std::string(100, 'a'), kVerbs), "");
}

}  // namespace
}  // namespace gapless::internal
