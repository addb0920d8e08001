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

namespace {

// Returns the index of the first interval from `from` on that ends after `ts`: in steps that double, then by bisection,
// so that neighbours cost nothing and a far one its logarithm.
size_t FirstEndingAfter(const Intervals& list, size_t from, int64_t ts) {
  size_t step = 1, low = from;
  while (low < list.size() && list[low].end <= ts) {
    from = low + 1;
    low = std::min(list.size(), low + step);
    step *= 2;
  }
  const auto ends_by = [](Interval interval, int64_t at) { return interval.end <= at; };
  const auto first = list.begin() + static_cast<ptrdiff_t>(from), last = list.begin() + static_cast<ptrdiff_t>(low);
  return static_cast<size_t>(std::lower_bound(first, last, ts, ends_by) - list.begin());
}

}  // namespace

Intervals Subtract(const Intervals& a, const Intervals& b) {
  Intervals rest;
  size_t j = 0;
  for (const Interval whole : a) {
    int64_t start = whole.start;
    j = FirstEndingAfter(b, j, start);
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
  return window.end > window.start && at != a.end() && at->start < window.end;
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

IntervalSums::IntervalSums(const Intervals& list) : list_(list) {
  before_.reserve(list.size() + 1);
  before_.push_back(0);
  for (const Interval interval : list) before_.push_back(before_.back() + interval.length());
}

int64_t IntervalSums::In(Interval window) const {
  if (window.end <= window.start) return 0;
  const auto first = std::upper_bound(list_.begin(), list_.end(), window.start,
                                      [](int64_t ts, Interval interval) { return ts < interval.end; });
  const auto last = std::lower_bound(first, list_.end(), window.end,
                                     [](Interval interval, int64_t ts) { return interval.start < ts; });
  if (first == last) return 0;
  const int64_t whole =
      before_[static_cast<size_t>(last - list_.begin())] - before_[static_cast<size_t>(first - list_.begin())];
  return whole - std::max<int64_t>(0, window.start - first->start) - std::max<int64_t>(0, (last - 1)->end - window.end);
}

OverlapSums::OverlapSums(std::span<const Interval> intervals) {
  for (const Interval interval : intervals) {
    if (interval.end <= interval.start) continue;
    starts_.at.push_back(interval.start);
    ends_.at.push_back(interval.end);
  }
  Finish(starts_), Finish(ends_);
}

void OverlapSums::Finish(Edges& edges) {
  std::sort(edges.at.begin(), edges.at.end());
  edges.before.push_back(0);
  for (const int64_t at : edges.at) edges.before.push_back(edges.before.back() + static_cast<uint64_t>(at));
}

// Returns the times from each edge before `ts` to `ts`, added up.
uint64_t OverlapSums::Edges::SincePassed(int64_t ts) const {
  const auto passed = static_cast<size_t>(std::lower_bound(at.begin(), at.end(), ts) - at.begin());
  return passed * static_cast<uint64_t>(ts) - before[passed];
}

int64_t OverlapSums::In(Interval window) const {
  return window.end > window.start ? static_cast<int64_t>(TimeBefore(window.end) - TimeBefore(window.start)) : 0;
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
