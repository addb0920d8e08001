// SPDX-License-Identifier: Apache-2.0
// Tests how times, shares and processors are read, and that errors name the option.
#include "cli/benchmark.h"

#include <gtest/gtest.h>

#include "cli/scaling.h"

namespace gapless::internal {
namespace {

constexpr OptionSpec kOption{.name = "x"};

TEST(BenchmarkOptions, TimesHaveUnits) {
  EXPECT_EQ(*ReadTime(kOption, "90"), 90);
  EXPECT_EQ(*ReadTime(kOption, "1.5m"), 90);
  EXPECT_EQ(*ReadTime(kOption, "2h"), 7200);
  for (const char* wrong : {"", "0", "-1s", "5d", "m", "inf"}) {
    const auto read = ReadTime(kOption, wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().message, "--x takes a time, such as 90s, 10m or 2h");
  }
}

TEST(BenchmarkOptions, SharesAreBelowOne) {
  EXPECT_EQ(*ReadShare(kOption, "2%"), 0.02);
  EXPECT_EQ(*ReadShare(kOption, "0.02"), 0.02);
  EXPECT_EQ(*ReadShare(kOption, "0"), 0);
  for (const char* wrong : {"", "%", "100%", "1", "-0.1", "nan", "2 %"}) {
    const auto read = ReadShare(kOption, wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().message, "--x takes a share below one, such as 2% or 0.02");
  }
}

TEST(BenchmarkOptions, ProcessorsAndRanksAreLists) {
  for (const char* wrong : {"", "a", "1-0", "-1", "1,", "99999999999"}) {
    const auto read = ReadCpus(kOption, wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().message, "--x takes processors, such as 0-3,8");
  }
  EXPECT_EQ(*ReadRankCounts(kOption, "4,1,,4"), (std::vector<int>{4, 1, 4}));
  for (const char* wrong : {"0", "a", "1-2", "5000"}) EXPECT_FALSE(ReadRankCounts(kOption, wrong)) << wrong;
}

TEST(BenchmarkOptions, SizesAreThoseOf1024) {
  constexpr OptionSpec kMemory{.name = "memory"};
  for (const auto& [text, bytes] : {std::pair("1", 1LL),
                                    {"512M", 536870912LL},
                                    {"4G", 4294967296LL},
                                    {"1.5KiB", 1536LL},
                                    {"2TB", 2199023255552LL},
                                    {"7B", 7LL}}) {
    const auto read = ReadBytes(kMemory, text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, bytes) << text;
  }
  for (const char* wrong : {"", "0", "-1", "1X", "M", "1MM", "1e30", "nan", "3iBG"}) {
    const auto read = ReadBytes(kMemory, wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().message, "--memory takes a size, such as 512M or 4G");
  }
}

}  // namespace
}  // namespace gapless::internal
