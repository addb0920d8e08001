// SPDX-License-Identifier: Apache-2.0
// A table of traces as a SQLite virtual table.
//
// A scan is a list of parts, one per trace: a trace and a range of its rows. A row's rowid is its id where the table
// has ids (first id of the trace + row), else trace << 32 | row; either way rowids ascend over the parts.
//
// xBestIndex offers SQLite what the layout gives for free, and xFilter cuts the parts accordingly:
//   trace = ?, rank = ?     leaves out other traces
//   id = ?, id between      one row, or a range of rows, by arithmetic
//   ts_ns between           a range of rows, by binary search (rows are sorted by ts_ns within a trace)
// Every constraint is offered without `omit`, so SQLite checks it again on the rows that remain: a bound may be wider
// than asked for (> taken as >=, a fraction rounded outwards, a text ignored) without the answer being wrong. Ordering
// by rowid is free, and so is ordering by ts_ns while only one trace is read.
#include <algorithm>
#include <array>
#include <memory>

#include "query/scan_bounds.h"
#include "query/vtab.h"

namespace gapless::internal {
namespace scan {
namespace {

// One table of a connection.
struct VTab {
  sqlite3_vtab base;  // first: SQLite sees only this
  const TraceSource* source;
  // Columns of constraints that narrow a scan. -2: the table has none (SQLite calls the rowid column -1).
  int trace_column, rank_column, id_column, time_column;
};

// One scan. `at` is the current row, `end` the end of its part.
struct Cursor {
  sqlite3_vtab_cursor base;
  const TraceSource* source;
  std::vector<Part> parts;
  size_t part = 0;
  SqlRow at;
  size_t end = 0;
};

// Returns the index of the column; -2 for a name that the table does not have.
int ColumnNumber(const SqlTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &SqlColumn::name);
  return found == table.columns.end() ? -2 : static_cast<int>(found - table.columns.begin());
}

int Connect(sqlite3* db, void* source, int, const char* const*, sqlite3_vtab** out, char**) {
  const auto* from = static_cast<const TraceSource*>(source);
  const SqlTable& table = *from->table;
  if (const int rc = sqlite3_declare_vtab(db, Declaration(table.columns).c_str()); rc != SQLITE_OK) return rc;
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  auto made = std::make_unique<VTab>();
  made->source = from;
  made->trace_column = ColumnNumber(table, "trace");
  made->rank_column = ColumnNumber(table, "rank");
  made->id_column = table.first_id ? ColumnNumber(table, "id") : -2;
  made->time_column = table.ts ? ColumnNumber(table, "ts_ns") : -2;
  *out = &made.release()->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* vtab) {
  delete reinterpret_cast<VTab*>(vtab);
  return SQLITE_OK;
}

// Returns the use of a constraint; kUses: none.
int UseOf(const VTab& vtab, int column, unsigned char op) {
  const bool is = op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
  const bool low = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
  const bool high = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
  if (is && column == vtab.trace_column) return kTrace;
  if (is && column == vtab.rank_column) return kRank;
  if (column == -1 || column == vtab.id_column) return is ? kIdIs : low ? kIdLow : high ? kIdHigh : kUses;
  if (column == vtab.time_column) return low ? kTimeLow : high ? kTimeHigh : kUses;
  return kUses;
}

// A guess at the rows that remain: it only has to rank plans.
double EstimateRows(const VTab& vtab, int plan) {
  if (plan & Bit(kIdIs)) return 1;
  auto rows = static_cast<double>(vtab.source->rows);
  const auto traces = static_cast<double>(std::max<size_t>(1, vtab.source->traces.size()));
  if (plan & (Bit(kTrace) | Bit(kRank))) rows /= traces;
  for (const int range : {kIdLow, kIdHigh, kTimeLow, kTimeHigh}) {
    if (plan & Bit(range)) rows /= 8;
  }
  return std::max(1.0, rows);
}

// Can the rows come out in the order that the query asks for?
bool ComesOrdered(const VTab& vtab, const sqlite3_index_info& info, int plan) {
  if (info.nOrderBy != 1 || info.aOrderBy[0].desc) return false;
  const int column = info.aOrderBy[0].iColumn;
  if (column == -1 || column == vtab.id_column) return true;
  return column == vtab.time_column && (vtab.source->traces.size() <= 1 || (plan & Bit(kTrace)));
}

// Takes at most one constraint per use, the first one; further ones are checked by SQLite. Arguments are numbered in
// the order of Use, which is the order in which Filter() takes them. A unique scan is promised only for `id = ?`.
int BestIndex(sqlite3_vtab* base, sqlite3_index_info* info) {
  const auto& vtab = *reinterpret_cast<VTab*>(base);
  std::array<int, kUses> constraint;
  constraint.fill(-1);
  int plan = 0;
  for (int i = 0; i < info->nConstraint; ++i) {
    if (!info->aConstraint[i].usable) continue;
    const int use = UseOf(vtab, info->aConstraint[i].iColumn, info->aConstraint[i].op);
    if (use == kUses || constraint[static_cast<size_t>(use)] >= 0) continue;
    constraint[static_cast<size_t>(use)] = i;
    plan |= Bit(use);
  }
  int arguments = 0;
  for (const int i : constraint) {
    if (i >= 0) info->aConstraintUsage[i].argvIndex = ++arguments;
  }
  const double rows = EstimateRows(vtab, plan);
  info->idxNum = plan;
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  info->estimatedCost = rows + 2;
  info->orderByConsumed = ComesOrdered(vtab, *info, plan) ? 1 : 0;
  if (plan & Bit(kIdIs)) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return SQLITE_OK;
}

int Open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<Cursor>();
  cursor->source = reinterpret_cast<VTab*>(vtab)->source;
  cursor->at.run = cursor->source->run;
  *out = &cursor.release()->base;
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// Moves the cursor to the first row of its current part; past the last part the scan is at its end.
void EnterPart(Cursor& cursor) {
  if (cursor.part == cursor.parts.size()) return;
  const Part& part = cursor.parts[cursor.part];
  cursor.at.trace = part.trace;
  cursor.at.row = part.row;
  cursor.end = part.end;
}

// Starts a scan: the values are those of the constraints that BestIndex() took. Costs a binary search per trace.
int Filter(sqlite3_vtab_cursor* base, int plan, const char*, int count, sqlite3_value** values) {
  auto& cursor = *reinterpret_cast<Cursor*>(base);
  Bounds bounds;
  int argument = 0;
  for (int use = 0; use < kUses && argument < count; ++use) {
    if (plan & Bit(use)) Narrow(use, values[argument++], bounds);
  }
  cursor.parts.clear();
  cursor.part = 0;
  for (const RunTrace* trace : cursor.source->traces) {
    const Part part = Cut(*cursor.source->table, *trace, bounds);
    if (part.row < part.end) cursor.parts.push_back(part);
  }
  EnterPart(cursor);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  auto& cursor = *reinterpret_cast<Cursor*>(base);
  if (++cursor.at.row < cursor.end) return SQLITE_OK;
  ++cursor.part;
  EnterPart(cursor);
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  return cursor.part == cursor.parts.size() ? 1 : 0;
}

int ReadColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  SetResult(context, cursor.source->table->columns[static_cast<size_t>(column)].get(cursor.at));
  return SQLITE_OK;
}

int RowIdOf(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  const auto& cursor = *reinterpret_cast<Cursor*>(base);
  *out = FirstRowId(*cursor.source->table, *cursor.at.trace) + static_cast<int64_t>(cursor.at.row);
  return SQLITE_OK;
}

// Without xCreate the module is a table of its own name ("eponymous"): nothing has to be created first.
constexpr sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xConnect = Guarded<Connect>::Call;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
  module.xOpen = Guarded<Open>::Call;
  module.xClose = Close;
  module.xFilter = Guarded<Filter>::Call;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = Guarded<ReadColumn>::Call;
  module.xRowid = RowIdOf;
  return module;
}();

}  // namespace
}  // namespace scan

// SQLITE_STATIC: texts live in the traces or in the table of an analysis, both of which outlive the statement.
void SetResult(sqlite3_context* context, const SqlValue& value) {
  switch (value.kind) {
    case SqlValue::Kind::kNull: return sqlite3_result_null(context);
    case SqlValue::Kind::kInt: return sqlite3_result_int64(context, value.integer);
    case SqlValue::Kind::kReal: return sqlite3_result_double(context, value.real);
    case SqlValue::Kind::kText:
      return sqlite3_result_text64(context, value.text.data(), value.text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
}

const sqlite3_module* TraceModule() { return &scan::kModule; }

}  // namespace gapless::internal
