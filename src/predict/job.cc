// SPDX-License-Identifier: Apache-2.0
// Matches collectives over ranks, aligns the ranks' clocks, and replays all ranks together. A rank stops at each
// collective until all members have reached it.
#include "predict/job.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyses/collective_match.h"
#include "base/order_statistics.h"
#include "base/timings.h"

namespace gapless::internal {
namespace {

struct Member {
  uint32_t rank = 0, op = 0;
  int64_t transfer_ns = 0;
};
// Name of the group and place in it → members.
using Members = std::map<std::pair<std::string_view, int64_t>, std::vector<Member>>;

Members FindMembers(std::span<const RunTrace* const> traces) {
  Members members;
  const CollectiveMatches matches = MatchCollectives(traces);
  for (uint32_t rank = 0; rank < traces.size(); ++rank) {
    const Trace& trace = *traces[rank]->trace;
    const CollectiveTable& collectives = trace.collectives;
    for (uint32_t row = 0; row < collectives.size(); ++row) {
      const CollectiveMatch& match = matches[rank][row];
      if (match.ranks < 2 || match.ordinal == kAbsent || !collectives.gpu_op[row].valid()) continue;
      members[{trace.Text(collectives.group[row]), match.ordinal}].push_back(
          {rank, collectives.gpu_op[row].value, match.transfer_ns});
    }
  }
  std::erase_if(members, [](const auto& item) { return item.second.size() < 2; });
  return members;
}

int64_t OpEnd(const RunTrace& of, uint32_t op) { return of.trace->gpu_ops.ts_ns[op] + of.trace->gpu_ops.dur_ns[op]; }

// A seat is a rank's operation in a collective, which is named by its row.
struct Seat {
  uint32_t meeting = 0, op = 0;
};

// Returns the seats of each rank in the order of `members`. A rank with several devices has one seat per collective.
std::vector<std::vector<Seat>> SeatsOf(const Members& members, size_t ranks) {
  std::vector<std::vector<Seat>> seats(ranks);
  uint32_t meeting = 0;
  for (const auto& [place, group] : members) {
    for (const Member& member : group)
      if (auto& of = seats[member.rank]; of.empty() || of.back().meeting != meeting) of.push_back({meeting, member.op});
    ++meeting;
  }
  return seats;
}

// Returns how far each rank's clock is ahead of the first one's: collectives end at once. kAbsent: the rank meets none
// whose clock is known. Linear in the members of all collectives: each keeps its first end on a known clock.
std::vector<int64_t> ClockOffsets(std::span<const RunTrace* const> traces, const Members& members) {
  std::vector<int64_t> offsets(traces.size(), kAbsent), common_end_ns(members.size(), kAbsent);
  const std::vector<std::vector<Seat>> seats = SeatsOf(members, traces.size());
  for (uint32_t rank = 0; rank < traces.size(); ++rank) {
    std::vector<int64_t> seen;
    for (const Seat& seat : seats[rank])
      if (common_end_ns[seat.meeting] != kAbsent)
        seen.push_back(OpEnd(*traces[rank], seat.op) - common_end_ns[seat.meeting]);
    if (!seen.empty())
      offsets[rank] = UpperMedian(seen);
    else if (rank == 0)
      offsets[rank] = 0;
    if (offsets[rank] == kAbsent) continue;
    for (const Seat& seat : seats[rank])
      if (int64_t& end_ns = common_end_ns[seat.meeting]; end_ns == kAbsent)
        end_ns = OpEnd(*traces[rank], seat.op) - offsets[rank];
  }
  return offsets;
}

RankGraph BuildRank(const RunTrace& of, const GraphRules& rules) {
  const TimedPart timed("predict", "graph");
  Graph graph = BuildGraph(*of.trace, rules);
  StepSpan span(*of.trace, graph);
  std::vector<int64_t> edge_ns = RecordedEdges(graph);
  std::vector<RecordedEdge> recorded = RecordingCost(*of.trace, graph);
  return {.of = &of,
          .graph = std::move(graph),
          .span = std::move(span),
          .edge_ns = std::move(edge_ns),
          .recorded = std::move(recorded)};
}

void AddMeetings(const Members& members, const std::vector<uint32_t>& place, Job& job) {
  for (const auto& [key, group] : members) {
    const auto meeting = static_cast<uint32_t>(job.meeting_sizes.size());
    job.meeting_sizes.push_back(0);
    for (const Member& member : group) {
      if (place[member.rank] == kNoRowValue) continue;
      RankGraph& rank = job.ranks[place[member.rank]];
      rank.edge_ns[rank.graph.OpEdge(member.op)] = member.transfer_ns;
      rank.stops.push_back({.at = rank.graph.op_begin[member.op], .meeting = meeting});
      rank.stops.push_back({.at = rank.graph.op_end[member.op], .meeting = meeting, .is_end = true});
      ++job.meeting_sizes.back();
    }
  }
  for (RankGraph& rank : job.ranks) std::ranges::stable_sort(rank.stops, {}, [](const Stop& stop) { return stop.at; });
}

// Replays all ranks. Each goes on until it comes to the end of a collective that others have not begun. The last one to
// begin it wakes those that wait, so that every instant is visited once.
class JobReplay {
 public:
  // The times of the instants go into `times`, by rank; what is in it does not matter.
  JobReplay(const Job& job, std::span<const std::span<const int64_t>> edge_ns, std::vector<std::vector<int64_t>>& times)
      : sizes_(job.meeting_sizes), gatherings_(job.meeting_sizes.size()) {
    for (const RankGraph& rank : job.ranks) ranks_.push_back(&rank);
    SetOut(edge_ns, times);
  }
  // The same of copies of ranks: the one at each place is a copy of `copy_of` there.
  JobReplay(const Job& job, std::span<const uint32_t> copy_of, std::span<const std::span<const int64_t>> edge_ns,
            std::vector<std::vector<int64_t>>& times)
      : sizes_(job.meeting_sizes.size()), gatherings_(job.meeting_sizes.size()) {
    for (const uint32_t rank : copy_of) {
      ranks_.push_back(&job.ranks[rank]);
      for (const Stop& stop : job.ranks[rank].stops) sizes_[stop.meeting] += stop.is_end ? 0 : 1;
    }
    SetOut(edge_ns, times);
  }

