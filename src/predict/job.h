// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, replayed together: one graph each, and the collectives in which they meet.
//
// Nobody leaves a collective before the last one has come, so that on each rank it ends when the last of them has begun
// it plus the time of the transfer. What the others waited follows from that and is not replayed. The ranks' clocks are
// brought together by the collectives, too: they end on all ranks at once.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "predict/graph.h"
#include "predict/recording_cost.h"
#include "predict/step_time.h"
#include "trace/run.h"

namespace gapless::internal {

// The instant of a rank at which its operation of a collective begins or ends.
struct Stop {
  Instant at = 0;
  uint32_t meeting = 0;  // row of Job::meeting_sizes
  bool is_end = false;
};

struct RankGraph {
  const RunTrace* of = nullptr;
  Graph graph{};
  StepSpan span;
  int64_t offset_ns = 0;                 // offset of the rank's clock: common time = rank's time − offset
  std::vector<int64_t> edge_ns{};        // what edges take; of collectives that others take part in the transfer alone
  std::vector<RecordedEdge> recorded{};  // what recording took of edge_ns
  std::vector<Stop> stops{};             // sorted by instant
};

struct Job {
  std::vector<RankGraph> ranks{};
  std::vector<uint32_t> meeting_sizes{};  // by collective: operations that take part in it, over all ranks
};

// Builds the job of one recording, or of all ranks that took part in the same collectives as the first; other ranks are
// left out. Builds the graphs in parallel if there is a pool.
Job BuildJob(std::span<const RunTrace* const> traces, const GraphRules& rules = {}, ThreadPool* pool = nullptr);

// The times of all instants, by rank, each on its own clock; `edge_ns` by rank. Empty: the collectives contradict each
// other, as those of recordings that do not belong together do. Takes time linear in the instants and stops of all
// ranks.
std::vector<std::vector<int64_t>> ReplayJob(const Job& job, std::span<const std::vector<int64_t>> edge_ns);
std::vector<std::vector<int64_t>> ReplayJob(const Job& job);  // as recorded

// Returns the mean step of a replay with these times of edges, by rank; absent: none has a step. Memory of a replay is
// kept for the next one of the thread.
std::optional<int64_t> ReplayedStepNs(const Job& job, std::span<const std::span<const int64_t>> edge_ns);

// Replays a job of any number of ranks, each a copy of one that was recorded: `copy_of`, by place, as `edge_ns` and
// `times`, which get the times of their instants. In a collective meet all copies of those that met. Returns false if
// the collectives contradict each other.
bool ReplayCopies(const Job& job, std::span<const uint32_t> copy_of, std::span<const std::span<const int64_t>> edge_ns,
                  std::vector<std::vector<int64_t>>& times);

// Returns the durations of edges without a recorder, by rank; `times`: multiple of the expected recording cost.
std::vector<std::vector<int64_t>> BareEdges(const Job& job, double times = 1);

// The mean step of the ranks; absent: none has a step.
std::optional<int64_t> StepNs(const Job& job, std::span<const std::vector<int64_t>> times);

}  // namespace gapless::internal
