// SPDX-License-Identifier: Apache-2.0
// The table of an analysis as a SQLite virtual table. The analysis runs at the first scan; planning a query costs
// nothing.
//
// A scan reads all rows in the order of the analysis. No constraint is offered, so SQLite checks them itself. The rowid
// is the row's position. An analysis that fails makes the query fail with its error, so that an empty answer always
// means that nothing was found.
#include <memory>

#include "query/vtab.h"

namespace gapless::internal {
namespace {

constexpr double kGuessedRows = 1000;  // before the analysis has run nobody knows

// SQLite refers to both structs by a pointer to their first member, so they must stay standard-layout.
struct AnalysisVTab {
  sqlite3_vtab base;
  const AnalysisSource* source;
};

struct TableCursor {
  sqlite3_vtab_cursor base;
  const Table* table = nullptr;
  size_t row = 0;
};

// Declares the columns. INNOCUOUS: the table has no effects, so that views and triggers could use it.
int DeclareColumns(sqlite3* db, void* source, int, const char* const*, sqlite3_vtab** out, char**) {
  const auto* from = static_cast<const AnalysisSource*>(source);
  if (const int rc = sqlite3_declare_vtab(db, Declaration(from->analysis->columns).c_str()); rc != SQLITE_OK) return rc;
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  auto made = std::make_unique<AnalysisVTab>();
  made->source = from;
  *out = &made.release()->base;
  return SQLITE_OK;
}

int DropTable(sqlite3_vtab* vtab) {
  delete reinterpret_cast<AnalysisVTab*>(vtab);
  return SQLITE_OK;
}

// Offers a full scan and nothing else. The cost is a guess, because the analysis must not run before it is read.
int OfferFullScan(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedRows = static_cast<sqlite3_int64>(kGuessedRows);
  info->estimatedCost = kGuessedRows;
  return SQLITE_OK;
}

int OpenScan(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = &std::make_unique<TableCursor>().release()->base;
  return SQLITE_OK;
}

int CloseScan(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<TableCursor*>(cursor);
  return SQLITE_OK;
}

// Starts a scan. Get() computes the analysis when it is first asked for, whichever connection asks.
int StartScan(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  auto& cursor = *reinterpret_cast<TableCursor*>(base);
  const AnalysisSource& source = *reinterpret_cast<AnalysisVTab*>(base->pVtab)->source;
  cursor.table = &source.tables->Get(source.analysis->name);
  cursor.row = 0;
  if (const Error* error = source.tables->ErrorOf(source.analysis->name); error != nullptr) {
    // SQLite frees the message with sqlite3_free(), so it must come from its own allocator.
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg =
        sqlite3_mprintf("analysis %s: %s", std::string(source.analysis->name).c_str(), error->message.c_str());
    return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

int NextRow(sqlite3_vtab_cursor* base) {
  ++reinterpret_cast<TableCursor*>(base)->row;
  return SQLITE_OK;
}

int IsAtEnd(sqlite3_vtab_cursor* base) {
  const auto& cursor = *reinterpret_cast<TableCursor*>(base);
  return cursor.row >= cursor.table->rows() ? 1 : 0;
}

int ReadCell(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto& cursor = *reinterpret_cast<TableCursor*>(base);
  const Table& table = *cursor.table;
  if (table.IsNull(cursor.row, column)) return SQLITE_OK;  // the result is NULL unless set
  switch (table.columns()[static_cast<size_t>(column)].type) {
    case ColumnType::kInt: SetResult(context, SqlValue::Int(table.Int(cursor.row, column))); break;
    case ColumnType::kReal: SetResult(context, SqlValue::Real(table.Real(cursor.row, column))); break;
    case ColumnType::kText: SetResult(context, SqlValue::Text(table.Text(cursor.row, column))); break;
  }
  return SQLITE_OK;
}

int RowNumberOf(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(reinterpret_cast<TableCursor*>(base)->row);
  return SQLITE_OK;
}

}  // namespace

const sqlite3_module* AnalysisModule() {
  static constexpr sqlite3_module kModule = [] {
    sqlite3_module module{};
    module.iVersion = 1;
    module.xConnect = Guarded<DeclareColumns>::Call;
    module.xBestIndex = OfferFullScan;
    module.xDisconnect = DropTable;
    module.xDestroy = DropTable;
    module.xOpen = Guarded<OpenScan>::Call;
    module.xClose = CloseScan;
    module.xFilter = Guarded<StartScan>::Call;
    module.xNext = NextRow;
    module.xEof = IsAtEnd;
    module.xColumn = Guarded<ReadCell>::Call;
    module.xRowid = RowNumberOf;
    return module;
  }();
  return &kModule;
}

}  // namespace gapless::internal
