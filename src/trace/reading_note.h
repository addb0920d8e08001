// SPDX-License-Identifier: Apache-2.0
// Notes about a recording that are found out after its rows are built. TraceBuilder::Count adds those met while
// reading.
#pragma once

#include <string_view>

#include "trace/trace.h"

namespace gapless::internal {

// The kind of the note of a recording that was opened in place of its summary (flows/drill.h).
inline constexpr std::string_view kOpenedNote = "opened";

// Adds a row to trace.read_stats, which stays sorted by kind; its first_offset is absent. `kind` must be new.
void AddReadingNote(Trace& trace, std::string_view kind, Severity severity, int64_t count, std::string_view text);

}  // namespace gapless::internal
