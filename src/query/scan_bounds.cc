// SPDX-License-Identifier: Apache-2.0
// Bounds of ids become bounds of rows by arithmetic, and bounds of times by binary search.
#include "query/scan_bounds.h"

#include <algorithm>
#include <cmath>

namespace gapless::internal::scan {
namespace {

// Converts a bound, saturating: a double beyond int64 must not be cast.
int64_t ToInt(double value) {
  if (value <= -9.2e18) return Bounds::kMin;
  return value >= 9.2e18 ? Bounds::kMax : static_cast<int64_t>(value);
}

// Raises a lower bound to the value, fractions rounded down. Texts and blobs change nothing: SQLite's own comparison
// decides about those rows.
void RaiseLow(sqlite3_value* value, Bounds& bounds, int64_t& low) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) bounds.none = true;
  if (type == SQLITE_INTEGER) low = std::max<int64_t>(low, sqlite3_value_int64(value));
  if (type == SQLITE_FLOAT) low = std::max(low, ToInt(std::floor(sqlite3_value_double(value))));
}

// The same for an upper bound, fractions rounded up.
void LowerHigh(sqlite3_value* value, Bounds& bounds, int64_t& high) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) bounds.none = true;
  if (type == SQLITE_INTEGER) high = std::min<int64_t>(high, sqlite3_value_int64(value));
  if (type == SQLITE_FLOAT) high = std::min(high, ToInt(std::ceil(sqlite3_value_double(value))));
}

// a − b, stopping at the ends of the range.
int64_t Minus(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? Bounds::kMin : Bounds::kMax;
}

}  // namespace

void Narrow(int use, sqlite3_value* value, Bounds& bounds) {
  switch (use) {
    case kTrace: RaiseLow(value, bounds, bounds.trace_low); return LowerHigh(value, bounds, bounds.trace_high);
    case kRank:
      if (sqlite3_value_type(value) == SQLITE_NULL) return;  // "rank IS NULL": SQLite checks the rows
      RaiseLow(value, bounds, bounds.rank_low);
      return LowerHigh(value, bounds, bounds.rank_high);
    case kIdIs: RaiseLow(value, bounds, bounds.id_low); return LowerHigh(value, bounds, bounds.id_high);
    case kIdLow: return RaiseLow(value, bounds, bounds.id_low);
    case kIdHigh: return LowerHigh(value, bounds, bounds.id_high);
    case kTimeLow: return RaiseLow(value, bounds, bounds.time_low);
    case kTimeHigh: return LowerHigh(value, bounds, bounds.time_high);
    default: return;
  }
}

int64_t FirstRowId(const SqlTable& table, const RunTrace& trace) {
  return table.first_id ? table.first_id(trace.base) : static_cast<int64_t>(trace.index) << 32;
}

Part Cut(const SqlTable& table, const RunTrace& trace, const Bounds& bounds) {
  const auto rows = static_cast<int64_t>(ShownRows(table, *trace.trace));
  const int64_t first = FirstRowId(table, trace);
  // A trace without a rank has NULL there, which passes no comparison; without a bound every trace stays.
  const bool ranked = trace.rank() == kAbsent ? bounds.rank_low == Bounds::kMin && bounds.rank_high == Bounds::kMax
                                              : trace.rank() >= bounds.rank_low && trace.rank() <= bounds.rank_high;
  if (bounds.none || !ranked || trace.index < bounds.trace_low || trace.index > bounds.trace_high)
    return {&trace, 0, 0};
  // Ids are first + row, so bounds of ids are bounds of rows.
  int64_t begin = std::clamp<int64_t>(Minus(bounds.id_low, first), 0, rows);
  const int64_t last = Minus(bounds.id_high, first);
  int64_t end = last >= rows ? rows : std::max<int64_t>(0, last + 1);
  if (table.ts != nullptr) {
    const Column<int64_t>& ts = table.ts(*trace.trace);
    // The column is in trace time, bounds are in run time.
    const int64_t low = Minus(bounds.time_low, trace.ts_shift_ns), high = Minus(bounds.time_high, trace.ts_shift_ns);
    if (bounds.time_low != Bounds::kMin)
      begin = std::max<int64_t>(begin, std::lower_bound(ts.begin(), ts.end(), low) - ts.begin());
    if (bounds.time_high != Bounds::kMax)
      end = std::min<int64_t>(end, std::upper_bound(ts.begin(), ts.end(), high) - ts.begin());
  }
  if (end < begin) end = begin;
  return {&trace, static_cast<size_t>(begin), static_cast<size_t>(end)};
}

}  // namespace gapless::internal::scan
