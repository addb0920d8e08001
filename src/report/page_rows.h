// SPDX-License-Identifier: Apache-2.0
// Which rows of a table the page of a report holds: a page is one file, so a table of a thousand ranks does not fit.
#pragma once

#include <cstddef>
#include <vector>

#include "analyses/rows/ranks.h"

namespace gapless::internal {

// Returns the column that says how much, by which a reader sorts; −1: there is none, or nothing in it.
int SortColumn(const Table& table);

// Returns the rows to show, in the order of the table. Of a long list those with most of SortColumn; of a table that is
// drawn whole ranks, those first whose own work is furthest from the median's.
std::vector<size_t> RowsToShow(const Table& table, const RanksRows& ranks);

}  // namespace gapless::internal
