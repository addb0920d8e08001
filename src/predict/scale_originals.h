// SPDX-License-Identifier: Apache-2.0
// All that a simulation of other numbers of ranks (scale_out.h) needs of a recorded rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/fixes/common/collectives.h"
#include "predict/job.h"

namespace gapless::internal {

enum class EdgeWork : uint8_t { kNone, kDevice, kOptimizer, kHost };

struct Transfer {
  uint32_t edge = 0, meeting = 0;
  double ns = 0, bytes = 0, bus_bytes = 0;  // bus bytes of the recorded number of ranks
  std::string_view kind{};
};

// All that simulations need of a recorded rank.
struct Original {
  std::vector<EdgeWork> work{};                // by edge
  std::vector<int32_t> step{};                 // by edge: place among the common steps; −1: none of them
  std::vector<double> device_ns{}, host_ns{};  // by step but the first
  std::vector<Instant> opening{}, ending{};    // what the first step and the last one end with
  std::vector<Transfer> transfers{};
};

// Numbers of the complete steps that all ranks have.
std::vector<int64_t> CommonSteps(const Job& job);

// All but the transfers. `steps`: at least one, in order.
Original OriginalOf(const RankGraph& rank, std::span<const int64_t> edge_ns, const std::vector<int64_t>& steps);

// Returns why the collectives do not say how the job grows; sets the number of ranks that exchange.
std::string WhyNotEven(const Trace& trace, const Collectives& found, int& ranks);

}  // namespace gapless::internal
