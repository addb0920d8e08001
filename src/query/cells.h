// SPDX-License-Identifier: Apache-2.0
// Reads the columns of a trace as SQL cells: one conversion per type, so that a table is a list of names.
//
//   constexpr auto kTable = &Trace::counters;
//   {"value", ColumnType::kReal, "", "the value", Cell<kTable, &CounterTable::value>},
//
// Every function here becomes a plain function pointer in a constant array; no table has code of its own unless a cell
// is computed. Sentinels of the columns (kAbsent, kAbsent32, NaN, the empty text, an invalid row id) become NULL in
// these conversions and in SqlValue, nowhere else.
#pragma once

#include "query/sql_table.h"
#include "trace/enums.h"
#include "trace/trace.h"

namespace gapless::internal {

// An enum with names in trace/enums.h. StringId is an enum, too, but its text is in the trace.
template <class E>
concept NamedEnum = std::is_enum_v<E> && !std::same_as<E, StringId> && requires(E e) { ToString(e); };

// Converts one value of a column. Row ids become ids of the run (base of the trace + row), which stay the same each
// time the run is opened. Narrow unsigned columns have no sentinel.
inline SqlValue ToSql(const RunTrace&, int64_t value) { return SqlValue::Int(value); }
inline SqlValue ToSql(const RunTrace&, int32_t value) { return SqlValue::Int(value == kAbsent32 ? kAbsent : value); }
inline SqlValue ToSql(const RunTrace&, uint16_t value) { return SqlValue::Int(value); }
inline SqlValue ToSql(const RunTrace&, uint8_t value) { return SqlValue::Int(value); }
inline SqlValue ToSql(const RunTrace&, double value) { return SqlValue::Real(value); }
inline SqlValue ToSql(const RunTrace& in, StringId value) { return SqlValue::Text(in.trace->Text(value)); }
inline SqlValue ToSql(const RunTrace& in, SliceId value) { return SqlValue::Int(in.Id(value)); }
inline SqlValue ToSql(const RunTrace& in, GpuOpId value) { return SqlValue::Int(in.Id(value)); }
// A step is shown by its number, which together with `trace` is the key of table `step`.
inline SqlValue ToSql(const RunTrace& in, StepId value) {
  return value.valid() ? SqlValue::Int(in.trace->steps.number[value.value]) : SqlValue::Null();
}
// The text of each value is in trace/enums.h; an empty one ("no such thing here") is Null.
template <NamedEnum E>
SqlValue ToSql(const RunTrace&, E value) {
  return SqlValue::Text(ToString(value));
}

// The cell of column `column` of the trace's table `table`.
template <auto table, auto column>
SqlValue Cell(const SqlRow& at) {
  return ToSql(*at.trace, (at.trace->trace.get()->*table.*column)[at.row]);
}

// The same for a point in time: from trace time to run time.
template <auto table, auto column>
SqlValue TimeCell(const SqlRow& at) {
  const int64_t ts = (at.trace->trace.get()->*table.*column)[at.row];
  return ts == kAbsent ? SqlValue::Null() : SqlValue::Int(ts + at.trace->ts_shift_ns);
}

// A cell that no reader can fill yet.
inline SqlValue NoCell(const SqlRow&) { return SqlValue::Null(); }

// The id of the row itself, as other tables refer to it.
template <int64_t IdBase::*first>
SqlValue IdCell(const SqlRow& at) {
  return SqlValue::Int(at.trace->base.*first + static_cast<int64_t>(at.row));
}

template <auto table>
size_t RowsOf(const Trace& trace) {
  return (trace.*table).size();
}
inline size_t NoRows(const Trace&) { return 0; }

template <int64_t IdBase::*first>
int64_t FirstIdOf(const IdBase& base) {
  return base.*first;
}

template <auto table, auto column>
const Column<int64_t>& TimesOf(const Trace& trace) {
  return trace.*table.*column;
}

// The two columns that nearly every table starts with.
inline constexpr SqlColumn kTraceKey = {"trace", ColumnType::kInt, "", "key of table trace",
                                        [](const SqlRow& at) { return SqlValue::Int(at.trace->index); }};
inline constexpr SqlColumn kRankKey = {"rank", ColumnType::kInt, "", "rank of the process; NULL without a rank",
                                       [](const SqlRow& at) { return SqlValue::Int(at.trace->rank()); }};

}  // namespace gapless::internal
