// SPDX-License-Identifier: Apache-2.0
// The memory that fixes free at the peak, where a recording has what lives then: beside their time, or alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "predict/fix_model.h"

namespace gapless::internal {

// Memory that one item frees, on the device on which it frees most; each item alone. See table memory_savings.
struct FreedMemory {
  std::string what{};
  int64_t freed_bytes = 0, peak_bytes = 0;
  bool at_most = false;  // no more than that; otherwise about as much
  std::optional<int64_t> modules{};
  std::string source_line{};
  std::string text{};  // "frees about 10.3 GB of the 13.9 GB at the peak"
};

// Returns those of `items` that free memory, as far as is known. `tables` are of the whole run.
std::vector<FreedMemory> FreedBy(Tables& tables, const std::vector<WhatIfItem>& items);

}  // namespace gapless::internal
