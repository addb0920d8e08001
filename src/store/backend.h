// SPDX-License-Identifier: Apache-2.0
// A database backend of the history: the prefixes of its URLs, its connection, and its SQL dialect.
//
// To add one: write src/store/backends/<name>.cc and end it with
//   BACKEND(<name>) = {.name = "<name>", .help = "…", .prefixes = kPrefixes, .open = Open};
// Statements are written once for all, with $1, $2 … for parameters and the words of Dialect in braces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Binary content, which a backend must not take for text.
struct Bytes {
  std::string content;
  bool operator==(const Bytes&) const = default;
};
using SqlCell = std::variant<std::monostate, int64_t, double, std::string, Bytes>;  // monostate: NULL

// One row of an answer. What is NULL, or of another type than asked for, is absent.
class DbRow {
 public:
  explicit DbRow(std::vector<SqlCell> cells) : cells_(std::move(cells)) {}
  std::optional<int64_t> Int(size_t column) const { return Get<int64_t>(column); }
  std::optional<double> Real(size_t column) const { return Get<double>(column); }
  std::optional<bool> Flag(size_t column) const;
  std::string Text(size_t column) const { return Get<std::string>(column).value_or(""); }
  std::string Blob(size_t column) const { return Get<Bytes>(column).value_or(Bytes()).content; }
  const std::vector<SqlCell>& cells() const { return cells_; }

 private:
  template <class T>
  std::optional<T> Get(size_t column) const {
    const T* value = column < cells_.size() ? std::get_if<T>(&cells_[column]) : nullptr;
    return value == nullptr ? std::nullopt : std::optional<T>(*value);
  }
  std::vector<SqlCell> cells_;
};

// The texts that replace the words in braces of a statement that makes tables.
struct Dialect {
  std::string_view id, integer, real, bytes;  // types of columns; `id` is a key that the database counts up
  std::string_view timestamp;                 // run.recorded_at_ns as the database writes a point in time
  std::string_view table_exists;              // gives a row when there is a table called $1
};

enum class Purpose : uint8_t {
  kRead,    // one state of the database for the whole transaction
  kWrite,   // may wait for other writers
  kMigrate  // nobody else migrates meanwhile
};

// One connection. Used by one thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual const Dialect& dialect() const = 0;
  // Runs one statement and holds its whole answer; empty for statements that return no rows. Parameters are $1, $2 …
  virtual Result<std::vector<DbRow>> Run(const std::string& sql, std::span<const SqlCell> parameters) = 0;
  virtual Result<void> Begin(Purpose purpose) = 0;
  // When it succeeds, what was written is on the disk, whatever becomes of the machine.
  virtual Result<void> Commit() = 0;
  // Ends the open transaction, if any, without its effects; failures are ignored, as there is nothing left to undo.
  virtual void Rollback() = 0;
  // Returns true if the server is gone. It is then unknown if a failed Commit() took effect. Reconnect() starts again.
  virtual bool lost() const { return false; }
  virtual Result<void> Reconnect() { return {}; }
};

enum class Access : uint8_t {
  kRead,    // nothing is created; the database may be one that this user cannot write
  kChange,  // nothing is created
  kCreate   // a file that does not exist is created, with the folders above it
};

// One kind of database. `open` connects but neither creates nor migrates tables. It returns null if the database is a
// file that does not exist, and `access` is not kCreate.
struct Backend {
  std::string_view name;                       // equals the file name
  std::string_view help;                       // one line of at most 72 characters
  std::span<const std::string_view> prefixes;  // what its URLs begin with
  Result<std::unique_ptr<Connection>> (*open)(const std::string& url, Access access);
};

#define BACKEND(n)                  \
  extern const Backend n##_backend; \
  constinit const Backend n##_backend

std::span<const Backend* const> AllBackends();  // sorted by name; generated from the folder

// The URL without its password, for messages.
std::string WithoutPassword(std::string_view url);

}  // namespace gapless::internal
