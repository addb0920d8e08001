// SPDX-License-Identifier: Apache-2.0
// Algebra of time intervals [start, end) in ns. A list is sorted, its intervals are not empty and neither overlap nor
// touch. All operations are one pass over sorted lists; Subtract skips what lies far from its first list by bisection.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gapless::internal {

struct Interval {
  int64_t start = 0, end = 0;
  int64_t length() const { return end - start; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
using Intervals = std::vector<Interval>;

// Appends `next`, which must not start before any earlier start, to a list under construction. Empty ones leave no
// trace.
inline void AppendMerged(Intervals& list, Interval next) {
  if (next.end <= next.start) return;
  if (list.empty() || next.start > list.back().end)
    list.push_back(next);
  else if (next.end > list.back().end)
    list.back().end = next.end;
}

Intervals Merge(Intervals any);                               // from intervals in any order
Intervals Unite(const Intervals& a, const Intervals& b);      // in a or b
Intervals Intersect(const Intervals& a, const Intervals& b);  // in a and b
Intervals Subtract(const Intervals& a, const Intervals& b);   // in a, not in b
Intervals Clip(const Intervals& a, Interval window);
bool IsSomeIn(const Intervals& a, Interval window);    // is Clip() not empty? By bisection
int64_t TotalIn(const Intervals& a, Interval window);  // the total of Clip(), by bisection
int64_t Total(const Intervals& a);

// Answers TotalIn() of one list again and again, each time by bisection alone. The list must outlive it.
class IntervalSums {
 public:
  explicit IntervalSums(const Intervals& list);
  int64_t In(Interval window) const;

 private:
  const Intervals& list_;
  std::vector<int64_t> before_;  // by interval: the total of those before it; one more for all of them
};

// Answers how much of any intervals, which may overlap and then count several times, lies in a window: each time by
// bisection.
class OverlapSums {
 public:
  explicit OverlapSums(std::span<const Interval> intervals);
  int64_t In(Interval window) const;

 private:
  // Sums are modulo 2^64, since those of many times do not fit; the difference that is returned does.
  struct Edges {
    std::vector<int64_t> at{};
    std::vector<uint64_t> before{};  // by edge: the sum of those before it; one more for all of them
    uint64_t SincePassed(int64_t ts) const;
  };
  uint64_t TimeBefore(int64_t ts) const { return starts_.SincePassed(ts) - ends_.SincePassed(ts); }
  static void Finish(Edges& edges);
  Edges starts_, ends_;
};

// The length of the union of intervals that come in order of their starts: Total() of a list that nobody needs.
class UnionLength {
 public:
  void Add(Interval next) {
    if (next.end <= next.start || next.end <= end_) return;
    total_ += next.end - std::max(next.start, end_);
    end_ = next.end;
  }
  int64_t total() const { return total_; }

 private:
  int64_t total_ = 0, end_ = std::numeric_limits<int64_t>::min();
};

// Adds to sums[i] how much of `a` lies in windows[i]. Windows are sorted and do not overlap; they may touch or be
// empty.
void AddWithin(const Intervals& a, std::span<const Interval> windows, std::span<int64_t> sums);

}  // namespace gapless::internal
