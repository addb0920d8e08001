// SPDX-License-Identifier: Apache-2.0
// Checks whether a trace that was not built here, but mapped from a file, keeps what the analyses rely on.
#pragma once

#include "trace/trace.h"

namespace gapless::internal {

// Returns true when every id names a row or text that is there, every enum has a value of its own, times and
// durations can be added without overflow, tables that are sorted by time are sorted, parents come before their
// children, and depths follow from parents. All of this holds of every trace that TraceBuilder made. One pass over
// the columns.
bool HoldsTogether(const Trace& trace);

}  // namespace gapless::internal
