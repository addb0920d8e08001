// SPDX-License-Identifier: Apache-2.0
// Edges are trimmed by the three conditions of steady_span.h, in time linear in the number of busy intervals.
//
// Repetitions are found by the period of the busiest stream. Candidates are the distances at which short sequences of
// names come again in the first operations; of them the one whose stretch is longest is taken, the shorter one of two.
// Each candidate costs one pass over the stream's operations.
#include "analyses/steady_span.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
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

namespace {

constexpr size_t kLookedAt = 65'536;  // operations in which candidates are searched
constexpr size_t kCandidates = 16;
constexpr size_t kSequences[] = {1, 8, 32};  // lengths of the sequences whose distances count
constexpr size_t kLongPeriod = 32;           // operations of a repetition that is no chance: one less of them is enough
constexpr double kUsualPace = 1.5;           // longest usual repetition, in times of the fastest quarter
constexpr double kMinWorkShare = 0.5;        // smallest share of all device work
constexpr double kSlow = 0.5;                // largest busy share of a slow part, in shares of the repetitions'

// The operations of the stream that works longest, in order of time.
std::vector<uint32_t> BusiestStream(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::map<std::pair<int32_t, int64_t>, int64_t> work;
  for (size_t row = 0; row < ops.size(); ++row) work[{ops.device[row], ops.stream[row]}] += ops.dur_ns[row];
  const auto busiest = std::ranges::max_element(work, {}, [](const auto& entry) { return entry.second; });
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < ops.size(); ++row)
    if (std::pair(ops.device[row], ops.stream[row]) == busiest->first) rows.push_back(row);
  return rows;
}

using NameSequence = std::vector<uint32_t>;

// Adds one vote for each distance at which a sequence of `length` names comes again.
void VoteForDistances(const NameSequence& names, size_t length, std::unordered_map<size_t, size_t>& votes) {
  const size_t count = std::min(names.size(), kLookedAt);
  if (count < 2 * length) return;
  constexpr uint64_t kBase = 0x9E3779B97F4A7C15;
  uint64_t hash = 0, oldest = 1;  // hash of the sequence that ends at name i; weight of its first name in that
  for (size_t i = 1; i < length; ++i) oldest *= kBase;
  std::unordered_map<uint64_t, size_t> last;
  for (size_t i = 0; i < count; ++i) {
    if (i >= length) hash -= oldest * (names[i - length] + 1);
    hash = hash * kBase + names[i] + 1;
    if (i + 1 < length) continue;
    const auto [at, is_new] = last.try_emplace(hash, i);
    if (!is_new) ++votes[i - std::exchange(at->second, i)];
  }
}

std::vector<size_t> CandidatePeriods(const NameSequence& names) {
  std::vector<size_t> periods;
  for (const size_t length : kSequences) {
    std::unordered_map<size_t, size_t> votes;
    VoteForDistances(names, length, votes);
    std::vector<std::pair<size_t, size_t>> most;
    for (const auto& [distance, count] : votes) most.emplace_back(count, distance);
    std::ranges::sort(most, std::greater());
    for (size_t i = 0; i < std::min(most.size(), kCandidates); ++i) periods.push_back(most[i].second);
  }
  std::ranges::sort(periods);
  periods.erase(std::ranges::unique(periods).begin(), periods.end());
  return periods;
}

// Operations [first, last) of the stream, in which each name is that of `period` operations before.
struct RepeatedOps {
  size_t first = 0, last = 0, period = 0;
  size_t size() const { return last - first; }
};

RepeatedOps LongestRepeated(const NameSequence& names, size_t period) {
  RepeatedOps longest{.period = period};
  size_t first = 0;
  for (size_t i = period; i <= names.size(); ++i) {
    if (i < names.size() && names[i] == names[i - period]) continue;
    if (i - first > longest.size() && i - first >= 2 * period) longest = {first, i, period};
    first = i - period + 1;
  }
  return longest;
}

