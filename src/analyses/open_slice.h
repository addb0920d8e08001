// SPDX-License-Identifier: Apache-2.0
// What a host thread had open at an instant, and how to name it to its author.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace gapless {

struct OpenQuery {
  int64_t ts_ns = 0;
  ThreadId thread;
};

// For each query (ascending by time) the innermost slice open on that thread, recorder's overhead aside; not valid:
// none. One pass over the slices up to the last query.
std::vector<SliceId> InnermostOpen(const Trace& trace, std::span<const OpenQuery> queries);

struct HostContext {
  std::string_view operator_name;  // of the outermost operator around the slice, or itself; "" none
  std::string_view annotation;     // of the innermost annotation around it, steps aside
  std::string_view source_line;    // "file:line"
};
HostContext ContextOf(const Trace& trace, SliceId slice);

}  // namespace gapless
