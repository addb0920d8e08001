// SPDX-License-Identifier: Apache-2.0
// Implements the interval operations. Each is a single pass over sorted lists; Merge also sorts its input.
#include "analyses/intervals.h"

#include <algorithm>

namespace gapless::internal {

Intervals Merge(Intervals any) {
  std::sort(any.begin(), any.end(), [](Interval a, Interval b) { return a.start < b.start; });
  Intervals merged;
  for (const Interval interval : any) AppendMerged(merged, interval);
  return merged;
}

Intervals Unite(const Intervals& a, const Intervals& b) {
  Intervals united;
  united.reserve(std::max(a.size(), b.size()));
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
    AppendMerged(united, from_a ? a[i++] : b[j++]);
  }
  return united;
}

Intervals Intersect(const Intervals& a, const Intervals& b) {
  Intervals common;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    AppendMerged(common, {std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)});
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return common;
}

Intervals Subtract(const Intervals& a, const Intervals& b) {
  Intervals rest;
  size_t j = 0;
  for (const Interval whole : a) {
    int64_t start = whole.start;
    while (j < b.size() && b[j].end <= start) ++j;
    for (size_t k = j; k < b.size() && b[k].start < whole.end; ++k) {
      AppendMerged(rest, {start, b[k].start});
      start = b[k].end;
      j = k;  // the last one may reach into the next interval of a
    }
    AppendMerged(rest, {start, whole.end});
  }
  return rest;
}

bool IsSomeIn(const Intervals& a, Interval window) {
  const auto at = std::upper_bound(a.begin(), a.end(), window.start,
                                   [](int64_t ts, Interval interval) { return ts < interval.end; });
  return window.length() > 0 && at != a.end() && at->start < window.end;
}

Intervals Clip(const Intervals& a, Interval window) {
  Intervals inside;
  auto at = std::upper_bound(a.begin(), a.end(), window.start,
                             [](int64_t ts, Interval interval) { return ts < interval.end; });
  for (; at != a.end() && at->start < window.end; ++at)
    AppendMerged(inside, {std::max(at->start, window.start), std::min(at->end, window.end)});
  return inside;
}

int64_t TotalIn(const Intervals& a, Interval window) {
  int64_t total = 0;
  auto at = std::upper_bound(a.begin(), a.end(), window.start,
                             [](int64_t ts, Interval interval) { return ts < interval.end; });
  for (; at != a.end() && at->start < window.end; ++at)
    total += std::min(at->end, window.end) - std::max(at->start, window.start);
  return total;
}

int64_t Total(const Intervals& a) {
  int64_t total = 0;
  for (const Interval interval : a) total += interval.length();
  return total;
}

void AddWithin(const Intervals& a, std::span<const Interval> windows, std::span<int64_t> sums) {
  size_t i = 0;
  for (size_t w = 0; w < windows.size(); ++w) {
    while (i < a.size() && a[i].end <= windows[w].start) ++i;
    for (size_t k = i; k < a.size() && a[k].start < windows[w].end; ++k) {
      const int64_t start = std::max(a[k].start, windows[w].start), end = std::min(a[k].end, windows[w].end);
      if (end > start) sums[w] += end - start;
      i = k;
    }
  }
}

}  // namespace gapless::internal
