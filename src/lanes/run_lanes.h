// SPDX-License-Identifier: Apache-2.0
// The timeline of a run: its lanes, and tiles of them. Pure: the same run gives the same. The first question makes the
// index, on as many threads as the tables may use; later ones take time by what they show. Safe from several threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/once_flag.h"
#include "lanes/timeline.h"
#include "lanes/trace_lanes.h"

namespace gapless::internal {

class RunLanes {
 public:
  // Takes the primary recordings, or some of them: `only` leaves out those for which it is false. Run and tables must
  // outlive it.
  explicit RunLanes(Tables& tables, std::function<bool(const TraceTimeline&)> only = {})
      : tables_(tables), only_(std::move(only)) {}

  const Run& run() const { return tables_.run(); }
  Tables& tables() const { return tables_; }
  // In the order of the run.
  const std::vector<std::unique_ptr<TraceLanes>>& traces() const;
  // Returns the lanes of the recording with this index in the run; null: it is none of the primary ones.
  const TraceLanes* Of(int64_t trace) const;

  TimelineOverview Overview() const;
  // Returns what the lanes of these recordings hold in [at · 1024 · 2^level, (at + 1) · 1024 · 2^level). A run of
  // merged events begins in one tile and is whole in each that it reaches into. Level and place are within IsTile.
  // `shows`: leaves out lanes for which it is false.
  TimelineTile Tile(std::span<const TraceLanes* const> traces, int level, int64_t at,
                    bool (*shows)(const Lane&) = nullptr) const;
  static bool IsTile(int64_t level, int64_t at);

 private:
  Tables& tables_;
  std::function<bool(const TraceTimeline&)> only_;
  mutable OnceFlag made_;
  mutable std::vector<std::unique_ptr<TraceLanes>> traces_{};
};

}  // namespace gapless::internal
