// SPDX-License-Identifier: Apache-2.0
// What tells a recording from any other: a recording and its summary have the same.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>

#include "trace/trace.h"

namespace gapless::internal {

inline auto FactsOf(const Trace& trace) {
  const TraceInfo& info = trace.info;
  return std::tuple(info.format, info.pid, info.origin_ns, info.start_unix_ns, info.dur_ns, info.event_count,
                    info.pid == kAbsent ? std::filesystem::path(info.path).filename().string() : std::string());
}

}  // namespace gapless::internal
