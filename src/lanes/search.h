// SPDX-License-Identifier: Apache-2.0
// Finds events by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "lanes/run_lanes.h"

namespace gapless::internal {

struct SearchHit {
  int64_t trace = 0, lane = 0;
  std::string_view kind{};
  int64_t id = -1;
  std::string_view name{};
  int64_t ts_ns = 0, dur_ns = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&SearchHit::trace>("trace", "", "key of table trace"),
      Field<&SearchHit::lane>("lane", "", "lane it is in"),
      Field<&SearchHit::kind>("kind", "", "gpu_op, slice, step, annotation or os_call"),
      Field<&SearchHit::id>("id", "", "of a step its number, else its id in the table of this kind; -1: it has none"),
      Field<&SearchHit::name>("name", "", "its name"),
      Field<&SearchHit::ts_ns>("ts_ns", "ns", "when it began"),
      Field<&SearchHit::dur_ns>("dur_ns", "ns", "how long it took"),
  };
};

struct SearchHits {
  int64_t total = 0;
  std::vector<SearchHit> hits{};
  static constexpr FieldInfo kFields[] = {
      Field<&SearchHits::total>("total", "count", "events of such a name"),
      Field<&SearchHits::hits>("hits", "", "the first of them"),
  };
};

// The first `most` events, in order of time, in whose name `text` is found: whatever the case of letters, or with "re:"
// in front as a regular expression. An empty text finds nothing. An error: the expression is none.
Result<SearchHits> SearchEvents(const RunLanes& lanes, std::string_view text, size_t most);

}  // namespace gapless::internal
