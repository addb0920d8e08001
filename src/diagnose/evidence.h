// SPDX-License-Identifier: Apache-2.0
// How rules find and word their evidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"
#include "trace/table.h"

namespace gapless::internal {

inline constexpr size_t kMaxRows = 20;  // maximum number of rows that an Evidence names

// Rows of `table` with the largest value in `column` (zero and Null left out), largest first, at most `count`.
std::vector<size_t> LargestRows(const Table& table, std::string_view column, size_t count = kMaxRows);

// The ids in column `id_column` of these rows, those that are Null left out.
std::vector<int64_t> IdsOf(const Table& table, const std::vector<size_t>& rows, std::string_view id_column);

// A text of one row, or `otherwise` where it is Null.
std::string TextOr(const Table& table, size_t row, std::string_view column, std::string_view otherwise);

// A mean number of times in a step as people say it: "48 times a step", "once a step", "once in 4 steps".
std::string TimesAStep(double times);

// Names the type of a tensor as Python does: "c10::Half" → "float16", "long int" → "int64"; others stay as they are.
std::string_view TypeText(std::string_view recorded);

// "train.py:41" → " in train.py:41"; "" stays "".
std::string InLine(std::string_view source_line);

// Returns the name of a slice for a report: of a Python function, "train.py(12): main" → "main() (train.py)", for the
// line in its name is no place of a call; others as they are.
std::string FrameText(std::string_view name);

// The largest idle gaps by `column`, as evidence that points to table idle.
Evidence LargestGaps(const Table& idle, std::string_view column, std::string_view what);

int64_t SumOf(const Table& table, std::string_view column);

// Returns the advice for a loader whose workers the step waits for. Where the recording names the machine's processors,
// it says whether more or fewer workers are worth a try: workers beside as many processors take them from the training.
Recommendation OtherWorkers(Tables& tables, const std::string& line);

}  // namespace gapless::internal
