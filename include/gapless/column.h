// SPDX-License-Identifier: Apache-2.0
// A table's description: its name, columns, types and units, without any cell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless {

// The type of all cells of a column that have a value: int64, double, or UTF-8 text.
enum class ColumnType : uint8_t { kInt, kReal, kText };

// "integer", "real", "text".
constexpr std::string_view ToString(ColumnType type) {
  return type == ColumnType::kInt ? "integer" : type == ColumnType::kReal ? "real" : "text";
}

// A column's description. Columns of recorded tables and analyses are never changed or dropped, only added.
struct Column {
  std::string name;
  ColumnType type = ColumnType::kInt;
  std::string unit{};  // "ns", "bytes", "share", "GB/s", "" for none; "id:slice" when it names a row of table slice
  std::string help{};  // one line; empty for the columns of a query
};

// A table that every run has, though it may be empty.
struct TableInfo {
  std::string name;
  std::string help;
  bool is_analysis = false;  // computed when first asked for; otherwise recorded
  std::vector<Column> columns{};
};

}  // namespace gapless
