// SPDX-License-Identifier: Apache-2.0
// Opens SQLite read-only and immutable with an authoriser that allows plain reads, and reads columns by name.
//
// The file comes from elsewhere and may be made to harm: its schema may hold views, triggers and virtual tables
// that run when a table of the same name is read. They are switched off, functions in the schema are not trusted,
// cells are limited to 64 MiB, and cells' sizes are checked. A damaged page ends the reading of its table; rows
// before it are kept. A stored file costs no memory beyond SQLite's cache; a compressed one is held decompressed,
// up to 8 GiB.
#include "ingest/readers/nsys/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "base/strings.h"
#include "ingest/random_access.h"

namespace gapless::internal::nsys {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
// Steps of SQLite's virtual machine between two looks at the flag that stops reading.
constexpr int kStepsBetweenLooks = 100'000;
constexpr int kLongestCell = 64 * 1024 * 1024;

// As a URI, in which every byte that could mean something is escaped. Immutable: no locks, no journal, no -wal beside
// it.
std::string UriOf(const std::string& path) {
  constexpr std::string_view kPlain = "/._-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos)
      uri += c;
    else
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri + "?mode=ro&immutable=1";
}

// Denies everything but reads; called by SQLite when a statement is prepared.
int Authorise(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ? SQLITE_OK : SQLITE_DENY;
}

int LookAtCancel(void* context) { return static_cast<const ReadContext*>(context)->cancelled() ? 1 : 0; }

std::string Quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

}  // namespace

Result<std::unique_ptr<Database>> Database::Open(Source& source, const ReadContext& context, std::string_view hint) {
  std::unique_ptr<Database> database(new Database);
  database->context_ = &context;
  const bool stored = FileBeginsWith(source.path(), kMagic);
  const std::string name = stored ? UriOf(source.path()) : ":memory:";
  const auto refused = [&] {
    return Fail(ErrorCode::kInput, "SQLite cannot read this file", source.path(), std::string(hint));
  };
  if (sqlite3_open_v2(name.c_str(), &database->db_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK)
    return refused();
  sqlite3* db = database->db_;
  if (!stored) {
    GAPLESS_ASSIGN(database->bytes_, ReadAll(source));
    const auto size = static_cast<sqlite3_int64>(database->bytes_.size());
    if (sqlite3_deserialize(db, "main", reinterpret_cast<unsigned char*>(database->bytes_.data()), size, size,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
      return refused();
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestCell);
  sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(db, Authorise, nullptr);
  sqlite3_progress_handler(db, kStepsBetweenLooks, LookAtCancel, const_cast<ReadContext*>(&context));
  sqlite3_stmt* probe = database->Prepare("SELECT count(*) FROM sqlite_master");
  const bool readable = probe != nullptr && sqlite3_step(probe) == SQLITE_ROW;
  sqlite3_finalize(probe);
  if (!readable) return refused();
  return database;
}

Database::~Database() { sqlite3_close(db_); }

sqlite3_stmt* Database::Prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(db_, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (result == SQLITE_NOMEM) throw std::bad_alloc();
  return result == SQLITE_OK ? statement : nullptr;
}

bool Database::HoldsTable(const char* condition, std::string_view table) const {
  sqlite3_stmt* statement = Prepare(StrCat("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name ", condition,
                                           " ?1 AND sql NOT LIKE 'CREATE VIRTUAL%'"));
  if (statement == nullptr) return false;
  sqlite3_bind_text(statement, 1, table.data(), static_cast<int>(table.size()), SQLITE_STATIC);
  const bool found = sqlite3_step(statement) == SQLITE_ROW;
  sqlite3_finalize(statement);
  return found;
}

bool Database::Holds(std::string_view table) const { return HoldsTable("=", table); }
bool Database::HoldsLike(std::string_view pattern) const { return HoldsTable("GLOB", pattern); }

std::vector<std::string> Database::TablesLike(std::string_view pattern) const {
  std::vector<std::string> names;
  sqlite3_stmt* statement = Prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?1 AND sql NOT LIKE 'CREATE VIRTUAL%' "
      "ORDER BY name LIMIT 10000");
  if (statement == nullptr) return names;
  sqlite3_bind_text(statement, 1, pattern.data(), static_cast<int>(pattern.size()), SQLITE_STATIC);
  while (sqlite3_step(statement) == SQLITE_ROW)
    if (const auto* name = sqlite3_column_text(statement, 0); name != nullptr)
      names.emplace_back(reinterpret_cast<const char*>(name));
  sqlite3_finalize(statement);
  return names;
}

int64_t Database::CountRows(std::string_view table) const {
  if (!Holds(table)) return 0;
  sqlite3_stmt* statement = Prepare(StrCat("SELECT count(*) FROM ", Quoted(table)));
  if (statement == nullptr) return 0;
  const int64_t rows = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return rows;
}

std::vector<std::string> Database::ColumnsOf(std::string_view table) const {
  std::vector<std::string> columns;
  sqlite3_stmt* statement = Prepare(StrCat("SELECT * FROM ", Quoted(table), " LIMIT 0"));
  if (statement == nullptr) return columns;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) columns.emplace_back(sqlite3_column_name(statement, i));
  sqlite3_finalize(statement);
  return columns;
}

// Selects NULL for columns that the table does not have, so that readers need not know which version wrote it.
std::optional<Rows> Database::Select(std::string_view table, const std::vector<std::string_view>& columns,
                                     size_t required) {
  if (!Holds(table)) return std::nullopt;
  const std::vector<std::string> there = ColumnsOf(table);
  std::string list;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool known = std::ranges::find(there, columns[i]) != there.end();
    if (!known && i < required) return std::nullopt;
    list += StrCat(i == 0 ? "" : ", ", known ? Quoted(columns[i]) : "NULL");
  }
  sqlite3_stmt* statement = Prepare(StrCat("SELECT ", list, " FROM ", Quoted(table)));
  if (statement == nullptr) return std::nullopt;
  return Rows(*this, statement);
}

Rows::~Rows() { sqlite3_finalize(statement_); }

bool Rows::Next() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_NOMEM) throw std::bad_alloc();  // the file is not damaged
  if (result != SQLITE_DONE && database_->damage_.empty()) database_->damage_ = sqlite3_errmsg(database_->db_);
  return false;
}

bool Rows::Has(int column) const { return sqlite3_column_type(statement_, column) != SQLITE_NULL; }

int64_t Rows::Int(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement_, column) : kAbsent;
}

int32_t Rows::Int32(int column) const {
  const int64_t value = Int(column);
  return value <= INT32_MIN || value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value);
}

double Rows::Real(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(statement_, column) : kNan;
}

std::string_view Rows::Text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) return {};
  const auto* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace gapless::internal::nsys