  // Returns false if the collectives contradict each other.
  bool Run() {
    const TimedPart timed("predict", "replay");
    for (uint32_t rank = 0; rank < walks_.size(); ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const uint32_t rank = ready_.back();
      ready_.pop_back();
      Advance(rank);
    }
    for (size_t rank = 0; rank < walks_.size(); ++rank)
      if (walks_[rank].next < ranks_[rank]->graph.size()) return false;
    return true;
  }

 private:
  // One rank on its way through its instants.
  struct Walk {
    std::span<const int64_t> edge_ns;
    std::span<int64_t> times;
    Instant next = 0;
    size_t stop = 0;  // the first one that is not passed
  };
  // The operations that have begun a collective so far.
  struct Gathering {
    uint32_t begun = 0;
    int64_t latest_ns = INT64_MIN;  // on the common clock
    std::vector<uint32_t> waiting{};
  };

  void SetOut(std::span<const std::span<const int64_t>> edge_ns, std::vector<std::vector<int64_t>>& times) {
    times.resize(ranks_.size());
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      times[rank].resize(ranks_[rank]->graph.size());
      walks_.push_back({.edge_ns = edge_ns[rank], .times = times[rank]});
    }
  }

  void Advance(uint32_t rank) {
    const RankGraph& of = *ranks_[rank];
    Walk& walk = walks_[rank];
    while (walk.next < of.graph.size()) {
      const auto until = walk.stop < of.stops.size() ? of.stops[walk.stop].at : static_cast<Instant>(of.graph.size());
      for (; walk.next < until; ++walk.next)
        walk.times[walk.next] = TimeOf(of.graph, walk.next, walk.times, walk.edge_ns);
      if (walk.next < of.graph.size() && !PassStops(rank)) return;
    }
  }

