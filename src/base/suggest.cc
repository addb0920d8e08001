// SPDX-License-Identifier: Apache-2.0
// Finds the nearest known name by the edit distance of Damerau and Levenshtein. The distance is quadratic in the
// length, so texts of more than kLongestName are left alone.
#include "base/suggest.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kLongestName = 64;  // longer texts are no typing mistakes, and the distance is quadratic

}  // namespace

// Keeps three rows of the table: swapping neighbours looks two rows back.
int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

// A third of the letters may differ, but one always: short names would otherwise have no neighbours.
std::string_view Nearest(std::string_view text, std::span<const std::string_view> candidates) {
  if (text.empty() || text.size() > kLongestName) return {};
  std::string_view best;
  int best_distance = static_cast<int>(std::max<size_t>(1, text.size() / 3)) + 1;
  for (const std::string_view candidate : candidates) {
    const int distance = EditDistance(text, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty()) return best;
  for (const std::string_view candidate : candidates) {
    const size_t shared = std::min(text.size(), candidate.size());
    if (shared >= 3 && EqualsIgnoreCase(text.substr(0, shared), candidate.substr(0, shared))) return candidate;
  }
  return {};
}

}  // namespace gapless::internal
