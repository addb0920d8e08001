// SPDX-License-Identifier: Apache-2.0
// Implements the connection: registers the tables, lets nothing but reading through, and turns SQLite's errors into
// ours.
//
// The database is in memory and stays empty. An authoriser allows what reading needs (select, read, functions,
// recursion, a few pragmas that describe tables) and denies everything else, so neither a query nor a text in a trace
// can write a file, attach a database or load code.
//
// Order matters in Open(): the modules are registered and connected before the authoriser is set, because connecting an
// eponymous virtual table counts as CREATE TABLE. A statement that never ends (a cross join, a recursion) is ended by
// the cancel flag, which SQLite's progress handler reads; there is no limit on rows or time.
#include "query/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/suggest.h"
#include "query/vtab.h"

namespace gapless::internal {

// The sources live as long as the connection: SQLite keeps bare pointers to them.
struct Database::Impl {
  sqlite3* db = nullptr;
  const std::atomic<bool>* cancel = nullptr;
  std::vector<std::unique_ptr<TraceSource>> traces;
  std::vector<std::unique_ptr<AnalysisSource>> analyses;

  ~Impl() { sqlite3_close_v2(db); }
};

namespace {

// Finds the unknown table or column in SQLite's message, and suggests similar names.
//
// SQLite reports a name without saying where it was meant to be, so the tables in question are all those whose name is
// a word of the statement. A word in a text literal or a comment counts, too: the hint is then longer than it need be.

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the distinct words of the statement, as they are written.
std::set<std::string, std::less<>> WordsOf(std::string_view sql) {
  std::set<std::string, std::less<>> words;
  for (size_t i = 0; i < sql.size();) {
    size_t end = i;
    while (end < sql.size() && IsWordCharacter(sql[end])) ++end;
    if (end > i) words.emplace(sql.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

// Returns the name after `prefix` in the message, without a table name before a dot; "" for another message.
std::string_view NameAfter(std::string_view message, std::string_view prefix) {
  const size_t at = message.find(prefix);
  if (at == std::string_view::npos) return {};
  std::string_view name = message.substr(at + prefix.size());
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// Suggests the nearest table, and always names the command that lists them.
std::string HintForTable(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SqlTableInfo& table : DescribeSqlTables()) names.push_back(table.name);
  const std::string_view nearest = Nearest(name, names);
  if (nearest.empty()) return "`gapless query --tables` lists the tables";
  return StrCat("did you mean ", nearest, "? `gapless query --tables` lists the tables");
}

// Suggests the nearest column of the tables in the statement, and lists all of their columns.
std::string HintForColumn(std::string_view name, std::string_view sql) {
  const auto words = WordsOf(sql);
  std::vector<std::string_view> columns;
  std::string tables;
  const auto all = DescribeSqlTables();
  for (const SqlTableInfo& table : all) {
    if (!words.contains(table.name) && !words.contains(StrCat("all_", table.name))) continue;
    for (const ColumnSpec& column : table.columns) columns.push_back(column.name);
    tables += StrCat(tables.empty() ? "" : "; ", table.name, " has ");
    for (size_t i = 0; i < table.columns.size(); ++i) tables += StrCat(i == 0 ? "" : ", ", table.columns[i].name);
  }
  const std::string_view nearest = Nearest(name, columns);
  if (nearest.empty()) return tables;
  return StrCat("did you mean ", nearest, "? ", tables);
}

// For "no such table: x" the table meant or where to find the list; for "no such column: x" the column meant or those
// of the tables in the statement; "" when there is nothing to say.
std::string HintForSql(std::string_view message, std::string_view sql) {
  if (const auto table = NameAfter(message, "no such table: "); !table.empty()) return HintForTable(table);
  if (const auto column = NameAfter(message, "no such column: "); !column.empty()) return HintForColumn(column, sql);
  return {};
}

constexpr int kStepsBetweenLooks = 10000;  // virtual machine steps between two looks at the cancel flag

// Decides per action while a statement is prepared. For SQLITE_FUNCTION the name is the second argument, for
// SQLITE_PRAGMA the first.
int Authorise(void*, int action, const char* first, const char* second, const char*, const char*) {
  constexpr std::array<std::string_view, 6> kPragmas = {"table_info",    "table_xinfo", "table_list",
                                                        "function_list", "module_list", "compile_options"};
  const std::string_view name = first != nullptr ? first : "";
  const std::string_view function = second != nullptr ? second : "";
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return EqualsIgnoreCase(function, "load_extension") ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return std::ranges::find(kPragmas, name) != kPragmas.end() ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

int LookAtCancel(void* cancel) { return static_cast<const std::atomic<bool>*>(cancel)->load() ? 1 : 0; }

void LookEvery(int steps, sqlite3* db, const std::atomic<bool>* cancel) {
  // const_cast: SQLite takes a void*, and LookAtCancel only reads it.
  sqlite3_progress_handler(db, steps, LookAtCancel, const_cast<std::atomic<bool>*>(cancel));
}

// Reads a cell of a result. An empty text stays a text here, as the query computed it; only cells of traces read "" as
// absent. Blobs are shown as texts.
SqlValue ValueOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return {SqlValue::Kind::kInt, sqlite3_column_int64(statement, column), 0, {}};
    case SQLITE_FLOAT: return SqlValue::Real(sqlite3_column_double(statement, column));
    case SQLITE_NULL: return SqlValue::Null();
    default: break;
  }
  const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
  return {SqlValue::Kind::kText, 0, 0, text == nullptr ? std::string_view() : std::string_view(text, size)};
}

// Translates the error of the connection (a lack of memory is thrown): a cancelled query, a statement that writes, else
// a fault of the statement with the place in it.
Unexpected Failure(sqlite3* db, std::string_view sql) {
  const int code = sqlite3_errcode(db);
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  const std::string message = sqlite3_errmsg(db);
  if (code == SQLITE_INTERRUPT) return Fail(ErrorCode::kInterrupted, "interrupted");
  if (code == SQLITE_AUTH) {
    return Fail(ErrorCode::kUsage, "this statement does more than read (" + message + ")", "",
                "a run is never changed: use SELECT, WITH or EXPLAIN");
  }
  const int offset = sqlite3_error_offset(db);
  return Fail(ErrorCode::kUsage, message, offset < 0 ? "" : StrCat("SQL:character ", offset + 1),
              HintForSql(message, sql));
}

// One prepared statement, finalised at the end of its life.
struct Statement {
  sqlite3_stmt* handle = nullptr;
  ~Statement() { sqlite3_finalize(handle); }
};

// Returns what the tables say of the columns that a statement shows as recorded; nothing of those that it computes.
std::vector<std::optional<ColumnSpec>> OriginsOf(sqlite3_stmt* statement) {
  const auto tables = DescribeSqlTables();
  std::vector<std::optional<ColumnSpec>> origins;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    std::optional<ColumnSpec>& origin = origins.emplace_back();
    const char* table = sqlite3_column_table_name(statement, i);
    const char* column = sqlite3_column_origin_name(statement, i);
    if (table == nullptr || column == nullptr) continue;
    std::string_view name = table;
    if (name.starts_with("all_")) name.remove_prefix(4);
    const auto found = std::ranges::find(tables, name, &SqlTableInfo::name);
    if (found == tables.end()) continue;
    const auto spec = std::ranges::find(found->columns, std::string_view(column), &ColumnSpec::name);
    if (spec != found->columns.end()) origin = *spec;
  }
  return origins;
}

// Runs the statement row by row. The sink gets the columns after the first step, so that a statement which fails at
// once prints no header.
Result<void> Fetch(sqlite3* db, sqlite3_stmt* statement, std::string_view sql, RowSink& sink) {
  const int columns = sqlite3_column_count(statement);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) names.emplace_back(sqlite3_column_name(statement, i));
  std::vector<SqlValue> cells(static_cast<size_t>(columns));
  bool announced = false;
  while (true) {
    const int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return Failure(db, sql);
    if (!announced) {
      sink.Columns(names);
      sink.Origins(OriginsOf(statement));
    }
    announced = true;
    if (rc == SQLITE_DONE) return {};
    for (int i = 0; i < columns; ++i) cells[static_cast<size_t>(i)] = ValueOf(statement, i);
    if (!sink.Row(cells)) return {};
  }
}

// Registers a module and makes SQLite know its table now: declaring it later would look like a CREATE TABLE to the
// authoriser.
void Connect(sqlite3* db, const std::string& table, const sqlite3_module* module, void* source) {
  if (sqlite3_create_module(db, table.c_str(), module, source) == SQLITE_NOMEM) throw std::bad_alloc();
  Statement statement;
  const std::string sql = StrCat("SELECT 1 FROM \"", table, "\"");
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement.handle, nullptr) == SQLITE_NOMEM) throw std::bad_alloc();
}

