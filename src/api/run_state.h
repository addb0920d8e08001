// SPDX-License-Identifier: Apache-2.0
// The state that all copies of a public Run, and the tables taken from it, share. Safe from several threads: the
// recordings never change, what is computed on demand is computed once, and every running query has a database of its
// own.
#pragma once

#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "flows/analysis.h"
#include "gapless/run.h"
#include "query/database.h"

namespace gapless::internal {

// A run, its analysis and the connections of its queries. Never copied or moved: tables and databases point into it.
struct RunState {
  RunState(LoadedRun loaded, const OpenOptions& options) : stop(options), analysis(std::move(loaded), options) {}
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  static const RunState& Of(const gapless::Run& of) { return *of.state_; }

  // Runs one statement. The sink may ask this run again, and may throw. From several threads at once.
  Result<void> Query(std::string_view sql, RowSink& sink) const;

  StopFlag stop;
  RunAnalysis analysis;

 private:
  // Returns a database that no other query uses until it is put back.
  Result<Database> TakeDatabase() const;

  mutable std::mutex databases_mutex_;
  // Last, so that they are closed before what they read goes.
  mutable std::vector<Database> databases_;  // open and not in use
};

}  // namespace gapless::internal
