// SPDX-License-Identifier: Apache-2.0
// Table: typed, named columns with units. What every analysis returns and every renderer, the SQL verb and the bindings
// read.
//
// Absent cells are Null, never 0. Tables move; they are not copied. Times are int64 ns in columns ending in _ns; shares
// are 0–1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gapless/column.h"
#include "trace/packed_ints.h"
#include "trace/string_pool.h"

namespace gapless::internal {

struct ColumnSpec {
  std::string_view name;
  ColumnType type = ColumnType::kInt;
  std::string_view unit;  // "ns", "bytes", "share", "GB/s", "" for none; "id:slice" when it names a row of table slice
  std::string_view help;  // one line: what it is
};

// A Table is filled row by row and then only read, which several threads may do at once. TableOf (analyses/columns.h)
// fills one, cell by cell by the names of columns: no other code can, and so nothing depends on their order. Its memory
// is column by column: 0, 2, 4 or 8 bytes for an integer (packed_ints.h), 8 for a real, 0, 2 or 4 for a text, plus each
// distinct text once; a column with Nulls takes one bit more per cell.
class Table {
 public:
  // `specs` must outlive the table (they are the constants of the analysis).
  Table(std::string_view name, std::vector<ColumnSpec> specs);

  std::string_view name() const { return name_; }
  const std::vector<ColumnSpec>& columns() const { return specs_; }
  size_t rows() const { return rows_; }
  // Returns the index of the column called `name`, or -1.
  int Find(std::string_view name) const;

  // Makes room for `rows` rows, when their number is known.
  void Reserve(size_t rows);

  // Outside the table everything is absent, in every build.
  bool IsNull(size_t row, int column) const;
  int64_t Int(size_t row, int column) const;            // 0 when Null or not kInt: ask IsNull first
  double Real(size_t row, int column) const;            // also reads kInt columns; NaN when Null
  std::string_view Text(size_t row, int column) const;  // "" when Null

 protected:
  // Begins a row, all of whose cells are Null until they are set.
  void AddRow();
  // Sets a cell of the last row; kAbsent, NaN and the empty text leave it Null. In every build a cell of another type,
  // outside the table or set a second time is dropped: no row moves another.
  void SetInt(int column, int64_t value);  // also fills kReal columns
  void SetReal(int column, double value);
  void SetText(int column, std::string_view value);

 private:
  // Only the vector of the column's type is filled. `present` stays empty until the first Null.
  struct Cells {
    PackedInts ints{};  // the ids in texts_ for a column of kText
    std::vector<double> reals{};
    std::vector<bool> present{};
    size_t size = 0;
  };
  // Returns the cells of a column if it has this type and the last row's is not set; else null.
  Cells* Unset(int column, ColumnType type);
  // Counts a cell whose value was just added, and marks it as present or Null.
  void Count(Cells& cells, bool present);
  void FillLastRow();

  std::string name_;
  std::vector<ColumnSpec> specs_;
  std::vector<Cells> cells_;
  StringPool texts_;             // each distinct text once: names repeat
  size_t rows_ = 0, unset_ = 0;  // unset_: cells of the last row
};

}  // namespace gapless::internal
