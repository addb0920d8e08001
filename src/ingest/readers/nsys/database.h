// SPDX-License-Identifier: Apache-2.0
// Reading an untrusted SQLite file: plain tables and their columns, nothing else. Views, triggers and virtual tables in
// it are never run, and nothing is ever written, not even beside the file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/reader.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gapless::internal::nsys {

class Rows;

// A Database is one opened SQLite file. For one thread; its rows must not outlive it, nor it the context.
class Database {
 public:
  // A stored file is read in place; what comes compressed or out of an archive is held in memory. `hint` is what to do
  // about a file that cannot be read.
  static Result<std::unique_ptr<Database>> Open(Source& source, const ReadContext& context,
                                                std::string_view hint = "export it again: nsys export");
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Is it read in place? Then the file may be opened once more, for another thread.
  bool in_place() const { return bytes_.empty(); }
  bool Holds(std::string_view table) const;
  bool HoldsLike(std::string_view pattern) const;  // a table by a pattern as GLOB has them: "rocpd_*"
  // The names of the tables of a pattern, sorted; at most 10,000.
  std::vector<std::string> TablesLike(std::string_view pattern) const;
  // Number of rows; 0 when there is no such table.
  int64_t CountRows(std::string_view table) const;
  // The rows of a table, with these columns in this order. A column that this table does not have is always absent,
  // except that of the first `required` ones all must be there: otherwise, and without such a table, nullopt.
  std::optional<Rows> Select(std::string_view table, const std::vector<std::string_view>& columns, size_t required);

  // Was something met that cannot be read?
  const std::string& damage() const { return damage_; }

 private:
  friend class Rows;
  bool HoldsTable(const char* condition, std::string_view table) const;
  Database() = default;
  std::vector<std::string> ColumnsOf(std::string_view table) const;
  sqlite3_stmt* Prepare(const std::string& sql) const;

  sqlite3* db_ = nullptr;
  std::string bytes_;  // content of a database in memory
  const ReadContext* context_ = nullptr;
  std::string damage_;
};

// One pass over a table.
class Rows {
 public:
  Rows(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  ~Rows();
  Rows(Rows&& other) noexcept : database_(other.database_), statement_(other.statement_) { other.statement_ = nullptr; }
  Rows& operator=(Rows&&) = delete;

  // False at the end, and where the file is damaged (Database::damage says so).
  bool Next();
  bool Has(int column) const;
  int64_t Int(int column) const;            // kAbsent when it is absent or no number
  int32_t Int32(int column) const;          // kAbsent32, also when it does not fit
  double Real(int column) const;            // NaN when absent
  std::string_view Text(int column) const;  // "" when absent; good until Next()

 private:
  Database* database_;
  sqlite3_stmt* statement_;
};

}  // namespace gapless::internal::nsys
