// SPDX-License-Identifier: Apache-2.0
// The tables of the history, version by version: one list of statements for every database.
//
// A migration that was released is never changed; a new version is a new entry at the end. Opening a database applies
// what it lacks in one transaction, during which no other process migrates: it has all of the new tables or none.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/backend.h"

namespace gapless::internal {

struct Migration {
  std::string_view what;                         // one line
  std::span<const std::string_view> statements;  // with the words of Dialect in braces
};
// The first makes version 1.
std::span<const Migration> AllMigrations();

// The oldest schema that is read where this user may not bring it up to date, and the oldest in which a run has a
// ledger.
inline constexpr int64_t kReadableSince = 4, kLedgerSince = 5;

// The version the database has; 0: it holds no history yet.
Result<int64_t> SchemaVersion(Connection& connection);
// Brings the database to the version `target`, at most the newest. A database that is newer than this program is an
// error of the environment, and is not touched.
Result<void> Migrate(Connection& connection, int64_t target = static_cast<int64_t>(AllMigrations().size()));

// The statement with the words in braces replaced.
std::string InDialect(std::string_view statement, const Dialect& dialect);

}  // namespace gapless::internal
