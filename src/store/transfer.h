// SPDX-License-Identifier: Apache-2.0
// Brings the history of another database in, from the text that was exported there (record_lines.h, benchmarks_csv.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "store/history.h"
#include "store/text_rows.h"

namespace gapless::internal {

// The counts of an import.
struct Imported {
  int64_t added = 0, advice = 0, present = 0;  // added runs, added predictions, and runs or predictions that were there
};
// Brings a text of either form in, which is read piece by piece; what is there already stays as it is, so that
// importing twice adds nothing. Ends with kInterrupted soon after `cancel` is set (null: never); what was stored stays.
// A row of CSV is there when the history has a record with the same columns (but the id, and to the millisecond). An
// error says at which line; what stands before that line is in.
Result<Imported> ImportFrom(History& history, TextSource source, std::string_view path,
                            const std::atomic<bool>* cancel);
// The same of a text in memory.
Result<Imported> ImportInto(History& history, std::string_view text, std::string_view path);

}  // namespace gapless::internal
