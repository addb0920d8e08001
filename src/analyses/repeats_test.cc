// SPDX-License-Identifier: Apache-2.0
// Tests RepeatFinder: the shortest period, the minimum number of repetitions, and the maximum period.
#include "analyses/repeats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gapless::internal {
namespace {

std::vector<Repeat> FindIn(const std::string& tokens) {
  std::vector<Repeat> all;
  RepeatFinder finder([&](const Repeat& repeat) { all.push_back(repeat); });
  for (const char token : tokens) finder.Add(static_cast<uint64_t>(token));
  finder.Finish();
  return all;
}

std::string Times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Repeats, TheShortestPeriodOfWholeRepetitions) {
  const auto found = FindIn("xy" + Times(20, "abc") + "ab" + "q");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 2u);
  EXPECT_EQ(found[0].last, 62u) << "the cut-off repetition at the end is left out";
  EXPECT_EQ(found[0].period, 3u);
  EXPECT_EQ(found[0].count(), 20u);
}

TEST(Repeats, OneTokenIsAPeriodToo) {
  const auto found = FindIn(Times(16, "a"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 1u);
}

TEST(Repeats, FewerThanSixteenAndLongerThanEightAreNone) {
  EXPECT_TRUE(FindIn(Times(15, "ab")).empty());
  EXPECT_TRUE(FindIn(Times(40, "abcdefghi")).empty());
}

TEST(Repeats, SeveralInARowDoNotOverlap) {
  const auto found = FindIn(Times(16, "ab") + Times(16, "cd"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_LE(found[0].last, found[1].first);
  EXPECT_EQ(found[1].count(), 16u);
}

TEST(Repeats, EachOfManyStretchesIsFound) {
  const std::string tokens = Times(10'000, Times(40, "abc") + "xyzw");
  EXPECT_EQ(FindIn(tokens).size(), 10'000U);
}

}  // namespace
}  // namespace gapless::internal
