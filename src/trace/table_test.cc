// SPDX-License-Identifier: Apache-2.0
#include "trace/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trace/ids.h"

namespace gapless::internal {
namespace {

Table Sample() {
  return Table("sample", {{"calls", ColumnType::kInt, "", "how often"},
                          {"share", ColumnType::kReal, "share", "of the step"},
                          {"name", ColumnType::kText, "", "what"}});
}

TEST(Table, RowsAreWrittenCellByCellAndReadByName) {
  Table table = Sample();
  table.Row().Int(3).Real(0.5).Text("aten::mm");
  table.Row().Int(4).Real(0.25).Text("aten::add");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.name(), "sample");
  EXPECT_EQ(table.Int(1, "calls"), 4);
  EXPECT_EQ(table.Real(0, "share"), 0.5);
  EXPECT_EQ(table.Text(0, "name"), "aten::mm");
  EXPECT_EQ(table.Find("share"), 1);
  EXPECT_EQ(table.Find("nothing"), -1);
}

TEST(Table, WhatIsAbsentIsNullAndNeverZero) {
  Table table = Sample();
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
  EXPECT_TRUE(std::isnan(table.Real(1, "share")));
  EXPECT_EQ(table.Int(1, "calls"), 0);
  EXPECT_EQ(table.Text(2, "name"), "");
}

TEST(Table, IntegersAreReadAndWrittenAsRealsWhereTheColumnIsReal) {
  Table table = Sample();
  table.Row().Int(7).Int(2).Text("x");
  EXPECT_EQ(table.Real(0, "calls"), 7.0);
  EXPECT_EQ(table.Real(0, "share"), 2.0);
  EXPECT_TRUE(std::isnan(table.Real(0, "name"))) << "a text is no number";
  EXPECT_EQ(table.Int(0, "share"), 0) << "a share is no integer";
}

TEST(Table, TextsSurviveAMove) {
  Table table = Sample();
  table.Row().Int(1).Real(1).Text("a name longer than any small string buffer would hold");
  const Table moved = std::move(table);
  EXPECT_EQ(moved.Text(0, "name"), "a name longer than any small string buffer would hold");
}

}  // namespace
}  // namespace gapless::internal
