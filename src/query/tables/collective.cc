// SPDX-License-Identifier: Apache-2.0
// SQL table collective: one row per kernel of a collective, or per call where collectives run on the host. Its columns
// match_id, algo_gbps and bus_gbps are computed.
//
// A match_id joins the rows of one collective over all ranks. Finding it needs the collectives of the whole run, which
// are matched once per run and thread (analyses/collective_match.h). Both bandwidths are in GB/s and NULL if size or
// duration is unknown.
#include <memory>
#include <vector>

#include "analyses/bandwidth.h"
#include "analyses/collective_match.h"
#include "base/strings.h"
#include "query/cells.h"

namespace gapless::internal::collective_sqltable {
namespace {

// Keeps the matches of the run that was asked for last: matching looks at the whole run, but cells are read one at a
// time. The key of this cache is the run's traces, held as weak_ptr so that a reused address cannot match.
class Matches {
 public:
  // Returns the match of a row; null if the row's trace is a supplement or of another execution.
  const CollectiveMatch* Of(const SqlRow& at) {
    const std::vector<const RunTrace*> primary = at.run->primary();
    if (!SameTraces(primary)) Match(primary);
    for (size_t i = 0; i < primary.size(); ++i)
      if (primary[i]->index == at.trace->index) return &matches_[i][at.row];
    return nullptr;  // a supplement, or of another execution
  }

 private:
  bool SameTraces(const std::vector<const RunTrace*>& primary) const {
    if (primary.size() != traces_.size()) return false;
    for (size_t i = 0; i < primary.size(); ++i)
      if (primary[i]->trace != traces_[i].lock()) return false;
    return true;
  }
  void Match(const std::vector<const RunTrace*>& primary) {
    traces_.clear();
    for (const RunTrace* run_trace : primary) traces_.emplace_back(run_trace->trace);
    matches_ = MatchCollectives(primary);
  }

  std::vector<std::weak_ptr<const Trace>> traces_;
  CollectiveMatches matches_;
};

// The same collective has the same number on every rank: a hash of its group, kind and place in the group. Without a
// recorded group it has one only where other ranks have it, too.
SqlValue MatchId(const SqlRow& at) {
  thread_local Matches matches;
  const CollectiveTable& table = at.trace->trace->collectives;
  const CollectiveMatch* match = matches.Of(at);
  const std::string_view group = at.trace->trace->Text(table.group[at.row]);
  if (match == nullptr || match->ordinal == kAbsent || (group.empty() && match->ranks < 2)) return SqlValue::Null();
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  };
  mix(group);
  mix("/");
  mix(at.trace->trace->Text(table.kind[at.row]));
  // Collectives on the host are counted apart from those on devices.
  mix(StrCat(table.device[at.row] == kAbsent32 ? "/host/" : "/", match->ordinal));
  // The shift keeps the number positive.
  return SqlValue::Int(static_cast<int64_t>(hash >> 1));
}

SqlValue AlgoGbps(const SqlRow& at) {
  const CollectiveTable& table = at.trace->trace->collectives;
  return SqlValue::Real(AlgorithmBandwidthGbps(table.bytes[at.row], table.dur_ns[at.row]));
}

SqlValue BusGbps(const SqlRow& at) {
  const CollectiveTable& table = at.trace->trace->collectives;
  const double factor = BusFactor(at.trace->trace->Text(table.kind[at.row]), table.group_size[at.row]);
  return SqlValue::Real(factor * AlgorithmBandwidthGbps(table.bytes[at.row], table.dur_ns[at.row]));
}

constexpr ComputedCell kCells[] = {{"match_id", MatchId}, {"algo_gbps", AlgoGbps}, {"bus_gbps", BusGbps}};

}  // namespace

SQL_TABLE(collective) = kStored<&Trace::collectives, &IdBase::collective, kCells>;

}  // namespace gapless::internal::collective_sqltable
