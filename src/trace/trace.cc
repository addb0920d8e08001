// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

namespace gapless::internal {

size_t MemoryBytes(const Trace& trace) {
  size_t bytes = trace.strings.memory_bytes();
  Trace::VisitTables(trace, [&](std::string_view, const auto& table) {
    std::decay_t<decltype(table)>::Visit(table, [&](std::string_view, const auto& column) {
      bytes += column.size() * sizeof(typename std::decay_t<decltype(column)>::value_type);
    });
  });
  return bytes;
}

}  // namespace gapless::internal
