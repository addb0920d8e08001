// SPDX-License-Identifier: Apache-2.0
// Tests of Table: absent cells, moved tables, lookups by name.
#include "trace/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr int kCalls = 0, kShare = 1, kName = 2;  // columns of SampleTable()

Table SampleTable() {
  return Table("sample", {{"calls", ColumnType::kInt, "", "how often"},
                          {"share", ColumnType::kReal, "share", "of the step"},
                          {"name", ColumnType::kText, "", "what"}});
}

TEST(Table, RowsAreWrittenAndReadCellByCell) {
  Table table = SampleTable();
  table.Row().Int(3).Real(0.5).Text("aten::mm");
  table.Row().Int(4).Real(0.25).Text("aten::add");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.name(), "sample");
  EXPECT_EQ(table.Int(1, kCalls), 4);
  EXPECT_EQ(table.Real(0, kShare), 0.5);
  EXPECT_EQ(table.Text(0, kName), "aten::mm");
  EXPECT_EQ(table.Find("share"), 1);
  EXPECT_EQ(table.Find("nothing"), -1);
}

TEST(Table, WhatIsAbsentIsNullAndNeverZero) {
  Table table = SampleTable();
  table.Row().Int(1).Real(1).Text("first");  // the marks of presence begin with the first Null
  table.Row().Int(kAbsent).Real(std::numeric_limits<double>::quiet_NaN()).TextOrNull("");
  table.Row().Null().Null().Null();
  table.Row().Int(0).Real(0).Text("");
  for (const int column : {0, 1, 2}) {
    EXPECT_FALSE(table.IsNull(0, column));
    EXPECT_TRUE(table.IsNull(1, column));
    EXPECT_TRUE(table.IsNull(2, column));
    EXPECT_FALSE(table.IsNull(3, column)) << "zero and the empty text are values";
  }
  EXPECT_TRUE(std::isnan(table.Real(1, kShare)));
  EXPECT_EQ(table.Int(1, kCalls), 0);
  EXPECT_EQ(table.Text(2, kName), "");
}

TEST(Table, IntegersAreReadAndWrittenAsRealsWhereTheColumnIsReal) {
  Table table = SampleTable();
  table.Row().Int(7).Int(2).Text("x");
  EXPECT_EQ(table.Real(0, kCalls), 7.0);
  EXPECT_EQ(table.Real(0, kShare), 2.0);
  EXPECT_TRUE(std::isnan(table.Real(0, kName))) << "a text is no number";
  EXPECT_EQ(table.Int(0, kShare), 0) << "a share is no integer";
}

// A place that is not there is absent in every build, whatever it is asked for.
TEST(Table, OutsideOfItEverythingIsAbsent) {
  Table table = SampleTable();
  table.Row().Int(1).Real(0.5).Text("x");
  for (const int column : {-1, -1000000, 3, 1000000})
    for (const size_t row : {size_t{0}, size_t{1}, ~size_t{0}}) {
      EXPECT_TRUE(table.IsNull(row, column));
      EXPECT_EQ(table.Int(row, column), 0);
      EXPECT_TRUE(std::isnan(table.Real(row, column)));
      EXPECT_EQ(table.Text(row, column), "");
    }
  for (const int column : {0, 1, 2}) EXPECT_TRUE(table.IsNull(1, column)) << "behind the last row";
  EXPECT_TRUE(table.IsNull(0, table.Find("call"))) << "no such name";
}

// A row of the wrong cells stays a row: what is too much is dropped, what is missing or of another type is absent.
TEST(Table, ARowOfTheWrongCellsMovesNoOther) {
  Table table = SampleTable();
  table.Row().Int(1).Real(1).Text("first").Text("too much").Int(3).Null();
  table.Row().Int(2);
  table.Row().Text("no number").Text("no number").Real(3);
  table.Row().Int(4).Real(4).Text("last");
  ASSERT_EQ(table.rows(), 4U);
  EXPECT_EQ(table.Text(0, kName), "first");
  EXPECT_EQ(table.Int(1, kCalls), 2);
  EXPECT_TRUE(table.IsNull(1, kShare));
  for (const int column : {0, 1, 2}) EXPECT_TRUE(table.IsNull(2, column));
  EXPECT_EQ(table.Int(3, kCalls), 4);
  EXPECT_EQ(table.Real(3, kShare), 4);
  EXPECT_EQ(table.Text(3, kName), "last");
}

TEST(Table, TextsSurviveAMove) {
  Table table = SampleTable();
  table.Row().Int(1).Real(1).Text("a name longer than any small string buffer would hold");
  const Table moved = std::move(table);
  EXPECT_EQ(moved.Text(0, kName), "a name longer than any small string buffer would hold");
}

}  // namespace
}  // namespace gapless::internal
