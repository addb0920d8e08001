// SPDX-License-Identifier: Apache-2.0
// The history as text: JSON lines, which hold everything, and CSV with the columns of the view `benchmarks`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/history.h"

namespace gapless::internal {

// One record as one line of JSON, without the line end. Ids are left out: they belong to one database.
std::string LineOf(const BenchmarkRecord& record);
Result<BenchmarkRecord> RecordFromLine(std::string_view line);
// The same for a tested prediction.
std::string LineOf(const AdviceRecord& advice);
Result<AdviceRecord> AdviceFromLine(std::string_view line);

// The line of names and the rows of the view, with CRLF. Times are RFC 3339 in UTC.
std::string BenchmarksCsvHeader();
std::string BenchmarksCsvRow(const BenchmarkRecord& record);

// The counts of an import.
struct Imported {
  int64_t added = 0, advice = 0, present = 0;  // runs and tested predictions that came in; either that was there
};
// Brings a text of either form in; what is there already stays as it is, so that importing twice adds nothing.
// A row of CSV is there when the history has a record with the same columns (but the id, and to the millisecond). An
// error says at which line; what stands before that line is in.
Result<Imported> ImportInto(History& history, std::string_view text, std::string_view path);

}  // namespace gapless::internal