RepeatedOps FindRepeated(const NameSequence& names) {
  RepeatedOps best;
  for (const size_t period : CandidatePeriods(names))
    if (const RepeatedOps stretch = LongestRepeated(names, period); stretch.size() > best.size()) best = stretch;
  return best;
}

// Moves the beginning of the stretch to where a repetition begins: of the operations of the first period, that before
// which the device idles longest in the middle of all repetitions.
void AlignToPauses(const Trace& trace, const std::vector<uint32_t>& rows, RepeatedOps& stretch) {
  const GpuOpTable& ops = trace.gpu_ops;
  const auto pause_before = [&](size_t at) {
    if (at == 0) return int64_t{0};
    return ops.ts_ns[rows[at]] - ops.ts_ns[rows[at - 1]] - ops.dur_ns[rows[at - 1]];
  };
  size_t best = 0;
  int64_t longest = -1;
  std::vector<int64_t> pauses;
  for (size_t phase = 0; phase < stretch.period; ++phase) {
    pauses.clear();
    for (size_t at = stretch.first + phase; at < stretch.last; at += stretch.period) pauses.push_back(pause_before(at));
    const auto middle = pauses.begin() + static_cast<ptrdiff_t>(pauses.size() / 2);
    std::ranges::nth_element(pauses, middle);
    if (*middle > longest) longest = *middle, best = phase;
  }
  stretch.first += best;
}

// The stretch's repetitions at the usual pace, from the first to the last of them.
std::optional<Interval> AtUsualPace(const Trace& trace, const std::vector<uint32_t>& rows, const RepeatedOps& stretch,
                                    size_t fewest) {
  const GpuOpTable& ops = trace.gpu_ops;
  const size_t count = stretch.size() / stretch.period;
  if (count < fewest) return std::nullopt;
  std::vector<int64_t> starts;
  for (size_t i = 0; i < count; ++i) starts.push_back(ops.ts_ns[rows[stretch.first + i * stretch.period]]);
  const uint32_t last_op = rows[stretch.first + count * stretch.period - 1];
  starts.push_back(ops.ts_ns[last_op] + ops.dur_ns[last_op]);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < count; ++i) lengths.push_back(starts[i + 1] - starts[i]);
  std::vector<int64_t> sorted = lengths;
  std::ranges::sort(sorted);
  const double most_ns = kUsualPace * static_cast<double>(sorted[count / 4]);
  size_t first = 0, last = count;
  while (first<last&& static_cast<double>(lengths[first])> most_ns) ++first;
  while (last > first && static_cast<double>(lengths[last - 1]) > most_ns) --last;
  if (stretch.period >= kLongPeriod) --fewest;
  if (last - first < fewest) return std::nullopt;
  return Interval{starts[first], starts[last]};
}

double BusyShare(const Intervals& busy, Interval part) {
  return part.end > part.start ? static_cast<double>(TotalIn(busy, part)) / static_cast<double>(part.length()) : 0;
}

}  // namespace

std::optional<Interval> RepeatedSpan(const Trace& trace, const Intervals& busy, Interval whole, LeastRepeated least) {
  if (busy.empty()) return std::nullopt;
  const std::vector<uint32_t> rows = BusiestStream(trace);
  NameSequence names;
  names.reserve(rows.size());
  for (const uint32_t row : rows) names.push_back(static_cast<uint32_t>(trace.gpu_ops.name[row]));
  RepeatedOps stretch = FindRepeated(names);
  if (stretch.period < least.operations) return std::nullopt;
  AlignToPauses(trace, rows, stretch);
  const std::optional<Interval> span = AtUsualPace(trace, rows, stretch, least.repetitions);
  if (!span || static_cast<double>(TotalIn(busy, *span)) < kMinWorkShare * static_cast<double>(Total(busy)))
    return std::nullopt;
  const double pace = BusyShare(busy, *span);
  const Interval before{whole.start, span->start}, behind{span->end, whole.end};
  return Interval{BusyShare(busy, before) < kSlow * pace ? span->start : whole.start,
                  BusyShare(busy, behind) < kSlow * pace ? span->end : whole.end};
}

}  // namespace gapless::internal
