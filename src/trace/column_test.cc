// SPDX-License-Identifier: Apache-2.0
#include "trace/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "trace/segments.h"

namespace gapless::internal {
namespace {

TEST(Column, OfOneValueReadsLikeAnyOther) {
  const auto column = Column<int32_t>::Same(5, 7);
  EXPECT_TRUE(column.same());
  EXPECT_EQ(column.size(), 5U);
  EXPECT_EQ(column[0], 7);
  EXPECT_EQ(column[4], 7);
  EXPECT_EQ(std::accumulate(column.begin(), column.end(), 0), 35);
  EXPECT_EQ(column.stored().size(), 1U);
  EXPECT_EQ(column.Part(3, 2).size(), 2U);
  EXPECT_EQ(column.Part(3, 2)[1], 7);
}

TEST(Column, OfOneValueGetsAPlaceForEachRowWhenItIsWritten) {
  auto column = Column<int32_t>::Same(3, 7);
  const Column<int32_t> copy = column;
  column.mutable_data()[1] = 8;
  EXPECT_FALSE(column.same());
  EXPECT_EQ((std::vector<int32_t>(column.begin(), column.end())), (std::vector<int32_t>{7, 8, 7}));
  EXPECT_EQ(copy[1], 7);
}

TEST(Column, IsSearchedThroughItsIterators) {
  const Column<int64_t> column(std::vector<int64_t>{1, 3, 3, 9});
  const auto found = std::lower_bound(column.begin(), column.end(), 3);
  EXPECT_EQ(found - column.begin(), 1);
  EXPECT_EQ(found[2], 9);
  EXPECT_EQ(std::upper_bound(column.begin(), column.end(), 3) - column.begin(), 3);
  EXPECT_TRUE(std::is_sorted(column.begin(), column.end()));
  EXPECT_EQ(Column<int64_t>().begin(), Column<int64_t>().end());
}

TEST(GrowingColumn, TakesNoSegmentWhileItHasOneValue) {
  GrowingColumn<double> column;
  const double absent = std::numeric_limits<double>::quiet_NaN();
  for (size_t row = 0; row < 3; ++row) column.Add(row, absent);
  EXPECT_TRUE(column.same());
  EXPECT_TRUE(std::isnan(column[2]));
  column.Add(3, 0.5);
  EXPECT_FALSE(column.same());
  EXPECT_TRUE(std::isnan(column[2]));
  EXPECT_EQ(column[3], 0.5);
}

TEST(GrowingColumn, KeepsEarlierSegmentsWhenAnotherValueComesLate) {
  GrowingColumn<int32_t> column;
  const size_t late = 2 * kSegmentRows;
  for (size_t row = 0; row < late; ++row) column.Add(row, 4);
  column.Add(late, 5);
  column.Add(late + 1, 6);
  for (const size_t row : {size_t{0}, kSegmentRows, late - 1}) EXPECT_EQ(column[row], 4);
  EXPECT_EQ(column[late], 5);
  EXPECT_EQ(column[late + 1], 6);
}

// Readers drop the rows of a chunk that they have to parse again.
TEST(GrowingColumn, TakesRowsAgainThatWereDropped) {
  GrowingColumn<int32_t> column;
  column.Add(0, 1);
  column.Add(0, 2);  // row 0 was dropped
  EXPECT_TRUE(column.same());
  column.Add(1, 3);
  column.Add(0, 4);
  column.Add(1, 4);
  EXPECT_EQ(column[0], 4);
  EXPECT_EQ(column[1], 4);
}

TEST(GrowingColumn, ChangesAValueThatAllRowsHad) {
  GrowingColumn<int32_t> column;
  for (size_t row = 0; row < 4; ++row) column.Add(row, 1);
  column.Set(2, 1, 4);
  EXPECT_TRUE(column.same());
  column.Set(2, 9, 4);
  EXPECT_EQ(column[2], 9);
  EXPECT_EQ(column[3], 1);
}

}  // namespace
}  // namespace gapless::internal
