// SPDX-License-Identifier: Apache-2.0
// Reads the number of processors from the environment that telemetry left in the trace. A text that is no number
// of 1 or more counts as missing.
#include "trace/processors.h"

#include <charconv>
#include <string_view>

namespace gapless::internal {

std::optional<int64_t> ProcessorsOf(const Trace& trace) {
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    if (trace.Text(trace.environment.key[row]) != "host.cpu.count") continue;
    const std::string_view text = trace.Text(trace.environment.value[row]);
    int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && count >= 1) return count;
  }
  return std::nullopt;
}

std::optional<int64_t> ProcessorsOf(const Run& run) {
  for (const RunTrace& run_trace : run.traces())
    if (const auto count = ProcessorsOf(*run_trace.trace)) return count;
  return std::nullopt;
}

}  // namespace gapless::internal
