// SPDX-License-Identifier: Apache-2.0
// Implements migrations: each version is a list of SQL statements with placeholders for the database's dialect, applied
// in one transaction. A history of a newer gapless is refused.
//
// The tables: a run has metrics (one per name, numbered in the order given); a metric may have samples, packed into one
// cell; verdicts are added to a run later; advice stands alone. `benchmarks` is a view with a column per common metric,
// for tools that know SQL only. gapless_schema has a row per version that was applied.
#include "store/migrations.h"

#include <utility>

#include "base/strings.h"
#include "base/timestamp.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kRunsAndMetrics[] = {
    R"(CREATE TABLE run (
  id {id},
  uid TEXT NOT NULL UNIQUE,
  recorded_at_ns {int} NOT NULL,
  commit_sha TEXT,
  branch TEXT,
  dirty {int},
  author_time_ns {int},
  benchmark TEXT,
  command TEXT,
  host TEXT,
  fingerprint TEXT,
  gpu_type TEXT,
  num_gpus {int},
  batch_size {int},
  framework TEXT,
  driver TEXT,
  environment TEXT,
  source TEXT))",
    "CREATE INDEX run_by_time ON run (recorded_at_ns, id)",
    "CREATE INDEX run_by_branch ON run (branch, recorded_at_ns)",
    R"(CREATE TABLE metric (
  run {int} NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  ordinal {int} NOT NULL,
  name TEXT NOT NULL,
  value {real} NOT NULL,
  unit TEXT,
  higher_is_better {int},
  PRIMARY KEY (run, ordinal),
  UNIQUE (run, name)))",
    R"(CREATE TABLE sample (
  run {int} NOT NULL,
  metric {int} NOT NULL,
  sampling TEXT,
  count {int} NOT NULL,
  content {bytes} NOT NULL,
  PRIMARY KEY (run, metric),
  FOREIGN KEY (run, metric) REFERENCES metric (run, ordinal) ON DELETE CASCADE))",
};

constexpr std::string_view kVerdicts[] = {
    R"(CREATE TABLE verdict (
  id {id},
  run {int} NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  recorded_at_ns {int} NOT NULL,
  metric TEXT NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT,
  UNIQUE (run, recorded_at_ns, metric, kind)))",
};

constexpr std::string_view kBenchmarksView[] = {
    R"(CREATE VIEW benchmarks AS SELECT
  id,
  {timestamp} AS timestamp,
  commit_sha,
  branch,
  (SELECT value FROM metric WHERE metric.run = run.id AND name = 'samples_per_second') AS samples_per_second,
  (SELECT value FROM metric WHERE metric.run = run.id AND name = 'gpu_utilization') AS gpu_utilization,
  (SELECT value FROM metric WHERE metric.run = run.id AND name = 'memory_usage_gb') AS memory_usage_gb,
  (SELECT value FROM metric WHERE metric.run = run.id AND name = 'step_time_ms') AS step_time_ms,
  gpu_type,
  num_gpus,
  batch_size
FROM run)",
};

constexpr std::string_view kAdvice[] = {
    R"(CREATE TABLE advice (
  id {id},
  uid TEXT NOT NULL UNIQUE,
  recorded_at_ns {int} NOT NULL,
  what TEXT NOT NULL,
  kind TEXT NOT NULL,
  recording TEXT,
  measured {real} NOT NULL,
  low {real} NOT NULL,
  expected {real} NOT NULL,
  high {real} NOT NULL,
  source TEXT))",
};

constexpr std::string_view kLedger[] = {"ALTER TABLE run ADD COLUMN ledger TEXT"};

constexpr Migration kMigrations[] = {
    {"runs, their metrics and samples", kRunsAndMetrics},
    {"verdicts", kVerdicts},
    {"the view benchmarks", kBenchmarksView},
    {"tested advice", kAdvice},
    {"the ledger of a run's step", kLedger},
};

Result<void> Do(Connection& connection, const std::string& sql, std::span<const SqlCell> parameters = {}) {
  auto done = connection.Run(sql, parameters);
  return done ? Result<void>() : Unexpected{done.error()};
}

Unexpected FromTheFuture(int64_t version) {
  return FromAnotherVersion("the schema of this history", version, static_cast<int64_t>(AllMigrations().size()), "",
                            ErrorCode::kEnvironment);
}

// Applies what is missing up to `target`, inside the transaction that is open. The version is read again here, because
// another process may have migrated while this one waited for the lock.
Result<void> ApplyFrom(Connection& connection, int64_t target) {
  GAPLESS_ASSIGN(const auto version, SchemaVersion(connection));
  const std::span<const Migration> all = AllMigrations();
  if (version > static_cast<int64_t>(all.size())) return FromTheFuture(version);
  if (version == 0) {
    GAPLESS_TRY(Do(connection, InDialect("CREATE TABLE gapless_schema (version {int} PRIMARY KEY, applied_at_ns {int} "
                                         "NOT NULL, program TEXT NOT NULL)",
                                         connection.dialect())));
  }
  for (int64_t next = version; next < target; ++next) {
    for (const std::string_view statement : all[static_cast<size_t>(next)].statements)
      GAPLESS_TRY(Do(connection, InDialect(statement, connection.dialect())));
    const SqlCell row[] = {next + 1, UnixTimeNs(), std::string(GAPLESS_VERSION)};
    GAPLESS_TRY(Do(connection, "INSERT INTO gapless_schema VALUES ($1, $2, $3)", row));
  }
  return {};
}

}  // namespace

std::span<const Migration> AllMigrations() { return kMigrations; }

std::string InDialect(std::string_view statement, const Dialect& dialect) {
  const std::pair<std::string_view, std::string_view> words[] = {{"{id}", dialect.id},
                                                                 {"{int}", dialect.integer},
                                                                 {"{real}", dialect.real},
                                                                 {"{bytes}", dialect.bytes},
                                                                 {"{timestamp}", dialect.timestamp}};
  std::string out;
  while (!statement.empty()) {
    const size_t brace = std::min(statement.find('{'), statement.size());
    out += statement.substr(0, brace);
    statement.remove_prefix(brace);
    for (const auto& [word, meaning] : words) {
      if (!statement.starts_with(word)) continue;
      out += meaning;
      statement.remove_prefix(word.size());
      break;
    }
  }
  return out;
}

Result<int64_t> SchemaVersion(Connection& connection) {
  const SqlCell name[] = {std::string("gapless_schema")};
  GAPLESS_ASSIGN(const auto there, connection.Run(std::string(connection.dialect().table_exists), name));
  if (there.empty()) return int64_t{0};
  GAPLESS_ASSIGN(const auto newest, connection.Run("SELECT max(version) FROM gapless_schema", {}));
  return newest.empty() ? int64_t{0} : newest.front().Int(0).value_or(0);
}

Result<void> Migrate(Connection& connection, int64_t target) {
  GAPLESS_ASSIGN(const auto version, SchemaVersion(connection));
  const auto newest = static_cast<int64_t>(AllMigrations().size());
  if (version > newest) return FromTheFuture(version);
  // Checked before any lock is taken: the usual case is a history that is up to date.
  if (version >= target) return {};
  GAPLESS_TRY(connection.Begin(Purpose::kMigrate));
  auto done = ApplyFrom(connection, std::min(target, newest));
  if (done) done = connection.Commit();
  if (!done) connection.Rollback();
  return done;
}

}  // namespace gapless::internal
