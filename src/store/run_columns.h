// SPDX-License-Identifier: Apache-2.0
// The columns of the table `run`, and the members of a record that they hold. Absent members are NULL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/backend.h"
#include "store/history.h"

namespace gapless::internal {

inline SqlCell TextOrNull(const std::string& text) { return text.empty() ? SqlCell() : SqlCell(text); }
inline SqlCell FlagOrNull(std::optional<bool> flag) { return flag ? SqlCell(static_cast<int64_t>(*flag)) : SqlCell(); }

// Returns the names of the columns without the id, separated by commas.
const std::string& RunColumns();
// Returns the cells of a record in the order of RunColumns().
std::vector<SqlCell> CellsOf(const BenchmarkRecord& record);
// Reads a row whose first column is the id, followed by RunColumns(). Metrics and verdicts are not part of the row.
BenchmarkRecord RunFrom(const DbRow& row);

}  // namespace gapless::internal
