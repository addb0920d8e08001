// SPDX-License-Identifier: Apache-2.0
// Makes the columns of Arrow arrays from those of a table; arrow.cc puts them into the structures of the interface.
//
// Numbers that lie in memory as Arrow wants them (int64, double) are not copied: the array points into the trace. Only
// the bits that say which rows are absent are made. Texts become numbers of a dictionary that all batches share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/table_data.h"
#include "trace/string_pool.h"

namespace gapless::internal {

// One column of one batch. The memory is kept alive by the owners; `values` of a text are int32 numbers of its
// dictionary.
struct ArrowValues {
  const void* values = nullptr;
  const uint8_t* present = nullptr;  // a bit per row, 0 for what is absent; null: nothing is
  int64_t absent = 0;
  std::vector<std::shared_ptr<const void>> owners{};
};

// Texts in the layout of Arrow: text i is bytes[offsets[i], offsets[i + 1]). Always valid UTF-8.
struct ArrowTexts {
  std::vector<int64_t> long_offsets{};   // where 32 bits are too few
  std::vector<int32_t> short_offsets{};  // else
  std::string bytes{};
  size_t size = 0;

  bool is_long() const { return !long_offsets.empty(); }
};

// A text column of a whole table: its dictionary, and the column of each stretch.
struct ArrowTextColumn {
  std::shared_ptr<const ArrowTexts> texts{};
  std::vector<ArrowValues> stretches{};
};
ArrowTextColumn TextColumn(const TableData& table, size_t column);

// A column of integers or reals in one stretch.
ArrowValues NumberColumn(const std::shared_ptr<const TableData>& table, size_t stretch, size_t column);

}  // namespace gapless::internal
