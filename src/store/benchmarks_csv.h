// SPDX-License-Identifier: Apache-2.0
// Records of the history as CSV with the columns of the view `benchmarks`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/history.h"

namespace gapless::internal {

// The line of names and the rows of the view, with CRLF. Times are RFC 3339 in UTC.
std::string BenchmarksCsvHeader();
std::string BenchmarksCsvRow(const BenchmarkRecord& record);

// Reads a row whose cells have these names, in any order; columns of other names are ignored. Returns an error if the
// row has no timestamp, or a cell is not of its column's type.
Result<BenchmarkRecord> RecordFromRow(const std::vector<std::string>& names, const std::vector<std::string>& row);

// Returns the digest of a row without its id, with the time rounded down to the millisecond: the view of SQLite shows
// no more digits. Equal rows have equal digests.
std::string RowDigestOf(const BenchmarkRecord& record);

}  // namespace gapless::internal
