// SPDX-License-Identifier: Apache-2.0
// The messages of an Arrow IPC stream (format 1.0, metadata version 5): the schema, the dictionaries of texts, and
// batches of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gapless/column.h"

namespace gapless::internal {

// A column as the schema has it. Texts are int32 numbers of the dictionary whose id is the column's index.
struct ArrowField {
  std::string name{};
  ColumnType type = ColumnType::kInt;
  bool long_texts = false;     // the dictionary has offsets of 64 bits
  std::string unit{}, help{};  // its metadata; empty: left out
};

// Memory that becomes one column of a batch, or a dictionary: `buffers` as Arrow lists them, the bits of what is
// present first.
struct ArrowNode {
  int64_t rows = 0, absent = 0;
  std::vector<std::string_view> buffers{};
};

// Each returns a whole message; together, in this order, and then the end, they are a stream.
std::string ArrowSchemaMessage(std::span<const ArrowField> fields);
std::string ArrowDictionaryMessage(int64_t id, const ArrowNode& texts);
std::string ArrowBatchMessage(int64_t rows, std::span<const ArrowNode> columns);
std::string_view ArrowEnd();

}  // namespace gapless::internal