// Returns true if nothing to run follows: SQLite prepares space and comments to a null statement.
bool OnlySpaceOrComments(sqlite3* db, const char* tail) {
  Statement rest;
  return sqlite3_prepare_v2(db, tail, -1, &rest.handle, nullptr) == SQLITE_OK && rest.handle == nullptr;
}

}  // namespace

void LimitQueryMemory(int64_t bytes) { sqlite3_hard_heap_limit64(bytes); }

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

size_t ShownRows(const SqlTable& table, const Trace& trace) {
  constexpr std::string_view kWholeInSummaries[] = {"trace", "thread",      "device",    "collective",
                                                    "step",  "environment", "read_stats"};
  const bool shown = !trace.summary || std::ranges::count(kWholeInSummaries, table.name) > 0;
  return shown ? table.rows(trace) : 0;
}

Result<Database> Database::Open(const Run& run, Tables& tables, const std::atomic<bool>* cancel) {
  auto impl = std::make_unique<Impl>();
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(":memory:", &impl->db, kFlags, nullptr);
  if (opened == SQLITE_NOMEM) throw std::bad_alloc();
  if (opened != SQLITE_OK) return Fail(ErrorCode::kEnvironment, "SQLite cannot open a database in memory");
  // Registers one table over the given traces.
  const auto add_traces = [&](const SqlTable& table, const std::string& name, std::vector<const RunTrace*> traces) {
    auto source = std::make_unique<TraceSource>(TraceSource{&table, &run, std::move(traces), 0});
    for (const RunTrace* trace : source->traces) source->rows += ShownRows(table, *trace->trace);
    Connect(impl->db, name, TraceModule(), source.get());
    impl->traces.push_back(std::move(source));
  };
  std::vector<const RunTrace*> all;
  for (const RunTrace& trace : run.traces()) all.push_back(&trace);
  for (const SqlTable* table : AllSqlTables()) {
    add_traces(*table, std::string(table->name), run.primary());
    add_traces(*table, StrCat("all_", table->name), all);
  }
  for (const Analysis* analysis : AllAnalyses()) {
    auto source = std::make_unique<AnalysisSource>(AnalysisSource{analysis, &tables});
    Connect(impl->db, std::string(analysis->name), AnalysisModule(), source.get());
    impl->analyses.push_back(std::move(source));
  }
  sqlite3_set_authorizer(impl->db, Authorise, nullptr);
  if (cancel != nullptr) {
    impl->cancel = cancel;
    LookEvery(kStepsBetweenLooks, impl->db, cancel);
  }
  return Database(std::move(impl));
}

