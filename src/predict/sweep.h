// SPDX-License-Identifier: Apache-2.0
// Causal profile: how much faster the step gets as one part of it gets cheaper, from what it costs to nothing. What Coz
// (Curtsinger & Berger, SOSP 2015) finds by slowing everything else down while a program runs, a replay finds by
// running again with other times.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predict/predictor.h"

namespace gapless::internal {

enum class SweepBy : uint8_t { kKernel, kOperator, kThread };
inline constexpr std::array<std::string_view, 3> kSweepNames = {"kernel", "operator", "thread"};

// The cost of a part in each replay, as a share of its recorded cost.
inline constexpr std::array<double, 5> kSweepCosts = {1, 0.75, 0.5, 0.25, 0};

struct SweptPart {
  std::string name{};
  int64_t time_ns = 0;                              // time of the part in a step
  std::array<double, kSweepCosts.size()> shares{};  // share of the recorded step at each cost
};

// The `most` parts that take the most time, the one whose absence helps most first. A kernel's time is on the device,
// an operator's and a thread's on the host, without what it waits for.
std::vector<SweptPart> Sweep(const Predictor& predictor, SweepBy by, size_t most);

}  // namespace gapless::internal
