// SPDX-License-Identifier: Apache-2.0
#include "api/run_state.h"

namespace gapless::internal {

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
  if (!database) return Unexpected{database.error()};
  Result<void> done = database->Query(sql, sink);
  const std::lock_guard lock(databases_mutex_);
  databases_.push_back(std::move(*database));
  return done;
}

}  // namespace gapless::internal
