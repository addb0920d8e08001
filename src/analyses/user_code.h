// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/own_code.h"
#include "trace/trace.h"

namespace gapless::internal {

// Returns true if the file is of the user's program: neither of a library nor built in.
inline bool IsUsersFile(std::string_view file) {
  if (file.empty() || file.front() == '<') return false;
  return !IsInstalled(file) && !IsOfGapless(file);
}

// Returns how the Python code was profiled: "sample", "cprofile", "lines" or "tracemalloc"; empty where it was not.
inline std::string_view PythonProfileKind(const Trace& trace) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == "python.profile") return trace.Text(trace.environment.value[row]);
  return {};
}

}  // namespace gapless::internal
