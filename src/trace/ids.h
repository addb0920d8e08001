// SPDX-License-Identifier: Apache-2.0
// Typed ids and the values that mean "absent". Absent is never 0: an int64 is kAbsent, an int32 kAbsent32, a row
// kNoRow, a float NaN, a text StringId::kNone.
#pragma once

#include <cstdint>
#include <limits>

namespace gapless::internal {

enum class StringId : uint32_t { kNone = 0 };  // index into the trace's StringPool; 0 is the empty text

inline constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();
inline constexpr int32_t kAbsent32 = std::numeric_limits<int32_t>::min();
inline constexpr uint32_t kNoRowValue = std::numeric_limits<uint32_t>::max();

// A row of one table of one trace. Different tables have different types, so they cannot be mixed up.
template <class Tag>
struct RowId {
  uint32_t value = kNoRowValue;
  constexpr RowId() = default;
  constexpr explicit RowId(uint64_t row) : value(static_cast<uint32_t>(row)) {}
  constexpr bool valid() const { return value != kNoRowValue; }
  friend constexpr bool operator==(RowId, RowId) = default;
  friend constexpr auto operator<=>(RowId, RowId) = default;
};

using SliceId = RowId<struct SliceTag>;
using GpuOpId = RowId<struct GpuOpTag>;
using ThreadId = RowId<struct ThreadTag>;
using StepId = RowId<struct StepTag>;
using StackId = RowId<struct StackTag>;

// Numbers of rows: where the rows of a recording begin in those of a run (trace/run.h), or how many it has.
struct IdBase {
  int64_t slice = 0, gpu_op = 0, gpu_annotation = 0, sync = 0, collective = 0, step = 0, memory_event = 0, stack = 0;
};

}  // namespace gapless::internal
