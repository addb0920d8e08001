// SPDX-License-Identifier: Apache-2.0
// The length of a step in a replay.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "analyses/window.h"
#include "predict/graph.h"

namespace gapless::internal {

// The complete steps of a recording, from the start of the first to the end of what the last one launched, both at the
// times that are asked about. Without steps the analysed stretch (analyses/window.h) counts as one step, so that
// setting up and taking down a process is no part of it.
class StepSpan {
 public:
  StepSpan(const Trace& trace, const Graph& graph);
  // Mean of the steps; absent when the graph holds none of their instants.
  std::optional<int64_t> StepNs(std::span<const int64_t> times) const;
  // The start of the span, and the instant that ends it; kNoInstant without a span.
  std::pair<int64_t, Instant> Within(std::span<const int64_t> times) const;
  size_t steps() const { return steps_; }

 private:
  // The span begins at the latest of `starts_`, and ends at the latest of `ends_`.
  std::vector<Instant> starts_{}, ends_{};
  size_t steps_ = 1;
};

}  // namespace gapless::internal
