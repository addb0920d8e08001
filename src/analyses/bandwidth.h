// SPDX-License-Identifier: Apache-2.0
// Bandwidth of collectives by the formulas of nccl-tests (doc/PERFORMANCE.md there).
//
// Algorithm bandwidth is message size over time; it falls as ranks are added even when the links are equally busy. Bus
// bandwidth corrects for that with a factor per kind, so that it can be held against the speed of the links:
//   all_reduce 2(n−1)/n · all_gather, reduce_scatter, all_to_all (n−1)/n · broadcast, reduce, send, recv 1
// The message size is the larger side: the sum of what all ranks give to an all_gather or get from a reduce_scatter.
#pragma once

#include <cstdint>
#include <string_view>

namespace gapless::internal {

// GB/s (1e9 bytes); NaN when the size is absent or the duration is not positive.
double AlgorithmBandwidthGbps(int64_t bytes, int64_t dur_ns);

// Bus over algorithm bandwidth in a group of `group_size` ranks; NaN when the size or the kind is not known.
double BusFactor(std::string_view kind, int32_t group_size);

}  // namespace gapless::internal
