// SPDX-License-Identifier: Apache-2.0
// Tests tables whose cells are written and read by the names of columns, and names that do not compile.
#include "analyses/typed_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "analyses/columns.h"

namespace gapless::internal {
namespace {

struct MadeRows : TypedRows<MadeRows> {
  static constexpr std::string_view kName = "made";
  static constexpr ColumnSpec kColumns[] = {
      kRankColumn, {"calls", kInt, "", ""}, {"share", kReal, "", ""}, {"name", kText, "", ""}};
};

// True if a column of type `C` can be made from the name that `Name` returns.
template <class C, class Name>
concept IsColumn = requires { typename std::integral_constant<int, C(Name{}()).index()>; };

using Calls = decltype([] { return "calls"; });
using Share = decltype([] { return "share"; });
using Name = decltype([] { return "name"; });
using Misspelled = decltype([] { return "call"; });

static_assert(IsColumn<MadeRows::IntColumn, Calls>);
static_assert(!IsColumn<MadeRows::IntColumn, Misspelled>);
static_assert(!IsColumn<MadeRows::AnyColumn, Misspelled>);
static_assert(!IsColumn<MadeRows::IntColumn, Share> && !IsColumn<MadeRows::IntColumn, Name>);
static_assert(IsColumn<MadeRows::RealColumn, Share> && IsColumn<MadeRows::RealColumn, Calls>);
static_assert(!IsColumn<MadeRows::RealColumn, Name>);
static_assert(IsColumn<MadeRows::TextColumn, Name> && !IsColumn<MadeRows::TextColumn, Calls>);
static_assert(!std::is_convertible_v<MadeRows::AnyColumn, MadeRows::IntColumn>, "the type would be lost");

// True if a cell of the column that `Name` returns can be set to a value of type `T`.
template <class T, class Name>
concept IsWritten = IsColumn<TableOf<MadeRows>::ColumnFor<T>, Name>;

static_assert(IsWritten<int64_t, Calls> && IsWritten<std::optional<bool>, Calls> && IsWritten<int, Share>);
static_assert(IsWritten<double, Share> && IsWritten<std::optional<double>, Share>);
static_assert(IsWritten<std::string, Name> && IsWritten<std::string_view, Name> && IsWritten<char[4], Name>);
static_assert(!IsWritten<int64_t, Misspelled> && !IsWritten<double, Misspelled> && !IsWritten<char[4], Misspelled>);
static_assert(!IsWritten<double, Calls> && !IsWritten<std::optional<double>, Calls>, "it would be cut to an integer");
static_assert(!IsWritten<int64_t, Name> && !IsWritten<double, Name> && !IsWritten<char[4], Calls>);
static_assert(!IsWritten<SliceId, Calls>, "an id of a row of one recording is none of the run");

TEST(TypedRows, ReadTheCellsOfTheirTable) {
  TableOf<MadeRows> table;
  table.Row().Set("rank", 0).Set("calls", 3).Set("share", 0.5).Set("name", "aten::mm");
  table.Row();
  const MadeRows rows{table};
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.Int(0, "calls"), 3);
  EXPECT_EQ(rows.Real(0, "calls"), 3.0);
  EXPECT_EQ(rows.Real(0, "share"), 0.5);
  EXPECT_EQ(rows.Text(0, "name"), "aten::mm");
  EXPECT_FALSE(rows.IsNull(0, "rank"));
  EXPECT_TRUE(rows.IsNull(1, "rank"));
  EXPECT_EQ(rows.Int(1, "calls"), 0);
  EXPECT_TRUE(std::isnan(rows.Real(1, "share")));
}

TEST(TypedRows, AreWrittenInAnyOrder) {
  TableOf<MadeRows> table;
  table.Row().Set("name", "aten::mm").Set("rank", 1);
  table.Row().Set("share", 1).Set("calls", size_t{3});
  const MadeRows rows{table};
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.Text(0, "name"), "aten::mm");
  EXPECT_EQ(rows.Int(0, "rank"), 1);
  EXPECT_EQ(rows.Real(1, "share"), 1.0);
  EXPECT_EQ(rows.Int(1, "calls"), 3);
  EXPECT_TRUE(rows.IsNull(0, "calls") && rows.IsNull(0, "share"));
  EXPECT_TRUE(rows.IsNull(1, "rank") && rows.IsNull(1, "name"));
}

TEST(TypedRows, WhatMeansAbsentIsAbsent) {
  TableOf<MadeRows> table;
  table.Row().Set("rank", kAbsent).Set("calls", kAbsent32).Set("share", std::nan("")).Set("name", "");
  table.Row().Set("calls", std::optional<bool>()).Set("share", kAbsent);
  table.Row().Set("rank", 0).Set("calls", std::optional(false)).Set("share", std::optional(0.0)).Set("name", " ");
  const MadeRows rows{table};
  constexpr MadeRows::AnyColumn kAll[] = {"rank", "calls", "share", "name"};
  for (const MadeRows::AnyColumn column : kAll) {
    EXPECT_TRUE(rows.IsNull(0, column)) << column.name();
    EXPECT_TRUE(rows.IsNull(1, column)) << column.name();
    EXPECT_FALSE(rows.IsNull(2, column)) << column.name() << ": zero is a value";
  }
}

TEST(TypedRows, TakeAnArrayColumnByColumn) {
  TableOf<MadeRows> table;
  table.Row().SetEach({"calls", "rank"}, std::array<int64_t, 2>{7, kAbsent});
  const MadeRows rows{table};
  EXPECT_EQ(rows.Int(0, "calls"), 7);
  EXPECT_TRUE(rows.IsNull(0, "rank"));
}

TEST(TypedRows, ColumnsAreValues) {
  constexpr MadeRows::IntColumn kCalls = "calls";
  constexpr MadeRows::RealColumn kNumber = kCalls;
  static_assert(kNumber.index() == 1 && kNumber == "calls" && kNumber != "share");
  EXPECT_EQ(kNumber.name(), "calls");
}

}  // namespace
}  // namespace gapless::internal
