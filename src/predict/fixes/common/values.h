// SPDX-License-Identifier: Apache-2.0
// Values of fixes: which are tried, and which a fix takes at all. The agent checks them once more by rules of its
// own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "predict/fix_trial.h"

namespace gapless::internal {

// The numbers of `wanted`, in their order, that are not above `most`; each once. What is 0 beyond the first is left
// out.
FixValues AtMost(size_t most, const std::vector<size_t>& wanted);

// Parts of the names of operators that convolve, and of those that multiply matrices.
inline constexpr std::string_view kConvolutions[] = {"conv"};
inline constexpr std::string_view kMatrixWork[] = {"conv",   "mm",   "matmul", "linear",
                                                   "einsum", "lstm", "gru",    "attention"};

// Returns the blocks in which workers of a DataLoader change, at most `workers` of them on either side. The program
// stands still while they start, and they load ahead meanwhile, up to four batches each: steps that such batches serve
// do not count. Whole rounds count, because the batches of a round come at once.
BlockShape WorkerBlocks(size_t workers, double step_ms);

// Returns true for digits alone, from `least` to `most`: no sign, no spaces.
bool IsWhole(std::string_view value, int64_t least, int64_t most);
// Returns true for a number such as "0.5" or "2": above 0, at most `most`; digits and one point.
bool IsPositive(std::string_view value, double most);
// Returns true for a processor or a range of them that does not fall: "3", "0-7".
bool IsProcessors(std::string_view value);
// For ValueGrammar::accepts.
template <int64_t least, int64_t most>
bool IsCount(std::string_view value) {
  return IsWhole(value, least, most);
}
template <const auto& words>
bool IsOneOf(std::string_view value) {
  return std::ranges::find(words, value) != std::end(words);
}

}  // namespace gapless::internal
