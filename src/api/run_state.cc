// SPDX-License-Identifier: Apache-2.0
// Implements the pool of databases behind Run::Query(). Opening an SQLite connection registers all virtual tables, so a
// connection is kept after its query and given to the next one. There are as many as queries ran at the same time.
#include "api/run_state.h"

namespace gapless::internal {

// Takes an idle database, or opens one outside the lock, so that no query waits for another to open its own.
Result<Database> RunState::TakeDatabase() const {
  {
    const std::lock_guard lock(databases_mutex_);
    if (!databases_.empty()) {
      Database last = std::move(databases_.back());
      databases_.pop_back();
      return last;
    }
  }
  return Database::Open(analysis.run(), analysis.tables(), stop.get());
}

Result<void> RunState::Query(std::string_view sql, RowSink& sink) const {
  Result<Database> database = TakeDatabase();
  GAPLESS_TRY(database);
  // If the sink throws, the database is destroyed with its running statement instead of returned to the pool.
  Result<void> done = database->Query(sql, sink);
  const std::lock_guard lock(databases_mutex_);
  databases_.push_back(std::move(*database));
  return done;
}

}  // namespace gapless::internal
