// SPDX-License-Identifier: Apache-2.0
// The result of a paired comparison of two commands: the ratio of their times with its interval, and a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gapless {

// A ratio of two times, with its interval. An end is absent while it is not bounded.
struct RatioInterval {
  std::optional<double> low{}, high{};
  double expected = 1;  // Hodges–Lehmann estimate
};

// Baseline's time over that of the optimised one: above 1 is faster.
using SpeedupInterval = RatioInterval;

// The verdict on the second command at 95 %: faster, slower, no difference above the margin, or no decision yet.
enum class SpeedVerdict : uint8_t { kFaster, kSlower, kEquivalent, kCannotTell };

// The verdict as it stands in JSON.
constexpr std::string_view ToString(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::kFaster: return "faster";
    case SpeedVerdict::kSlower: return "slower";
    case SpeedVerdict::kEquivalent: return "equivalent";
    case SpeedVerdict::kCannotTell: break;
  }
  return "cannot_tell";
}

}  // namespace gapless
