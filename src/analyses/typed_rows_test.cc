// SPDX-License-Identifier: Apache-2.0
// Tests typed views of tables: cells by the names of columns, and names that do not compile.
#include "analyses/typed_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "analyses/columns.h"

namespace gapless::internal {
namespace {

struct MadeRows : TypedRows<MadeRows> {
  using TypedRows::TypedRows;
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

TEST(TypedRows, ReadTheCellsOfTheirTable) {
  Table table = EmptyTable<MadeRows>();
  table.Row().Int(0).Int(3).Real(0.5).Text("aten::mm");
  table.Row().Null().Null().Null().Null();
  const MadeRows rows(table);
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

TEST(TypedRows, ColumnsAreValues) {
  constexpr MadeRows::IntColumn kCalls = "calls";
  constexpr MadeRows::RealColumn kNumber = kCalls;
  static_assert(kNumber.index() == 1 && kNumber == "calls" && kNumber != "share");
  EXPECT_EQ(kNumber.name(), "calls");
}

}  // namespace
}  // namespace gapless::internal