void Database::Bound(int text_bytes) {
  sqlite3_limit(impl_->db, SQLITE_LIMIT_LENGTH, text_bytes);
  sqlite3_set_authorizer(impl_->db, nullptr, nullptr);
  sqlite3_exec(impl_->db, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(impl_->db, Authorise, nullptr);
  if (impl_->cancel != nullptr) LookEvery(kStepsBetweenLooks / 100, impl_->db, impl_->cancel);
}

Result<void> Database::Query(std::string_view sql, RowSink& sink) {
  const std::string text(sql);
  Statement statement;
  const char* tail = nullptr;
  if (sqlite3_prepare_v2(impl_->db, text.c_str(), -1, &statement.handle, &tail) != SQLITE_OK) {
    return Failure(impl_->db, text);
  }
  if (statement.handle == nullptr) return Fail(ErrorCode::kUsage, "there is no SQL statement");
  if (!OnlySpaceOrComments(impl_->db, tail)) {
    return Fail(ErrorCode::kUsage, "there is more than one SQL statement", "", "run them one by one");
  }
  return Fetch(impl_->db, statement.handle, text, sink);
}

std::vector<SqlTableInfo> DescribeSqlTables() {
  std::vector<SqlTableInfo> tables;
  for (const SqlTable* table : AllSqlTables()) {
    SqlTableInfo info{table->name, table->help, false, {}};
    for (const SqlColumn& column : table->columns)
      info.columns.push_back({column.name, column.type, column.unit, column.help});
    tables.push_back(std::move(info));
  }
  for (const Analysis* analysis : AllAnalyses()) {
    tables.push_back({analysis->name, analysis->help, true, {analysis->columns.begin(), analysis->columns.end()}});
  }
  return tables;
}

}  // namespace gapless::internal
