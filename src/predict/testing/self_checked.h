// SPDX-License-Identifier: Apache-2.0
// The self-check of a recording that a test has made.
#pragma once

#include "predict/self_check.h"

namespace gapless::internal::testing {

inline SelfCheck SelfChecked(const Trace& trace, const GraphRules& rules = {}) {
  const Graph graph = BuildGraph(trace, rules);
  return CheckReplay(trace, graph, StepSpan(trace, graph));
}

}  // namespace gapless::internal::testing
