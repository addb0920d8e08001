// SPDX-License-Identifier: Apache-2.0
// A history in one file, which many processes may write at a time.
//
// The file is in WAL mode with synchronous=FULL: a commit returns when the log is on the disk, readers never wait, and
// a process that is killed leaves nothing half written. Only one process writes at a time; the others wait up to a
// minute, asking again after pauses that grow and differ from process to process, so that a crowd does not ask in step.
// If the file system cannot share memory (some network ones), WAL is refused, and the rollback journal does the same
// slower.
//
// To read needs no right to write: a history of another user, or on a read-only file system, is opened as it is.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/stop_signal.h"
#include "base/strings.h"
#include "store/backend.h"

namespace gapless::internal::sqlite_backend {
namespace {

// Time that a statement waits for other writers, and the pauses between its attempts.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::minutes(1);
constexpr std::chrono::milliseconds kLongestWaitWhenStopped(100);  // after a signal to stop
constexpr int kFirstPauseUs = 500, kLongestPauseUs = 20'000;
constexpr int kLongestCell = 1 << 30;

constexpr Dialect kDialect = {
    .id = "INTEGER PRIMARY KEY AUTOINCREMENT",
    .integer = "INTEGER",
    .real = "REAL",
    .bytes = "BLOB",
    .timestamp = "strftime('%Y-%m-%dT%H:%M:%fZ', recorded_at_ns / 1000000 / 1000.0, 'unixepoch')",
    .table_exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
};

// The start of the current wait for other processes.
struct Waiting {
  std::chrono::steady_clock::time_point since;
};

// Implements SQLite's busy handler: sleeps and returns 1 to try again, or returns 0 when a minute has passed, a tenth
// of a second once the program was told to stop. `times` is 0 at the first call of each wait. Pauses double up to 20 ms
// and are shifted by the process id.
int Wait(void* context, int times) {
  auto& waiting = *static_cast<Waiting*>(context);
  const auto now = std::chrono::steady_clock::now();
  if (times == 0) waiting.since = now;
  if (now - waiting.since > (StopSignal() == 0 ? kLongestWait : kLongestWaitWhenStopped)) return 0;
  const int pause_us = std::min(kFirstPauseUs << std::min(times, 6), kLongestPauseUs);
  const int apart_us = static_cast<int>(::getpid() * 37 % 97) * pause_us / 100;  // differs between processes
  std::this_thread::sleep_for(std::chrono::microseconds(pause_us / 2 + apart_us));
  return 1;
}

// Binds without copying: the cells outlive the statement. An empty cell stays NULL.
void Bind(sqlite3_stmt* statement, int index, const SqlCell& cell) {
  const auto size = [](const std::string& text) { return static_cast<sqlite3_uint64>(text.size()); };
  if (const auto* integer = std::get_if<int64_t>(&cell))
    sqlite3_bind_int64(statement, index, *integer);
  else if (const auto* real = std::get_if<double>(&cell))
    sqlite3_bind_double(statement, index, *real);
  else if (const auto* text = std::get_if<std::string>(&cell))
    sqlite3_bind_text64(statement, index, text->data(), size(*text), SQLITE_STATIC, SQLITE_UTF8);
  else if (const auto* bytes = std::get_if<Bytes>(&cell))
    sqlite3_bind_blob64(statement, index, bytes->content.data(), size(bytes->content), SQLITE_STATIC);
}

// Reads a cell by its own type: SQLite stores types per cell, not per column.
SqlCell CellOf(sqlite3_stmt* statement, int column) {
  const int type = sqlite3_column_type(statement, column);
  if (type == SQLITE_INTEGER) return static_cast<int64_t>(sqlite3_column_int64(statement, column));
  if (type == SQLITE_FLOAT) return sqlite3_column_double(statement, column);
  if (type == SQLITE_NULL) return {};
  const auto* start = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
  std::string content = start == nullptr ? std::string() : std::string(start, size);
  if (type == SQLITE_BLOB) return Bytes{std::move(content)};
  return content;
}

// Returns true if this user can write the file, and the files that SQLite puts beside it.
bool IsWritable(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto is_writable = [](const std::string& each) {
    return ::faccessat(AT_FDCWD, each.c_str(), W_OK, AT_EACCESS) == 0;
  };
  return is_writable(path) && is_writable(folder.empty() ? "." : folder);
}

// Returns true if the file's header says that it is in WAL mode.
bool HasWriteAheadLog(const std::string& path) {
  constexpr std::streamoff kReadVersion = 19;
  std::ifstream file(path, std::ios::binary);
  return file.seekg(kReadVersion) && file.get() == 2;
}

// Returns the name by which SQLite reads the file without locks, and without a look at other files.
std::string UriOfUnchanging(const std::string& path) {
  std::error_code error;
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path, error).lexically_normal().string())
    uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return uri + "?immutable=1";
}

