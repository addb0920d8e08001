// SPDX-License-Identifier: Apache-2.0
// Implements the values of cells. The sentinels of the columns of a trace become NULL here: kAbsent of integers, NaN of
// reals, the empty text.
#include "query/sql_table.h"

#include <cmath>

namespace gapless::internal {

SqlValue SqlValue::Int(int64_t value) {
  SqlValue cell;
  if (value == kAbsent) return cell;
  cell.kind = Kind::kInt;
  cell.integer = value;
  return cell;
}

SqlValue SqlValue::Real(double value) {
  SqlValue cell;
  if (std::isnan(value)) return cell;
  cell.kind = Kind::kReal;
  cell.real = value;
  return cell;
}

SqlValue SqlValue::Text(std::string_view text) {
  SqlValue cell;
  if (text.empty()) return cell;
  cell.kind = Kind::kText;
  cell.text = text;
  return cell;
}

}  // namespace gapless::internal
