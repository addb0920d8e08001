// SPDX-License-Identifier: Apache-2.0
// Tests of StringPool: equal texts have one id, views of a mapped file are used in place.
#include "trace/string_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace gapless::internal {
namespace {

TEST(StringPool, SameTextSameId) {
  StringPool pool;
  const StringId a = pool.Intern("aten::mm");
  EXPECT_EQ(pool.Intern(std::string("aten::") + "mm"), a);
  EXPECT_NE(pool.Intern("aten::add"), a);
  EXPECT_EQ(pool[a], "aten::mm");
}

TEST(StringPool, EmptyMeansAbsent) {
  StringPool pool;
  EXPECT_EQ(pool.Intern(""), StringId::kNone);
  EXPECT_EQ(pool[StringId::kNone], "");
  EXPECT_EQ(pool.Find("never seen"), StringId::kNone);
}

TEST(StringPool, ManyTextsStayWhereTheyAre) {
  StringPool pool;
  const std::string_view first = pool[pool.Intern("first")];
  for (int i = 0; i < 50'000; ++i) pool.Intern("text number " + std::to_string(i));
  EXPECT_EQ(first, "first");
  EXPECT_EQ(pool.size(), 50'002U);
  EXPECT_EQ(pool[pool.Find("text number 49999")], "text number 49999");
}

TEST(StringPool, ALongTextGetsItsOwnBlock) {
  StringPool pool;
  const std::string text(1 << 20, 'x');
  EXPECT_EQ(pool[pool.Intern(text)], text);
}

TEST(StringPool, GrowsOnFromViews) {
  static constexpr std::string_view kTexts[] = {"", "a", "b"};
  auto pool = StringPool::FromViews({kTexts, kTexts + 3}, nullptr);
  EXPECT_EQ(pool.Find("b"), StringId{2});
  EXPECT_EQ(pool.Intern("a"), StringId{1});
  EXPECT_EQ(pool.Intern("c"), StringId{3});
}

}  // namespace
}  // namespace gapless::internal