class SqliteConnection : public Connection {
 public:
  explicit SqliteConnection(std::string path) : path_(std::move(path)) {}
  ~SqliteConnection() override { sqlite3_close_v2(db_); }
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  Result<void> Connect(Access access);
  const Dialect& dialect() const override { return kDialect; }
  Result<std::vector<DbRow>> Run(const std::string& sql, std::span<const SqlCell> parameters) override;
  Result<void> Begin(Purpose purpose) override {
    return Execute(purpose == Purpose::kRead ? "BEGIN" : "BEGIN IMMEDIATE");
  }
  Result<void> Commit() override { return Execute("COMMIT"); }
  void Rollback() override {
    if (sqlite3_get_autocommit(db_) == 0) (void)Execute("ROLLBACK");
  }

 private:
  Result<void> Execute(const std::string& sql) {
    auto done = Run(sql, {});
    return done ? Result<void>() : Unexpected{done.error()};
  }
  Unexpected Failure() const;
  Result<void> OpenAs(const std::string& name, int flags);
  Result<void> ConnectToForeign();
  Result<void> UseWriteAheadLog();

  std::string path_;
  sqlite3* db_ = nullptr;
  Waiting waiting_{};
};

// Translates the last error of the connection; the low byte is the primary code, as extended codes are switched on.
Unexpected SqliteConnection::Failure() const {
  const int code = sqlite3_errcode(db_) & 0xff;
  const bool is_held = code == SQLITE_BUSY || code == SQLITE_LOCKED;
  if (is_held && StopSignal() != 0) return Fail(ErrorCode::kInterrupted, "interrupted");
  if (is_held)
    return Fail(ErrorCode::kEnvironment, "another process has kept this history locked for a minute", path_,
                "look what holds it: fuser FILE");
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    return Fail(ErrorCode::kInput, StrCat("this is no history: ", sqlite3_errmsg(db_)), path_,
                "name another file, or restore this one from a copy");
  return Fail(ErrorCode::kEnvironment, StrCat("SQLite: ", sqlite3_errmsg(db_)), path_,
              code == SQLITE_FULL       ? "make room on the disk"
              : code == SQLITE_IOERR    ? "check the disk, and the limit on the size of files: ulimit -f"
              : code == SQLITE_READONLY ? "you may only read this history; --db names another one"
                                        : "");
}

// Runs one statement. Every $ of it is a parameter: the statements of the history have no other.
Result<std::vector<DbRow>> SqliteConnection::Run(const std::string& sql, std::span<const SqlCell> parameters) {
  std::string text = sql;
  std::ranges::replace(text, '$', '?');  // ?1 is the first parameter wherever it stands
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, text.c_str(), static_cast<int>(text.size()), &statement, nullptr) != SQLITE_OK)
    return Failure();
  for (size_t i = 0; i < parameters.size(); ++i) Bind(statement, static_cast<int>(i) + 1, parameters[i]);
  std::vector<DbRow> rows;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    std::vector<SqlCell> cells;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) cells.push_back(CellOf(statement, i));
    rows.emplace_back(std::move(cells));
  }
  if (code == SQLITE_DONE) {
    sqlite3_finalize(statement);
    return rows;
  }
  // Failure() must come before finalising, which overwrites the message.
  const Unexpected failure = Failure();
  sqlite3_finalize(statement);
  return failure;
}

