// SPDX-License-Identifier: Apache-2.0
// Trims the edges of a recording by the three conditions of steady_span.h. The cost is linear in the number of busy
// intervals.
#include "analyses/steady_span.h"

#include <algorithm>
#include <vector>

namespace gapless::internal {
namespace {

constexpr double kMaxEdgeWork = 0.02;  // share of the device work
constexpr double kMinEdgeGap = 0.05;   // share of the recording
constexpr int64_t kMinEdgeNs = 1'000'000;
constexpr double kMinTimesInner = 3;  // longer than any gap that remains

// Gap i lies before busy interval i; the last one behind all of them.
std::vector<int64_t> Gaps(const Intervals& busy, Interval whole) {
  std::vector<int64_t> gaps;
  int64_t at = whole.start;
  for (const Interval& interval : busy) gaps.push_back(interval.start - at), at = interval.end;
  gaps.push_back(whole.end - at);
  return gaps;
}

}  // namespace

Interval SteadySpan(const Intervals& busy, Interval whole) {
  if (busy.empty()) return whole;
  const std::vector<int64_t> gaps = Gaps(busy, whole);
  const auto least = std::max(kMinEdgeNs, static_cast<int64_t>(kMinEdgeGap * static_cast<double>(whole.length())));
  const auto most_work = static_cast<int64_t>(kMaxEdgeWork * static_cast<double>(Total(busy)));
  // The candidates: the last long gap with little work before it, and the first with little after it.
  size_t first = 0, last = busy.size();  // busy intervals [first, last) remain
  int64_t work = 0;
  for (size_t i = 0; i < busy.size() && work <= most_work; work += busy[i++].length())
    if (gaps[i] >= least) first = i;
  work = 0;
  for (size_t i = busy.size(); i > first && work <= most_work; work += busy[--i].length())
    if (gaps[i] >= least) last = i;
  if (last <= first) return whole;
  int64_t inner = 0;
  for (size_t i = first + 1; i < last; ++i) inner = std::max(inner, gaps[i]);
  const auto stands_out = [&](size_t gap) {
    return gaps[gap] >= least && static_cast<double>(gaps[gap]) > kMinTimesInner * static_cast<double>(inner);
  };
  // An edge that stays keeps the work up to it, and its own gap then is an inner one for the other edge.
  const bool trims_start = stands_out(first), trims_end = stands_out(last);
  return {trims_start ? busy[first].start : whole.start, trims_end ? busy[last - 1].end : whole.end};
}

}  // namespace gapless::internal
