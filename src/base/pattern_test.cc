// SPDX-License-Identifier: Apache-2.0
// Tests of Pattern: matches, groups, errors that name the expression, bounds.
#include "base/pattern.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace gapless::internal {
namespace {

using Texts = std::vector<std::string>;

Texts MatchesOf(std::string_view expression, std::string_view text) {
  const auto pattern = Pattern::Make(expression, "--pattern", Pattern::Anchors::kLine);
  EXPECT_TRUE(pattern) << pattern.error().ToString();
  Texts found;
  if (pattern) pattern->ForEach(text, [&](std::string_view match) { found.emplace_back(match); });
  return found;
}

TEST(Pattern, GivesTheFirstGroupOrAllOfIt) {
  EXPECT_EQ(MatchesOf("took ([0-9.]+) ms", "took 1.5 ms\ntook 2 ms\n"), (Texts{"1.5", "2"}));
  EXPECT_EQ(MatchesOf("[0-9]+", "a1b22"), (Texts{"1", "22"}));
  EXPECT_EQ(MatchesOf("a(b)?", "a ab"), (Texts{"b"})) << "a group that took no part";
  EXPECT_EQ(MatchesOf("(?:a)(b)(c)", "abc"), (Texts{"b"}));
}

TEST(Pattern, LinesHaveABeginningAndAnEnd) {
  EXPECT_EQ(MatchesOf("^loss ([0-9]+)$", "loss 1\nthe loss 2\nloss 3 x\nloss 4"), (Texts{"1", "4"}));
  const auto whole = Pattern::Make("^b$", "--what");
  EXPECT_FALSE(whole->IsIn("a\nb"));
  EXPECT_TRUE(whole->IsIn("b"));
}

TEST(Pattern, WhatMatchesNothingEnds) {
  EXPECT_EQ(MatchesOf("x*", "ab").size(), 3U);
  EXPECT_EQ(MatchesOf("", "ab").size(), 3U);
  EXPECT_EQ(MatchesOf("$", "").size(), 1U);
}

TEST(Pattern, SaysWhatItDoesNotKnow) {
  for (const char* wrong : {"(", "a(?=b)", "(?<=a)b", "(a)\\1", "[z-a]", "a{2,1}", "a**", "\\", "a{100000}", "\xff"}) {
    const auto pattern = Pattern::Make(wrong, "--pattern");
    ASSERT_FALSE(pattern) << wrong;
    EXPECT_EQ(pattern.error().code, ErrorCode::kUsage);
    EXPECT_TRUE(pattern.error().place.starts_with("--pattern")) << pattern.error().place;
    EXPECT_NE(pattern.error().hint.find("look-around"), std::string::npos);
  }
  EXPECT_FALSE(Pattern::Make(std::string(100000, 'a'), "--pattern"));
  EXPECT_FALSE(Pattern::Make("((a{1,100}){1,100}){1,100}", "--pattern")) << "it would need too much memory";
}

TEST(Pattern, TakesTheTimeOfTheText) {
  const auto begun = std::chrono::steady_clock::now();
  std::string line;
  line.resize(10'000'000, 'a');
  EXPECT_EQ(MatchesOf("(a+)+$", line).size(), 1U);
  EXPECT_TRUE(MatchesOf("(a+)+$", line + "b").empty());
  EXPECT_TRUE(MatchesOf("(a|aa|b?)+c", line).empty());
  EXPECT_TRUE(MatchesOf("(x+x+)+y", std::string(400000, 'x')).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(Pattern, BytesThatAreNoTextAreNoCharacters) {
  const std::string bytes("\xff\xfe took 5 ms \xc3\x28\0 took 6 ms", 26);
  EXPECT_EQ(MatchesOf("took ([0-9]) ms", bytes), (Texts{"5", "6"}));
  EXPECT_EQ(MatchesOf("é.", "é!"), Texts{"é!"});
}

}  // namespace
}  // namespace gapless::internal