  // Returns false if the rank waits here for others.
  bool PassStops(uint32_t rank) {
    const RankGraph& of = *ranks_[rank];
    Walk& walk = walks_[rank];
    int64_t time = TimeOf(of.graph, walk.next, walk.times, walk.edge_ns);
    size_t end = walk.stop;
    for (; end < of.stops.size() && of.stops[end].at == walk.next; ++end) {
      if (!of.stops[end].is_end) continue;
      Gathering& gathering = gatherings_[of.stops[end].meeting];
      if (gathering.begun < sizes_[of.stops[end].meeting]) {
        gathering.waiting.push_back(rank);
        return false;
      }
      time = std::max(time, gathering.latest_ns + of.offset_ns + walk.edge_ns[of.graph.first_edge[walk.next]]);
    }
    walk.times[walk.next++] = time;
    for (; walk.stop < end; ++walk.stop)
      if (!of.stops[walk.stop].is_end) Begin(of.stops[walk.stop].meeting, time - of.offset_ns);
    return true;
  }

  void Begin(uint32_t meeting, int64_t common_ns) {
    Gathering& gathering = gatherings_[meeting];
    gathering.latest_ns = std::max(gathering.latest_ns, common_ns);
    if (++gathering.begun < sizes_[meeting]) return;
    ready_.insert(ready_.end(), gathering.waiting.begin(), gathering.waiting.end());
    gathering.waiting.clear();
  }

  std::vector<const RankGraph*> ranks_{};
  std::vector<uint32_t> sizes_;  // by meeting: who takes part
  std::vector<Walk> walks_{};
  std::vector<Gathering> gatherings_;
  std::vector<uint32_t> ready_{};
};

}  // namespace

Job BuildJob(std::span<const RunTrace* const> traces, const GraphRules& rules, ThreadPool* pool) {
  const Members members = traces.size() > 1 ? FindMembers(traces) : Members();
  const std::vector<int64_t> offsets = ClockOffsets(traces, members);
  Job job;
  std::vector<uint32_t> place(traces.size(), kNoRowValue), ranks;
  for (uint32_t rank = 0; rank < traces.size(); ++rank)
    if (offsets[rank] != kAbsent) place[rank] = static_cast<uint32_t>(ranks.size()), ranks.push_back(rank);
  std::vector<std::optional<RankGraph>> built(ranks.size());
  ForEach(pool, ranks.size(), [&](size_t i) { built[i] = BuildRank(*traces[ranks[i]], rules); });
  for (size_t i = 0; i < ranks.size(); ++i) {
    job.ranks.push_back(std::move(*built[i]));
    job.ranks.back().offset_ns = offsets[ranks[i]];
  }
  if (job.ranks.size() > 1) AddMeetings(members, place, job);
  return job;
}

std::vector<std::vector<int64_t>> ReplayJob(const Job& job, std::span<const std::vector<int64_t>> edge_ns) {
  std::vector<std::vector<int64_t>> times;
  const std::vector<std::span<const int64_t>> spans(edge_ns.begin(), edge_ns.end());
  if (!JobReplay(job, spans, times).Run()) times.clear();
  return times;
}

std::optional<int64_t> ReplayedStepNs(const Job& job, std::span<const std::span<const int64_t>> edge_ns) {
  thread_local std::vector<std::vector<int64_t>> times;
  return JobReplay(job, edge_ns, times).Run() ? StepNs(job, times) : std::nullopt;
}

bool ReplayCopies(const Job& job, std::span<const uint32_t> copy_of, std::span<const std::span<const int64_t>> edge_ns,
                  std::vector<std::vector<int64_t>>& times) {
  return JobReplay(job, copy_of, edge_ns, times).Run();
}

std::vector<std::vector<int64_t>> ReplayJob(const Job& job) {
  std::vector<std::vector<int64_t>> edge_ns;
  for (const RankGraph& rank : job.ranks) edge_ns.push_back(rank.edge_ns);
  return ReplayJob(job, edge_ns);
}

std::vector<std::vector<int64_t>> BareEdges(const Job& job, double times) {
  std::vector<std::vector<int64_t>> edge_ns;
  for (const RankGraph& rank : job.ranks) edge_ns.push_back(WithoutRecording(rank.edge_ns, rank.recorded, times));
  return edge_ns;
}

std::optional<int64_t> StepNs(const Job& job, std::span<const std::vector<int64_t>> times) {
  int64_t sum = 0, count = 0;
  for (size_t rank = 0; rank < job.ranks.size() && rank < times.size(); ++rank)
    if (const auto step = job.ranks[rank].span.StepNs(times[rank])) sum += *step, ++count;
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace gapless::internal
