// SPDX-License-Identifier: Apache-2.0
// Implements the search for open slices in one pass with the slices' parents.
#include "analyses/open_slice.h"

#include <algorithm>

namespace gapless::internal {

std::vector<SliceId> InnermostOpen(const Trace& trace, std::span<const OpenQuery> queries) {
  const SliceTable& slices = trace.slices;
  std::vector<SliceId> latest(trace.threads.size());  // the slice of each thread that started last
  std::vector<SliceId> found;
  found.reserve(queries.size());
  uint32_t row = 0;
  for (const OpenQuery& query : queries) {
    for (; row < slices.size() && slices.ts_ns[row] <= query.ts_ns; ++row)
      if (slices.category[row] != SliceCategory::kOverhead) latest[slices.thread[row].value] = SliceId(row);
    SliceId at = latest[query.thread.value];
    while (at.valid() && slices.ts_ns[at.value] + slices.dur_ns[at.value] <= query.ts_ns) at = slices.parent[at.value];
    found.push_back(at);
  }
  return found;
}

int64_t OverlapOf(const Trace& trace, SliceId slice, Interval span) {
  const int64_t start = trace.slices.ts_ns[slice.value], end = start + trace.slices.dur_ns[slice.value];
  return std::max<int64_t>(0, std::min(end, span.end) - std::max(start, span.start));
}

SliceId DeepestOverHalf(const Trace& trace, SliceId innermost, Interval span) {
  SliceId at = innermost;
  while (at.valid() && 2 * OverlapOf(trace, at, span) < span.length()) at = trace.slices.parent[at.value];
  return at;
}

HostContext ContextOf(const Trace& trace, SliceId slice) {
  HostContext context;
  const SliceTable& slices = trace.slices;
  if (slice.valid()) context.source_line = trace.Text(slices.source_line[slice.value]);
  for (SliceId at = slice; at.valid(); at = slices.parent[at.value]) {
    const SliceCategory category = slices.category[at.value];
    if (category == SliceCategory::kOperator) context.operator_name = trace.Text(slices.name[at.value]);
    if (category != SliceCategory::kAnnotation || !context.annotation.empty()) continue;
    const std::string_view name = trace.Text(slices.name[at.value]);
    if (!name.starts_with("ProfilerStep")) context.annotation = name;
  }
  return context;
}

}  // namespace gapless::internal
