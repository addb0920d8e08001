// SPDX-License-Identifier: Apache-2.0
// How long a step takes in a replay.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "analyses/window.h"
#include "predict/graph.h"

namespace gapless::internal {

// The complete steps of a recording, from the start of the first to the end of what the last one launched, both found
// in the times that are asked about. Without steps the stretch that is analysed
// (analyses/window.h) is one: setting up and taking down a process is no part of it.
class StepSpan {
 public:
  StepSpan(const Trace& trace, const Graph& graph);
  // Mean of the steps; absent when the graph holds none of their instants.
  std::optional<int64_t> StepNs(std::span<const int64_t> times) const;
  // The start of the span, and the instant that ends it; kNoInstant without a span.
  std::pair<int64_t, Instant> Within(std::span<const int64_t> times) const;
  size_t steps() const { return steps_; }

 private:
  std::vector<Instant> starts_{},
      ends_{};  // the span begins with the last of the ones, and ends with the last of the others
  size_t steps_ = 1;
};

}  // namespace gapless::internal
