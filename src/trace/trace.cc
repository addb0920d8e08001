// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

namespace gapless::internal {

bool EndsInTheMiddle(const Trace& trace) {
  for (const StringId kind : trace.read_stats.kind) {
    const std::string_view text = trace.Text(kind);
    if (text == "truncated_input" || text == "damaged_input" || text == "overlong_event") return true;
  }
  return false;
}

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
