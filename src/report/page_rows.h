// SPDX-License-Identifier: Apache-2.0
// Chooses the rows of a table that the page of a report holds: a page is one file, and a thousand ranks do not fit.
#pragma once

#include <cstddef>
#include <vector>

#include "analyses/rows/ranks.h"

namespace gapless::internal {

// Devices from which the page holds sums, and the map of the ranks, instead of a part of everything for each rank.
inline constexpr size_t kManyRanks = 1000;

// Returns the column that says how much, by which a reader sorts; −1: no such column, or it is empty.
int SortColumn(const Table& table);

// Returns the rows to show, in the order of the table. Of a long list those with most of SortColumn; of a table that is
// drawn whole ranks, those first whose own work is furthest from the median's; of a job of kManyRanks only a few, for
// its map (rank_map.h) has all.
std::vector<size_t> RowsToShow(const Table& table, const RanksRows& ranks);

}  // namespace gapless::internal
