// SPDX-License-Identifier: Apache-2.0
// Cuts a series into stretches of one level each, exactly and in nearly linear time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gapless::internal {

// The first indices of all stretches but the first, ascending, of the partition with the least
//   sum over stretches of sum (value - mean of stretch)^2  +  penalty * (stretches - 1).
// Exact: the least of all partitions, found by optimal partitioning (Jackson et al. 2005, An algorithm for optimal
// partitioning of data on an interval) with functional pruning (Maidstone, Hocking, Rigaill, Fearnhead 2017, On optimal
// multiple changepoint algorithms for large data, section 4.2: "FPOP"). Values must be finite; penalty > 0. Memory
// O(n); time O(n) times the number of candidates alive, about ln n. Values far larger than their spread lose digits:
// subtract a level first.
std::vector<size_t> OptimalPartition(std::span<const double> values, double penalty);

}  // namespace gapless::internal
