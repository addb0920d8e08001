// SPDX-License-Identifier: Apache-2.0
// Implements the search for open slices in one pass with the slices' parents.
#include "analyses/open_slice.h"

#include <algorithm>

namespace gapless::internal {

SliceId OpenSlices::Innermost(const OpenQuery& query) {
  const SliceTable& slices = trace_.slices;
  for (; row_ < slices.size() && slices.ts_ns[row_] <= query.ts_ns; ++row_)
    if (slices.category[row_] != SliceCategory::kOverhead) latest_[slices.thread[row_].value] = SliceId(row_);
  SliceId at = latest_[query.thread.value];
  while (at.valid() && slices.ts_ns[at.value] + slices.dur_ns[at.value] <= query.ts_ns) at = slices.parent[at.value];
  return at;
}

std::vector<SliceId> InnermostOpen(const Trace& trace, std::span<const OpenQuery> queries) {
  if (queries.empty()) return {};
  OpenSlices open(trace);
  std::vector<SliceId> found;
  found.reserve(queries.size());
  for (const OpenQuery& query : queries) found.push_back(open.Innermost(query));
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
