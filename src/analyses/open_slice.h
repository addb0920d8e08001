// SPDX-License-Identifier: Apache-2.0
// Finds the slice that a host thread had open at an instant, and names it for the program's author.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyses/intervals.h"
#include "trace/trace.h"

namespace gapless::internal {

struct OpenQuery {
  int64_t ts_ns = 0;
  ThreadId thread;
};

// Walks the slices once, up to the last query. Takes 4 bytes a thread.
class OpenSlices {
 public:
  explicit OpenSlices(const Trace& trace) : trace_(trace), latest_(trace.threads.size()) {}
  // Returns the innermost slice open on that thread, except the recorder's own; invalid if none is open. No query may
  // be earlier than the one before it.
  SliceId Innermost(const OpenQuery& query);

 private:
  const Trace& trace_;
  std::vector<SliceId> latest_;  // the slice of each thread that started last
  uint32_t row_ = 0;
};

// The same for many queries, ascending by time.
std::vector<SliceId> InnermostOpen(const Trace& trace, std::span<const OpenQuery> queries);

// From `innermost`, which was open in the middle of `span`, outwards to the first slice that covers at least half of
// it: what is open in the middle may be one of many short ones. Not valid: none does.
SliceId DeepestOverHalf(const Trace& trace, SliceId innermost, Interval span);
int64_t OverlapOf(const Trace& trace, SliceId slice, Interval span);
inline int64_t Middle(Interval span) { return span.start + span.length() / 2; }

struct HostContext {
  std::string_view operator_name;  // name of the outermost operator around the slice, or of the slice; "": none
  std::string_view annotation;     // text of the innermost annotation around the slice, except steps; "": none
  std::string_view source_line;    // "file:line"
};
HostContext ContextOf(const Trace& trace, SliceId slice);

}  // namespace gapless::internal
