// SPDX-License-Identifier: Apache-2.0
// Tests of Table: absent cells, cells that do not fit, moved tables, lookups by name.
#include "trace/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr int kCalls = 0, kShare = 1, kName = 2;  // columns of SampleTable()

struct SampleTable : Table {
  SampleTable()
      : Table("sample", {{"calls", ColumnType::kInt, "", "how often"},
                         {"share", ColumnType::kReal, "share", "of the step"},
                         {"name", ColumnType::kText, "", "what"}}) {}
  void Add(int64_t calls, double share, std::string_view name) {
    AddRow();
    SetInt(kCalls, calls);
    SetReal(kShare, share);
    SetText(kName, name);
  }
  using Table::AddRow, Table::SetInt, Table::SetReal, Table::SetText;
};

TEST(Table, RowsAreWrittenAndReadCellByCell) {
  SampleTable table;
  table.Add(3, 0.5, "aten::mm");
  table.Add(4, 0.25, "aten::add");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.name(), "sample");
  EXPECT_EQ(table.Int(1, kCalls), 4);
  EXPECT_EQ(table.Real(0, kShare), 0.5);
  EXPECT_EQ(table.Text(0, kName), "aten::mm");
  EXPECT_EQ(table.Find("share"), 1);
  EXPECT_EQ(table.Find("nothing"), -1);
}

TEST(Table, WhatIsAbsentIsNullAndNeverZero) {
  SampleTable table;
  table.Add(1, 1, "first");  // the marks of presence begin with the first Null
  table.Add(kAbsent, std::numeric_limits<double>::quiet_NaN(), "");
  table.AddRow();
  table.Add(0, 0, "0");
  table.AddRow();
  for (const int column : {0, 1, 2}) {
    EXPECT_FALSE(table.IsNull(0, column));
    EXPECT_TRUE(table.IsNull(1, column));
    EXPECT_TRUE(table.IsNull(2, column));
    EXPECT_FALSE(table.IsNull(3, column)) << "zero is a value";
    EXPECT_TRUE(table.IsNull(4, column)) << "the last row is not filled up";
  }
  EXPECT_TRUE(std::isnan(table.Real(1, kShare)));
  EXPECT_EQ(table.Int(1, kCalls), 0);
  EXPECT_EQ(table.Text(2, kName), "");
}

TEST(Table, IntegersAreReadAndWrittenAsRealsWhereTheColumnIsReal) {
  SampleTable table;
  table.Add(7, 0.5, "x");
  table.AddRow();
  table.SetInt(kShare, 2);
  EXPECT_EQ(table.Real(0, kCalls), 7.0);
  EXPECT_EQ(table.Real(1, kShare), 2.0);
  EXPECT_TRUE(std::isnan(table.Real(0, kName))) << "a text is no number";
  EXPECT_EQ(table.Int(0, kShare), 0) << "a share is no integer";
}

// A place that is not there is absent in every build, whatever it is asked for.
TEST(Table, OutsideOfItEverythingIsAbsent) {
  SampleTable table;
  table.Add(1, 0.5, "x");
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

// A row of the wrong cells stays a row: what has no place in it is dropped, what is missing or of another type is
// absent.
TEST(Table, ARowOfTheWrongCellsMovesNoOther) {
  SampleTable table;
  table.Add(1, 1, "first");
  table.SetInt(kCalls, 5);
  table.SetText(kName, "once more");
  for (const int column : {-1, 3}) table.SetInt(column, 5), table.SetReal(column, 5), table.SetText(column, "nowhere");
  table.AddRow();
  table.SetInt(kCalls, 2);
  table.AddRow();
  for (const int column : {kCalls, kShare}) table.SetText(column, "no number");
  for (const int column : {kCalls, kName}) table.SetReal(column, 3);
  table.Add(4, 4, "last");
  ASSERT_EQ(table.rows(), 4U);
  EXPECT_EQ(table.Int(0, kCalls), 1);
  EXPECT_EQ(table.Text(0, kName), "first");
  EXPECT_EQ(table.Int(1, kCalls), 2);
  EXPECT_TRUE(table.IsNull(1, kShare));
  for (const int column : {0, 1, 2}) EXPECT_TRUE(table.IsNull(2, column));
  EXPECT_EQ(table.Int(3, kCalls), 4);
  EXPECT_EQ(table.Real(3, kShare), 4);
  EXPECT_EQ(table.Text(3, kName), "last");
}

TEST(Table, TextsSurviveAMove) {
  SampleTable table;
  table.Add(1, 1, "a name longer than any small string buffer would hold");
  const Table moved = std::move(table);
  EXPECT_EQ(moved.Text(0, kName), "a name longer than any small string buffer would hold");
}

}  // namespace
}  // namespace gapless::internal
