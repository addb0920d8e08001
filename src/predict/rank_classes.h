// SPDX-License-Identifier: Apache-2.0
// Ranks that work alike, of which one is replayed for all.
//
// A job of a thousand ranks is a few kinds of rank, many times. Two are alike when they take part in as many
// collectives, run as many operations on their devices, and take as long for a step without waiting in communication
// that nothing hides (table `ranks`), each within kAlike: so a rank whose loader or host is late is in a class of its
// own. Of each class the member that takes longest is replayed: in a collective all wait for the last to come. Where
// that leaves more than kMaxReplayedRanks, the width is doubled until it does not.
//
// Example: 1,024 ranks, of which rank 7 computes a tenth longer. Two classes: rank 7 alone, and one rank for 1,023.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "trace/run.h"

namespace gapless::internal {

inline constexpr size_t kMaxReplayedRanks = 32;  // as many or fewer ranks are each replayed
inline constexpr double kAlike = 0.01;           // difference of two ranks that count as alike, as a share

// The traits by which ranks are compared.
struct RankTraits {
  int64_t collectives = 0, gpu_ops = 0, own_ns = 0;
};

// Returns the places of those to replay, in ascending order, the first one always among them; all of them where they
// are few. O(n log n).
std::vector<size_t> FindRepresentatives(std::span<const RankTraits> ranks);

// The same of recordings; their own work is taken from the table `ranks`.
std::vector<const RunTrace*> RepresentativesOf(Tables& tables, std::span<const RunTrace* const> candidates);

}  // namespace gapless::internal
