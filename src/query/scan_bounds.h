// SPDX-License-Identifier: Apache-2.0
// Narrows a scan of traces to the rows that the constraints of a query leave.
#pragma once

#include <cstdint>
#include <limits>

#include "query/vtab.h"

namespace gapless::internal::scan {

// The subject of a constraint, in the order in which values are handed to xFilter. A bit of idxNum each.
enum Use : int { kTrace, kRank, kIdIs, kIdLow, kIdHigh, kTimeLow, kTimeHigh, kUses };
constexpr int Bit(int use) { return 1 << use; }

// The closed ranges that the constraints leave. `none`: no row passes, because one of them compares with NULL.
struct Bounds {
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

  int64_t trace_low = kMin, trace_high = kMax, rank_low = kMin, rank_high = kMax;
  int64_t id_low = kMin, id_high = kMax, time_low = kMin, time_high = kMax;
  bool none = false;
};

// Narrows the bounds by one constraint. An equality is a lower and an upper bound of the same value.
void Narrow(int use, sqlite3_value* value, Bounds& bounds);

// Rows [row, end) of one trace; empty if row == end.
struct Part {
  const RunTrace* trace;
  size_t row, end;
};

// Returns the rows of one trace within the bounds.
Part Cut(const SqlTable& table, const RunTrace& trace, const Bounds& bounds);

// Returns the rowid of the trace's first row. Without ids of the run, 32 bits are left for the row.
int64_t FirstRowId(const SqlTable& table, const RunTrace& trace);

}  // namespace gapless::internal::scan
