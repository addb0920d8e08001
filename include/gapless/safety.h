// SPDX-License-Identifier: Apache-2.0
// Safety: what a fix may change of a training beside its time.
#pragma once

#include <cstdint>
#include <string_view>

namespace gapless {

// From the least to the most; a fix may also do less.
enum class Safety : uint8_t {
  kExact,       // nothing: the same numbers, bit for bit
  kRounding,    // the same computation, rounded differently
  kStochastic,  // also other random numbers of the same distribution
  kTraining,    // another training: batch size, when gradients are exchanged
  kHardware,    // another machine: nothing of the program changes
  kQuantized,   // the same model with weights of 8 bits: answers differ as rounding to them makes them differ
};

// "exact", "rounding", "stochastic", "training", "hardware", "quantized".
constexpr std::string_view ToString(Safety safety) {
  constexpr std::string_view kNames[] = {"exact", "rounding", "stochastic", "training", "hardware", "quantized"};
  return kNames[static_cast<uint8_t>(safety)];
}

}  // namespace gapless
