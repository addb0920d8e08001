// SPDX-License-Identifier: Apache-2.0
#include "store/timestamp.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(TimestampTest, FormsOfTheSameTime) {
  for (const char* text : {"2023-11-14T22:13:20Z", "2023-11-14 22:13:20", "2023-11-14 22:13:20+00",
                           "2023-11-14T23:13:20+01:00", "2023-11-14T17:13:20-0500", "2023-11-14 22:13:20.000000Z"})
    EXPECT_EQ(ParseTimestamp(text), 1'700'000'000 * kSecondNs) << text;
  EXPECT_EQ(ParseTimestamp("2023-11-14 22:13:20.1234567891"), 1'700'000'000'123'456'789);
  EXPECT_EQ(ParseTimestamp("1970-01-01"), 0);
  EXPECT_EQ(ParseTimestamp("1969-12-31T23:59:59.5Z"), -kSecondNs / 2);
}

TEST(TimestampTest, WhatIsNoTimeIsAbsent) {
  for (const char* text : {"", "yesterday", "2023-13-01", "2023-02-29", "2023-11-14T", "2023-11-14T25:00:00Z",
                           "2023-11-14 22:13:20 extra", "1600-01-01", "2300-01-01", "2023-11-14T22:13:20+1"})
    EXPECT_FALSE(ParseTimestamp(text)) << text;
}

TEST(TimestampTest, WrittenTimesReadBack) {
  for (const int64_t ns : {int64_t{0}, int64_t{1'700'000'000'123'456'789}, int64_t{-1}, 1'700'000'000 * kSecondNs})
    EXPECT_EQ(ParseTimestamp(FormatTimestamp(ns)), ns) << FormatTimestamp(ns);
  EXPECT_EQ(FormatTimestamp(1'700'000'000 * kSecondNs), "2023-11-14T22:13:20Z");
}

TEST(TimestampTest, ADateAsTheEndMeansTheWholeDay) {
  EXPECT_EQ(ParseUntil("1970-01-01"), 86'400 * kSecondNs - 1);
  EXPECT_EQ(ParseUntil("1970-01-01T00:00:01Z"), kSecondNs);
}

}  // namespace
}  // namespace gapless::internal
