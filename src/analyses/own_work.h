// SPDX-License-Identifier: Apache-2.0
// The own work of each device of a rank in the rank's complete steps, for tables rank_work, rank_kernels and
// rank_steps.
//
// Ranks start their recorders at different moments, so one may hold the end of a step that others do not. Own work is
// therefore that of operations of the rank's own complete steps. An operation without a recorded launch, in a recording
// that has the launches of most, was launched before it began.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/timeline.h"

namespace gapless::internal {

class Tables;

struct OwnKernels {
  int64_t count = 0, ns = 0;
  int64_t blocks = 0;     // thread blocks of those whose grid was recorded
  int64_t with_grid = 0;  // how many that are
};

struct OwnWork {
  const RunTrace* of = nullptr;
  int32_t device = 0;
  int64_t compute_ns = 0, copies_ns = 0, kernels = 0, kernel_ns = 0;
  std::array<int64_t, kIdleCauses> idle{};
  std::vector<std::pair<std::string_view, OwnKernels>> by_name{};  // texts of the trace, in its order
  std::vector<OwnKernels> by_step{};                               // by complete step
};

// Every device of every primary recording, in their order; for Tables::OnceForRun.
std::vector<OwnWork> OwnWorkOfDevices(Tables& tables);

}  // namespace gapless::internal
