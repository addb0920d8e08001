// SPDX-License-Identifier: Apache-2.0
#include "base/timestamp.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace gapless::internal {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(TimestampTest, FormsOfTheSameTime) {
  for (const char* text : {"2023-11-14T22:13:20Z", "2023-11-14 22:13:20", "2023-11-14 22:13:20+00",
                           "2023-11-14T23:13:20+01:00", "2023-11-14T17:13:20-0500", "2023-11-14 22:13:20.000000Z",
                           "2023-11-14t22:13:20z", "2023-11-14 22:13:20,0", "2023-11-14 23:43:20+01:30"})
    EXPECT_EQ(ParseTimestamp(text), 1'700'000'000 * kSecondNs) << text;
  EXPECT_EQ(ParseTimestamp("2023-11-14 22:13:20.1234567891"), 1'700'000'000'123'456'789);
  EXPECT_EQ(ParseTimestamp("2023-11-14 22:13"), 1'699'999'980 * kSecondNs);
  EXPECT_EQ(ParseTimestamp("2016-12-31T23:59:60Z"), ParseTimestamp("2017-01-01"));
  EXPECT_EQ(ParseTimestamp("1970-01-01"), 0);
  EXPECT_EQ(ParseTimestamp("1969-12-31T23:59:59.5Z"), -kSecondNs / 2);
}

TEST(TimestampTest, WhatIsNoTimeIsAbsent) {
  for (const char* text :
       {"", "yesterday", "2023-13-01", "2023-02-29", "2023-11-14T", "2023-11-14T25:00:00Z", "2023-11-14 22:13:20 extra",
        "1600-01-01", "2300-01-01", "2023-11-14T22:13:20+1", "2023/11/14", "20231114", "2023-1-14", " 2023-11-14",
        "2023-11-14  22:13:20", "2023-11-14 22:13:20+01:60", "1700000000"})
    EXPECT_FALSE(ParseTimestamp(text)) << text;
}

// Local times are those of a zone that is not UTC, with and without summer time.
class LoggedTimeTest : public ::testing::Test {
 protected:
  void SetUp() override { SetZone("CET-1CEST,M3.5.0,M10.5.0/3"); }
  void TearDown() override { SetZone("UTC0"); }
  static void SetZone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
};

TEST_F(LoggedTimeTest, FormsOfTheSameTime) {
  for (const char* text : {"2023/11/14 23:13:20",
                           "2023/11/14 23:13:20.000",
                           "20231114 23:13:20",
                           "2023-11-14 23:13:20",
                           "2023-11-14T23:13:20",
                           "2023-11-14 22:13:20Z",
                           "2023-11-14T22:13:20.000Z",
                           "2023/11/14 23:13:20+01:00",
                           "2023-11-14T17:13:20-05:00",
                           "2023-11-14 23:13:20+01",
                           "2023-11-14 23:13:20+1",
                           "2023-11-15 03:43:20+05:30",
                           "2023-11-15 03:43:20+0530",
                           "2023-11-15 06:13:20 GMT+8",
                           "  2023/11/14 23:13:20",
                           "2023/11/14  23:13:20",
                           "2023 11 14 23:13:20",
                           "2023/11/1423:13:20",
                           "2023/11/14 23:13:20 [0]",
                           "2023/11/13 47:13:20",
                           "2023/10/45 23:13:20",
                           "1700000000",
                           "1700000000.0",
                           "1.7e9",
                           "1700000000000"})
    EXPECT_EQ(ParseLoggedTime(text), 1'700'000'000 * kSecondNs) << text;
  EXPECT_EQ(ParseLoggedTime("2024/1/5 3:04:05"), ParseTimestamp("2024-01-05T02:04:05Z"));
  EXPECT_EQ(ParseLoggedTime("2024/07/05 13:03:31.25"), ParseTimestamp("2024-07-05T11:03:31.25Z")) << "summer time";
  EXPECT_EQ(ParseLoggedTime("2024/09/08 13:03:61.5Z"), ParseTimestamp("2024-09-08T13:04:01.5Z"));
  EXPECT_EQ(ParseLoggedTime("2023-11-14 22:13:20.123456789Z"), 1'700'000'000'123'456'789);
}

TEST_F(LoggedTimeTest, WhatIsNoTimeIsAbsent) {
  for (const char* text : {"",
                           " ",
                           "N/A",
                           "[Not Supported]",
                           "13:03:31",
                           "2023/11/14",
                           "2023/11/14 23:13",
                           "2023/13/01 00:00:00",
                           "2023/00/01 00:00:00",
                           "1979/01/01 00:00:00",
                           "2201/01/01 00:00:00",
                           "2023/11/14 23:13:62",
                           "2023/11/14 23:13:200",
                           "2023/11-14 23:13:20",
                           "12345",
                           "100000000",
                           "1e300",
                           "inf",
                           "nan",
                           "-1700000000"})
    EXPECT_FALSE(ParseLoggedTime(text)) << text;
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
