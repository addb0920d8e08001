// SPDX-License-Identifier: Apache-2.0
// Helpers with which rules find and word their evidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/idle.h"
#include "diagnose/bottleneck.h"
#include "trace/table.h"

namespace gapless::internal {

inline constexpr size_t kMaxRows = 20;  // maximum number of rows that an Evidence names

// The rows with the largest value in `column` (zero and Null left out), largest first, at most `count`.
std::vector<size_t> LargestRows(const Table& table, int column, size_t count);
template <class R>
std::vector<size_t> LargestRows(const TypedRows<R>& rows, typename TypedRows<R>::IntColumn column,
                                size_t count = kMaxRows) {
  return LargestRows(rows.table(), column.index(), count);
}

// The ids in column `id_column` of these rows, those that are Null left out.
std::vector<int64_t> IdsOf(const Table& table, const std::vector<size_t>& rows, int id_column);
template <class R>
std::vector<int64_t> IdsOf(const TypedRows<R>& of, const std::vector<size_t>& rows,
                           typename TypedRows<R>::IntColumn id_column) {
  return IdsOf(of.table(), rows, id_column.index());
}

// A text of one row, or `otherwise` where it is Null.
template <class R>
std::string TextOr(const TypedRows<R>& rows, size_t row, typename TypedRows<R>::TextColumn column,
                   std::string_view otherwise) {
  return std::string(rows.IsNull(row, column) ? otherwise : rows.Text(row, column));
}

// A mean number of times in a step as people say it: "48 times a step", "once a step", "once in 4 steps".
std::string TimesAStep(double times);

// Names the type of a tensor as Python does: "c10::Half" → "float16", "long int" → "int64"; others stay as they are.
std::string_view TypeText(std::string_view recorded);

// "train.py:41" → " in train.py:41"; "" stays "".
std::string InLine(std::string_view source_line);
// The same for a line that reads a data loader. Where that is a line of accelerate, it says what a user of the Trainer
// sets instead.
std::string InLoaderLine(std::string_view source_line);

// Returns the name of a slice for a report: of a Python function, "train.py(12): main" → "main() (train.py)", for the
// line in its name is no place of a call; others as they are.
std::string FrameText(std::string_view name);

// Says which recording the rank `name` is, and on which host it ran where that is known, so that it can be found.
Evidence RecordingOf(std::string_view name, const Run& run, int64_t trace);

// The rows of table idle that have the most of any cause, kMaxRows of each, without the cost of all others.
IdleRows LongestIdle(Tables& tables);

// The largest idle gaps by `column`, as evidence that points to table idle.
Evidence LargestGaps(const IdleRows& idle, IdleRows::IntColumn column, std::string_view what);

int64_t SumOf(const Table& table, int column);
template <class R>
int64_t SumOf(const TypedRows<R>& rows, typename TypedRows<R>::IntColumn column) {
  return SumOf(rows.table(), column.index());
}

// Returns the advice for a loader whose workers the step waits for. Where the recording names the machine's processors,
// it says whether more or fewer workers are worth a try: workers beside as many processors take them from the training.
Recommendation OtherWorkers(Tables& tables, const std::string& line);

}  // namespace gapless::internal
