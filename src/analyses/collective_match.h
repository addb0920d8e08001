// SPDX-License-Identifier: Apache-2.0
// Matches the collectives of all ranks with each other, and derives who came last and who waited.
//
// Recorders write neither a number that counts collectives over the job nor one that all ranks share, and ranks begin
// to record at different collectives. So the collectives of one process group (host and device apart, recorded order)
// are taken as a sequence of (kind, bytes) per rank, and each sequence is laid against the longest one where it fits
// without contradiction wherever both have something, over at least half of the shorter. Training repeats itself, so
// several places may fit: the longest overlap wins among those in which matched collectives overlap in time within what
// clocks of different hosts may be apart (kMaxClockOffsetNs). Where several fit and none does so, clocks are wrong:
// then the place wins at which the ends of collectives, which are the same moment on all ranks, are apart by the same
// time far more nearly than anywhere else. If there is no such place the sequence stays unmatched, as does one that
// fits nowhere: recordings may be samples. Without wall clocks the longest overlap wins. Point-to-point messages (send,
// recv) are not collectives of the whole group and stay out.
//
// A collective cannot end anywhere before its last rank has come, and the transfer itself takes all of them about as
// long. So the shortest duration over the ranks is taken for the transfer, the rest of each rank's duration for
// waiting, and the rank that waits least came last. None of that depends on the clocks; only `start_lag_ns` does, and
// assumes that the recorders' wall clocks agree (ranks of one host: they do).
//
// Ranks start their recorders at different moments, which delays them by different amounts; that is over after the
// first collective they all recorded. `opening` marks everything up to it, and whoever judges ranks leaves it out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/intervals.h"
#include "trace/run.h"

namespace gapless::internal {

class Tables;

// Clocks of hosts kept by NTP agree to a few milliseconds.
inline constexpr int64_t kMaxClockOffsetNs = 10'000'000;
// Ranks whose waits differ by less came together: launching alone varies by as much.
inline constexpr int64_t kArrivalNoiseNs = 10'000;

struct CollectiveMatch {
  int64_t ordinal = kAbsent;       // place in its group, the same on all ranks; kAbsent: not matched
  int32_t ranks = 0;               // recorded sequences that have it; 1: nothing to compare with
  bool opening = false;            // up to the first that all of them recorded
  bool last = false;               // came last, by more than the noise
  bool first = false;              // waited longest
  int64_t transfer_ns = kAbsent;   // shortest duration over the ranks; kAbsent: ranks < 2
  int64_t wait_ns = kAbsent;       // duration − transfer_ns
  int64_t caused_ns = 0;           // summed waiting of all other ranks for the last one to arrive
  int64_t start_lag_ns = kAbsent;  // start after the earliest start of any rank
};

// Position in `traces` → row of the trace's CollectiveTable → match.
using CollectiveMatches = std::vector<std::vector<CollectiveMatch>>;

CollectiveMatches MatchCollectives(std::span<const RunTrace* const> traces);
// Returns the matches of the primary traces, for Tables::OnceForRun.
CollectiveMatches MatchPrimary(Tables& tables);

}  // namespace gapless::internal
