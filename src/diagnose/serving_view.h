// SPDX-License-Identifier: Apache-2.0
// Table serving_phases as rules read it: the iterations of one device of an engine, in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"

namespace gapless::internal {

struct ServingIteration {
  enum class Kind : uint8_t { kPrefill, kDecode, kMixed };
  Kind kind = Kind::kDecode;
  int64_t prefill_requests = 0, decode_requests = 0;
  int64_t dur_ns = 0, busy_ns = 0, kernels = 0, graph_kernels = 0;
  bool replays() const { return 2 * graph_kernels > kernels; }
};
using ServingIterations = std::vector<ServingIteration>;

// One list for each device, in the order of the table; empty: no engine's iterations were recorded.
std::vector<ServingIterations> ServingDevices(Tables& tables);

// The median length of those of one kind; of two in the middle their mean; 0 of none.
int64_t MedianOf(const ServingIterations& iterations, ServingIteration::Kind kind);

// Evidence that points to table serving_phases, without rows.
Evidence ServingEvidence(std::string text, double value, std::string_view unit);

}  // namespace gapless::internal
