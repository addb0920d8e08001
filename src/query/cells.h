// SPDX-License-Identifier: Apache-2.0
// Makes the SQL table of a table of traces from the list of its columns (trace/columns.h), which says what is shown.
//
//   constexpr ComputedCell kCells[] = {{"pid", Pid}};
//   SQL_TABLE(gpu_op) = kStored<&Trace::gpu_ops, &IdBase::gpu_op, kCells>;
//
// Every function here becomes a plain function pointer in a constant array; no table has code of its own unless a cell
// is computed. Sentinels of the columns (kAbsent, kAbsent32, NaN, the empty text, an invalid row id) become NULL in
// these conversions and in SqlValue, nowhere else.
#pragma once

#include <algorithm>
#include <array>
#include <span>

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
inline SqlValue ToSql(const RunTrace& in, StackId value) { return SqlValue::Int(in.Id(value)); }
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

// Returns where the values of these two kinds of cells lie.
template <class T>
StoredValues ValuesOf(const RunTrace&, const Column<T>& values) {
  return &values;
}
inline StoredValues ValuesOf(const RunTrace& in, const Column<StringId>& values) {
  return StoredTexts{&values, &in.trace->strings};
}
inline StoredValues ValuesOf(const RunTrace& in, const Column<SliceId>& values) {
  return StoredIds<SliceId>{&values, in.base.slice};
}
inline StoredValues ValuesOf(const RunTrace& in, const Column<GpuOpId>& values) {
  return StoredIds<GpuOpId>{&values, in.base.gpu_op};
}
inline StoredValues ValuesOf(const RunTrace& in, const Column<StackId>& values) {
  return StoredIds<StackId>{&values, in.base.stack};
}
inline StoredValues ValuesOf(const RunTrace& in, const Column<StepId>& values) {
  return StoredSteps{&values, &in.trace->steps.number};
}
template <NamedEnum E>
StoredValues ValuesOf(const RunTrace&, const Column<E>& values) {
  static_assert(sizeof(E) == 1);
  return StoredNames{reinterpret_cast<const uint8_t*>(values.stored().data()), values.same(),
                     [](uint8_t value) { return std::string_view(ToString(static_cast<E>(value))); }};
}
template <auto table, auto column>
StoredValues Values(const RunTrace& trace) {
  return ValuesOf(trace, trace.trace.get()->*table.*column);
}
template <int64_t IdBase::*first>
StoredValues IdValues(const RunTrace& trace) {
  return StoredRange{trace.base.*first};
}
template <auto table, auto column>
StoredValues TimeValues(const RunTrace& trace) {
  return StoredTimes{&(trace.trace.get()->*table.*column), trace.ts_shift_ns};
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

// A column whose cells have values of T.
template <class T>
consteval SqlColumn SqlColumnOf(std::string_view name, std::string_view unit, std::string_view help,
                                SqlValue (*get)(const SqlRow&) = NoCell,
                                StoredValues (*stored)(const RunTrace&) = nullptr) {
  return {name, ColumnTypeOf<T>(), unit, help, get, stored};
}

// The two columns that nearly every table starts with.
inline constexpr SqlColumn kTraceKey = SqlColumnOf<int64_t>(
    TraceKey().text.name, "", TraceKey().text.help, [](const SqlRow& at) { return SqlValue::Int(at.trace->index); },
    [](const RunTrace& trace) -> StoredValues { return StoredSame{trace.index}; });
inline constexpr SqlColumn kRankKey = SqlColumnOf<int64_t>(
    RankKey().text.name, "", RankKey().text.help, [](const SqlRow& at) { return SqlValue::Int(at.trace->rank()); },
    [](const RunTrace& trace) -> StoredValues { return StoredSame{trace.rank()}; });

// A computed column, by its name in the list, and the function that reads its cell.
struct ComputedCell {
  std::string_view name;
  SqlValue (*get)(const SqlRow& at);
};
inline constexpr std::array<ComputedCell, 0> kNoCells{};

template <auto table>
using TableIn = std::decay_t<decltype(std::declval<Trace>().*table)>;

template <int64_t IdBase::*first_id>
constexpr SqlColumn ColumnOfCell(const ColumnText& text, std::span<const ComputedCell> cells) {
  if (text.name == kTraceKey.name) return kTraceKey;
  if (text.name == kRankKey.name) return kRankKey;
  SqlColumn column{text.name, text.type, text.unit, text.help};
  if constexpr (first_id != nullptr)
    if (text.name == RowKey().text.name) {
      column.get = IdCell<first_id>;
      column.stored = IdValues<first_id>;
    }
  for (const ComputedCell& cell : cells)
    if (cell.name == text.name) column.get = cell.get, column.stored = nullptr;
  if (column.get == nullptr) throw "a computed column has no cell";
  return column;
}

template <auto table, int64_t IdBase::*first_id, auto member, size_t line>
constexpr SqlColumn ColumnOfLine(std::span<const ComputedCell> cells) {
  constexpr ColumnText kText = TableIn<table>::kColumns.text[line];
  if constexpr (kText.shown_as == ShownAs::kComputed) {
    return ColumnOfCell<first_id>(kText, cells);
  } else if constexpr (kText.shown_as == ShownAs::kUnfilled) {
    return {kText.name, kText.type, kText.unit, kText.help, NoCell};
  } else if constexpr (kText.shown_as == ShownAs::kTime) {
    return SqlColumnOf<int64_t>(kText.name, kText.unit, kText.help, TimeCell<table, member>, TimeValues<table, member>);
  } else if constexpr (kText.shown_as == ShownAs::kValue) {
    using T = typename std::decay_t<decltype(std::declval<TableIn<table>>().*member)>::value_type;
    return SqlColumnOf<T>(kText.name, kText.unit, kText.help, Cell<table, member>, Values<table, member>);
  } else {
    return {};  // hidden
  }
}

// Returns the columns that SQL shows, in the order of the list. A computed column without a cell, and a cell without a
// column, do not compile.
template <auto table, int64_t IdBase::*first_id, size_t shown, auto... members>
consteval std::array<SqlColumn, shown> ColumnsOf(const ColumnList<members...>& list,
                                                 std::span<const ComputedCell> cells) {
  const auto all = [&]<size_t... line>(std::index_sequence<line...>) {
    return std::array{ColumnOfLine<table, first_id, members, line>(cells)...};
  }(std::make_index_sequence<sizeof...(members)>());
  for (const ComputedCell& cell : cells)
    if (std::ranges::find(list.text, cell.name, &ColumnText::name) == list.text.end())
      throw "the list has no computed column of this name";
  std::array<SqlColumn, shown> columns;
  std::ranges::copy_if(all, columns.begin(), [](const SqlColumn& column) { return !column.name.empty(); });
  return columns;
}

template <auto table>
inline constexpr size_t kShownColumns = static_cast<size_t>(std::ranges::count_if(
    TableIn<table>::kColumns.text, [](const ColumnText& text) { return text.shown_as != ShownAs::kHidden; }));

template <auto table, int64_t IdBase::*first_id, const auto& cells>
inline constexpr auto kColumnsOf = ColumnsOf<table, first_id, kShownColumns<table>>(TableIn<table>::kColumns, cells);

// The SQL table of a trace's `table`. Its rows have ids if there is a base for them, and are sorted by ts_ns if they
// have that.
template <auto table, int64_t IdBase::*first_id = nullptr, const auto& cells = kNoCells>
inline constexpr SqlTable kStored = [] {
  SqlTable stored{.name = TableIn<table>::kAbout.name,
                  .help = TableIn<table>::kAbout.help,
                  .columns = kColumnsOf<table, first_id, cells>,
                  .rows = RowsOf<table>};
  if constexpr (first_id != nullptr) stored.first_id = FirstIdOf<first_id>;
  if constexpr (requires { &TableIn<table>::ts_ns; }) stored.ts = TimesOf<table, &TableIn<table>::ts_ns>;
  return stored;
}();

}  // namespace gapless::internal
