// SPDX-License-Identifier: Apache-2.0
// Tests cells, rows and columns of the public Table, including access outside the table and after a move.
#include "gapless/table.h"

#include <gtest/gtest.h>

#include <ranges>

#include "api/table_data.h"

namespace gapless {
namespace {

static_assert(std::ranges::forward_range<const Table>);
static_assert(std::is_nothrow_move_constructible_v<Table> && std::is_copy_constructible_v<Table>);

class Squares : public internal::TableData {
 public:
  Squares() {
    name = "squares";
    columns = {{.name = "n"}, {.name = "square", .type = ColumnType::kReal, .unit = "m²"}};
    rows = 3;
  }
  Cell At(size_t row, size_t column) const override {
    const auto n = static_cast<int64_t>(row);
    if (column == 0) return Cell(n);
    return n == 0 ? Cell() : Cell(static_cast<double>(n * n));
  }
};

Table MakeSquares() { return internal::TableData::AsTable(std::make_shared<Squares>()); }

TEST(CellTest, HasAValueOfItsOwnTypeOnly) {
  EXPECT_FALSE(Cell().has_value());
  EXPECT_FALSE(Cell().Int() || Cell().Real() || Cell().Text());
  EXPECT_EQ(Cell(int64_t{0}).Int(), 0) << "zero is a value";
  EXPECT_EQ(Cell(int64_t{3}).Real(), 3.0) << "an integer is a number";
  EXPECT_FALSE(Cell(2.5).Int());
  EXPECT_EQ(Cell(std::string_view("a")).Text(), "a");
  EXPECT_EQ(Cell(std::string_view()).Text(), "") << "an empty text is a text";
}

TEST(TableTest, RowsAreReadByIterating) {
  const Table table = MakeSquares();
  std::vector<std::optional<double>> squares;
  for (const Row row : table) {
    EXPECT_EQ(row["n"].Int(), static_cast<int64_t>(row.index()));
    EXPECT_EQ(row[1], row["square"]);
    EXPECT_EQ(row.size(), 2U);
    squares.push_back(row["square"].Real());
  }
  EXPECT_EQ(squares, (std::vector<std::optional<double>>{std::nullopt, 1.0, 4.0}));
}

TEST(TableTest, ATemporaryResultMayBeIteratedOver) {
  const auto make = []() -> Result<Table> { return MakeSquares(); };
  int rows = 0;
  for (const Row row : *make()) rows += row["n"].has_value();
  EXPECT_EQ(rows, 3);
}

TEST(TableTest, OutsideTheTableThereIsNothing) {
  const Table table = MakeSquares();
  EXPECT_FALSE(table.At(3, 0).has_value());
  EXPECT_FALSE(table.At(0, 2).has_value());
  EXPECT_FALSE(table.At(0, "squar").has_value());
  EXPECT_FALSE((*table.begin())["squar"].has_value());
  EXPECT_FALSE((*table.begin())[2].has_value());
}

TEST(TableTest, ARequiredColumnThatIsMissingNamesTheOneMeant) {
  const Table table = MakeSquares();
  EXPECT_EQ(*table.Require("square"), 1U);
  EXPECT_EQ(table.Find("n"), 0U);
  EXPECT_FALSE(table.Find("m"));
  const auto missing = table.Require("squar");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().ToString(), "squares: there is no column 'squar' (did you mean square?)");
}

TEST(TableTest, AnEmptyTableAnswersEverything) {
  Table table;
  const Table moved = std::move(table);
  for (const Table& empty : {table, moved}) {  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(empty.empty());
    EXPECT_EQ(empty.name(), "");
    EXPECT_TRUE(empty.columns().empty());
    EXPECT_FALSE(empty.At(0, 0).has_value());
    EXPECT_FALSE(empty.Require("x"));
    EXPECT_EQ(empty.begin(), empty.end());
  }
}

}  // namespace
}  // namespace gapless
