// SPDX-License-Identifier: Apache-2.0
#include "predict/job.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyses/collective_match.h"

namespace gapless::internal {
namespace {

struct Member {
  uint32_t rank = 0, op = 0;
  int64_t transfer_ns = 0;
};
// By the name of the group and the place in it.
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
  std::erase_if(members, [](const auto& one) { return one.second.size() < 2; });
  return members;
}

int64_t OpEnd(const RunTrace& of, uint32_t op) { return of.trace->gpu_ops.ts_ns[op] + of.trace->gpu_ops.dur_ns[op]; }

int64_t Middle(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How far each rank's clock is ahead of the first one's: collectives end at once. kAbsent: it meets none of those whose
// clock is known.
std::vector<int64_t> ClockOffsets(std::span<const RunTrace* const> traces, const Members& members) {
  std::vector<int64_t> offsets(traces.size(), kAbsent);
  for (uint32_t rank = 0; rank < traces.size(); ++rank) {
    std::vector<int64_t> seen;
    for (const auto& [place, group] : members) {
      const auto self = std::find_if(group.begin(), group.end(), [&](const Member& one) { return one.rank == rank; });
      const auto other =
          std::find_if(group.begin(), group.end(), [&](const Member& one) { return offsets[one.rank] != kAbsent; });
      if (self != group.end() && other != group.end())
        seen.push_back(OpEnd(*traces[rank], self->op) - OpEnd(*traces[other->rank], other->op) + offsets[other->rank]);
    }
    if (!seen.empty())
      offsets[rank] = Middle(seen);
    else if (rank == 0)
      offsets[rank] = 0;
  }
  return offsets;
}

RankGraph BuildRank(const RunTrace& of, const GraphRules& rules) {
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

void Join(const Members& members, const std::vector<uint32_t>& place, Job& job) {
  for (RankGraph& rank : job.ranks) rank.meeting_at.assign(rank.graph.size(), kNoRowValue);
  for (const auto& [key, group] : members) {
    Meeting meeting;
    for (const Member& one : group) {
      if (place[one.rank] == kNoRowValue) continue;
      RankGraph& rank = job.ranks[place[one.rank]];
      rank.edge_ns[rank.graph.OpEdge(one.op)] = one.transfer_ns;
      rank.meeting_at[rank.graph.op_end[one.op]] = static_cast<uint32_t>(job.meetings.size());
      meeting.begins.emplace_back(place[one.rank], rank.graph.op_begin[one.op]);
    }
    job.meetings.push_back(std::move(meeting));
  }
}

// One rank on its way through its instants.
struct Walk {
  std::span<const int64_t> edge_ns;
  std::vector<int64_t> times{};
  Instant next = 0;
};

class JobReplay {
 public:
  JobReplay(const Job& job, std::span<const std::vector<int64_t>> edge_ns) : job_(job) {
    for (size_t rank = 0; rank < job.ranks.size(); ++rank)
      walks_.push_back({.edge_ns = edge_ns[rank], .times = std::vector<int64_t>(job.ranks[rank].graph.size())});
  }

  // Every rank goes on until it comes to the end of a collective that another one has not begun; then the others do.
  std::vector<std::vector<int64_t>> Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t rank = 0; rank < walks_.size(); ++rank) moved = Advance(rank) || moved;
    }
    std::vector<std::vector<int64_t>> times;
    for (size_t rank = 0; rank < walks_.size(); ++rank) {
      if (walks_[rank].next < job_.ranks[rank].graph.size()) return {};
      times.push_back(std::move(walks_[rank].times));
    }
    return times;
  }

 private:
  bool Advance(uint32_t rank) {
    const RankGraph& of = job_.ranks[rank];
    Walk& walk = walks_[rank];
    const Instant from = walk.next;
    for (; walk.next < of.graph.size(); ++walk.next) {
      int64_t time = TimeOf(of.graph, walk.next, walk.times, walk.edge_ns);
      const uint32_t meeting = of.meeting_at.empty() ? kNoRowValue : of.meeting_at[walk.next];
      if (meeting != kNoRowValue) {
        const int64_t all_there = AllThere(job_.meetings[meeting]);
        if (all_there == kAbsent) break;
        time = std::max(time, all_there + of.offset_ns + walk.edge_ns[of.graph.first_edge[walk.next]]);
      }
      walk.times[walk.next] = time;
    }
    return walk.next > from;
  }

  // When the last one begins it, in common time; kAbsent: some have not come so far.
  int64_t AllThere(const Meeting& meeting) const {
    int64_t latest = INT64_MIN;
    for (const auto& [rank, begin] : meeting.begins) {
      if (walks_[rank].next <= begin) return kAbsent;
      latest = std::max(latest, walks_[rank].times[begin] - job_.ranks[rank].offset_ns);
    }
    return latest;
  }

  const Job& job_;
  std::vector<Walk> walks_{};
};

}  // namespace

Job BuildJob(std::span<const RunTrace* const> traces, const GraphRules& rules) {
  const Members members = traces.size() > 1 ? FindMembers(traces) : Members();
  const std::vector<int64_t> offsets = ClockOffsets(traces, members);
  Job job;
  std::vector<uint32_t> place(traces.size(), kNoRowValue);
  for (uint32_t rank = 0; rank < traces.size(); ++rank) {
    if (offsets[rank] == kAbsent) continue;
    place[rank] = static_cast<uint32_t>(job.ranks.size());
    job.ranks.push_back(BuildRank(*traces[rank], rules));
    job.ranks.back().offset_ns = offsets[rank];
  }
  if (job.ranks.size() > 1) Join(members, place, job);
  return job;
}

std::vector<std::vector<int64_t>> ReplayJob(const Job& job, std::span<const std::vector<int64_t>> edge_ns) {
  return JobReplay(job, edge_ns).Run();
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
