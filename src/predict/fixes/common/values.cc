// SPDX-License-Identifier: Apache-2.0
// Checks and proposes values that several fixes share: counts, factors and lists of processors.
#include "predict/fixes/common/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace gapless::internal {
namespace {

constexpr int64_t kMaxProcessors = 99999;
constexpr size_t kPrefetched = 4;  // batches that a worker has ready, at most
constexpr double kStallMs = 500;   // that starting workers takes from a program, at most

template <class Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

bool AreDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

// Keeps the order of `wanted`, which is the order of trying. A 0 first means "none", and stays.
FixValues AtMost(size_t most, const std::vector<size_t>& wanted) {
  FixValues found;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] > most || (wanted[i] == 0 && i > 0)) continue;
    const std::string value = std::to_string(wanted[i]);
    if (std::ranges::find(found.values, value) == found.values.end()) found.values.push_back(value);
  }
  return found;
}

// Example: 4 workers and steps of 50 ms. Starting them may take 10 steps, while they fetch at most 16 batches
// ahead: 11 steps settle, and steps count in fours.
BlockShape WorkerBlocks(size_t workers, double step_ms) {
  const auto stalled = static_cast<size_t>(std::ceil(kStallMs / std::max(step_ms, 1.0)));
  const size_t ahead = std::max(workers, std::min(kPrefetched * workers, stalled));
  return {.settle = 1 + ahead, .round = std::max<size_t>(workers, 1)};
}

bool IsWhole(std::string_view value, int64_t least, int64_t most) {
  if (!AreDigits(value)) return false;
  const auto number = NumberIn<int64_t>(value);
  return number && *number >= least && *number <= most;
}

bool IsPositive(std::string_view value, double most) {
  if (value.find_first_not_of("0123456789.") != value.npos) return false;
  const auto number = NumberIn<double>(value);
  return number && *number > 0 && *number <= most;
}

bool IsProcessors(std::string_view value) {
  const size_t dash = value.find('-');
  const std::string_view first = value.substr(0, dash), last = dash == value.npos ? first : value.substr(dash + 1);
  if (!IsWhole(first, 0, kMaxProcessors) || !IsWhole(last, 0, kMaxProcessors)) return false;
  return *NumberIn<int64_t>(first) <= *NumberIn<int64_t>(last);
}

}  // namespace gapless::internal
