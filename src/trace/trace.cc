// SPDX-License-Identifier: Apache-2.0
// Answers small questions about a whole trace: the row of a device, whether reading stopped early, and its size in
// memory.
#include "trace/trace.h"

#include <algorithm>

namespace gapless::internal {

size_t FindDevice(const DeviceTable& devices, int32_t device) {
  const auto found = std::lower_bound(devices.device.begin(), devices.device.end(), device);
  const bool is_there = found != devices.device.end() && *found == device;
  return is_there ? static_cast<size_t>(found - devices.device.begin()) : devices.size();
}

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
    std::decay_t<decltype(table)>::Visit(
        table, [&](std::string_view, const auto& column) { bytes += column.stored().size_bytes(); });
  });
  return bytes;
}

}  // namespace gapless::internal
