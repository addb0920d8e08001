// SPDX-License-Identifier: Apache-2.0
// The values of a column of SQL as one trace stores them, for readers that take whole columns instead of cells. What a
// cell shows of a stored value is said once, in cells.h; here is only where the values lie.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "trace/column.h"
#include "trace/ids.h"
#include "trace/string_pool.h"

namespace gapless::internal {

// Texts of the trace's own pool.
struct StoredTexts {
  const Column<StringId>* values;
  const StringPool* texts;
};
// Points in trace time; run time is later by the shift.
struct StoredTimes {
  const Column<int64_t>* values;
  int64_t shift_ns;
};
// Rows of another table of the same trace, shown as ids of the run: `first_id` is that of its first row.
template <class Id>
struct StoredIds {
  const Column<Id>* values;
  int64_t first_id;
};
// The same for steps, which are shown by their numbers.
struct StoredSteps {
  const Column<StepId>* values;
  const Column<int64_t>* numbers;
};
// One value for all rows, and values that grow by one from row to row.
struct StoredSame {
  int64_t value;
};
struct StoredRange {
  int64_t first;
};
// Values of an enum of one byte, and the text of each; "": absent.
struct StoredNames {
  const uint8_t* values;
  bool same;  // one value for all rows
  std::string_view (*text)(uint8_t value);
};

// Without a value: the cells are computed one by one.
using StoredValues =
    std::variant<std::monostate, const Column<int64_t>*, const Column<int32_t>*, const Column<uint16_t>*,
                 const Column<uint8_t>*, const Column<double>*, const Column<float>*, StoredTexts, StoredTimes,
                 StoredIds<SliceId>, StoredIds<GpuOpId>, StoredIds<StackId>, StoredSteps, StoredSame, StoredRange,
                 StoredNames>;

}  // namespace gapless::internal