// The change of mode fails at once where another process is changing it, whatever the busy handler would do.
Result<void> SqliteConnection::UseWriteAheadLog() {
  for (int times = 0;; ++times) {
    const auto mode = Run("PRAGMA journal_mode = WAL", {});
    if (mode) return {};
    if ((sqlite3_errcode(db_) & 0xff) != SQLITE_BUSY || Wait(&waiting_, times) == 0) return Unexpected{mode.error()};
  }
}

// Opens the file for one access. Code of its schema must not run, and nothing may write to SQLite's own tables: the
// file may come from somebody else.
Result<void> SqliteConnection::OpenAs(const std::string& name, int flags) {
  sqlite3_close_v2(std::exchange(db_, nullptr));
  if (sqlite3_open_v2(name.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr) != SQLITE_OK)
    return Fail(ErrorCode::kEnvironment,
                StrCat("cannot open the history: ", std::generic_category().message(sqlite3_system_errno(db_))), path_,
                "check that the folder exists and that you may read it; --db names another history");
  sqlite3_busy_handler(db_, Wait, &waiting_);
  sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, kLongestCell);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  return Execute("PRAGMA cell_size_check = ON");
}

// Opens a file of somebody else and creates nothing beside it: a file there that belongs to this user would keep the
// owner out. SQLite reads a log with its index as they are, and would create both if they are missing. Without a log
// the file is whole, and is read as one that does not change.
Result<void> SqliteConnection::ConnectToForeign() {
  if (!HasWriteAheadLog(path_)) return OpenAs(path_, SQLITE_OPEN_READONLY);
  std::error_code error;
  const auto logged_bytes = std::filesystem::file_size(path_ + "-wal", error);
  if (error || logged_bytes == 0) return OpenAs(UriOfUnchanging(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (std::filesystem::exists(path_ + "-shm", error)) return OpenAs(path_, SQLITE_OPEN_READONLY);
  return Fail(ErrorCode::kEnvironment, "cannot read the history without writing: its last writer was killed", path_,
              StrCat("copy the file together with ", path_, "-wal to a folder of your own, and read the copy"));
}

// A new file is its owner's; what SQLite puts beside it gets the same mode. Whoever shares one has made it so.
Result<void> SqliteConnection::Connect(Access access) {
  if (access == Access::kRead && !IsWritable(path_)) return ConnectToForeign();
  if (access == Access::kCreate) {
    std::error_code ignored;  // opening the file says what is wrong
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    if (const int made = ::open(path_.c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_RDWR, 0600); made >= 0) ::close(made);
  }
  GAPLESS_TRY(OpenAs(path_, SQLITE_OPEN_READWRITE));
  if (access != Access::kRead) GAPLESS_TRY(UseWriteAheadLog());
  for (const char* pragma : {"PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"}) GAPLESS_TRY(Execute(pragma));
  return {};
}

// Takes "sqlite:FILE", "sqlite:///FILE" or a bare path.
Result<std::unique_ptr<Connection>> Open(const std::string& url, Access access) {
  constexpr std::string_view kPrefix = "sqlite:";
  std::string path = url.substr(url.starts_with(kPrefix) ? kPrefix.size() : 0);
  if (path.starts_with("///")) path.erase(0, 2);  // sqlite:///tmp/h.db
  if (path.empty())
    return Fail(ErrorCode::kUsage, "the URL of a history in SQLite names its file", url, "--db sqlite:history.db");
  std::error_code error;  // a folder that may not be searched is no absent file: opening the file says so
  if (access != Access::kCreate && std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
    return std::unique_ptr<Connection>();
  auto connection = std::make_unique<SqliteConnection>(path);
  GAPLESS_TRY(connection->Connect(access));
  return std::unique_ptr<Connection>(std::move(connection));
}

constexpr std::string_view kPrefixes[] = {"sqlite:"};

}  // namespace

BACKEND(sqlite) = {
    .name = "sqlite", .help = "A single file, for a machine and the jobs on it", .prefixes = kPrefixes, .open = Open};

}  // namespace gapless::internal::sqlite_backend
