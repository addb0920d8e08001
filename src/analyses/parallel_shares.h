// SPDX-License-Identifier: Apache-2.0
// What the layout of a job costs each rank: time in the bubbles of a pipeline, and work against the others of its
// experts.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/analysis.h"

namespace gapless::internal {

struct ParallelShare {
  double bubble = 0, expert_load = 0;  // NaN: it is in no pipeline; it has no experts
};
// By place in Tables::Timelines(), for Tables::OnceForRun.
using ParallelShares = std::vector<ParallelShare>;
ParallelShares ParallelSharesOf(Tables& tables);

}  // namespace gapless::internal
