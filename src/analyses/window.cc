// SPDX-License-Identifier: Apache-2.0
// Computes the windows of steps and the analysed window by the rules of window.h.
#include "analyses/window.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>

#include "analyses/gather.h"
#include "analyses/steady_span.h"
#include "trace/marks.h"
#include "trace/summary.h"

namespace gapless::internal {
namespace {

constexpr int64_t kWarmUpTimes = 2;  // a warm-up step takes this many times the median of later ones
constexpr int64_t kLongWorkNs = 200'000'000;
// A twentieth of the time, and a millisecond: less is not worth another window.
constexpr LeastRepeated kBesideAStart = {.repetitions = 8, .operations = 2};
constexpr int64_t kWorkBesideAStartNs = 10'000'000;
constexpr int64_t kSetAsidePart = 20, kSetAsideNs = 1'000'000;
constexpr int64_t kAdjacentPart = 100;  // host spans less than 1/100 of a step apart follow each other

int64_t HostEnd(const StepTable& steps, size_t row) { return steps.ts_ns[row] + steps.dur_ns[row]; }

std::vector<uint32_t> CompleteSteps(const StepTable& steps) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < steps.size(); ++row)
    if (steps.complete[row] != 0 && steps.dur_ns[row] > 0) rows.push_back(row);
  return rows;
}

// Returns the time at which the device is done with what was launched before `step`, but not after the step's own first
// device work.
int64_t FirstStart(const Trace& trace, uint32_t step) {
  const StepTable& steps = trace.steps;
  const int64_t host_start = steps.ts_ns[step], own_first = steps.gpu_start_ns[step];
  if (own_first == kAbsent || own_first <= host_start) return host_start;
  int64_t before = host_start;
  const GpuOpTable& ops = trace.gpu_ops;
  for (size_t row = 0; row < ops.size() && ops.ts_ns[row] < own_first; ++row) {
    const SliceId launch = ops.launch[row];
    const bool earlier = launch.valid() ? trace.slices.ts_ns[launch.value] < host_start : !ops.step[row].valid();
    if (earlier) before = std::max(before, ops.ts_ns[row] + ops.dur_ns[row]);
  }
  return std::min(before, own_first);
}

std::vector<StepWindow> StepWindows(const Trace& trace) {
  const StepTable& steps = trace.steps;
  const std::vector<uint32_t> rows = CompleteSteps(steps);
  std::vector<StepWindow> windows(rows.size());
  int64_t next_end = std::numeric_limits<int64_t>::max();
  for (size_t i = rows.size(); i-- > 0;) {
    const int64_t end = std::max(HostEnd(steps, rows[i]), steps.gpu_end_ns[rows[i]]);  // kAbsent is the least number
    next_end = std::min(end, next_end);
    windows[i] = {StepId(rows[i]), {0, next_end}};
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t host_start = steps.ts_ns[rows[i]];
    int64_t& start = windows[i].span.start;
    if (i == 0) {
      start = std::min(FirstStart(trace, rows[0]), windows[0].span.end);
      continue;
    }
    const int64_t apart = host_start - HostEnd(steps, rows[i - 1]);
    const bool adjacent = apart < std::max(steps.dur_ns[rows[i - 1]], steps.dur_ns[rows[i]]) / kAdjacentPart;
    start = adjacent ? windows[i - 1].span.end : std::max(host_start, windows[i - 1].span.end);
  }
  return windows;
}

void Extend(Interval& span, int64_t start, int64_t end) {
  span.start = std::min(span.start, start);
  span.end = std::max(span.end, end);
}

Interval WholeSpan(const Trace& trace) {
  Interval span{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  const GpuOpTable& ops = trace.gpu_ops;
  const SliceTable& slices = trace.slices;
  for (size_t row = 0; row < ops.size(); ++row) {
    Extend(span, ops.ts_ns[row], ops.ts_ns[row] + ops.dur_ns[row]);
    if (const SliceId launch = ops.launch[row]; launch.valid())
      Extend(span, slices.ts_ns[launch.value], slices.ts_ns[launch.value] + slices.dur_ns[launch.value]);
  }
  // A loader whose only batch was asked for before the first launch: the device waits for it.
  for (size_t row = 0; ops.size() > 0 && row < slices.size() && slices.ts_ns[row] < span.start; ++row)
    if (slices.category[row] == SliceCategory::kAnnotation && IsDataLoadingMark(trace.Text(slices.name[row])))
      Extend(span, slices.ts_ns[row], span.start);
  for (size_t row = 0; ops.size() == 0 && row < slices.size(); ++row)
    Extend(span, slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]);
  return span.end >= span.start ? span : Interval{};
}

// The median length of the steps from one on, for one step after the other. The lengths are sorted once, and what has
// passed is taken out of a tree of counts (Fenwick's), so that each step costs a logarithm.
class LaterMedian {
 public:
  explicit LaterMedian(const std::vector<StepWindow>& steps) : left_(steps.size()), counts_(steps.size() + 1) {
    for (const StepWindow& step : steps) sorted_.push_back(step.span.length());
    std::ranges::sort(sorted_);
    for (size_t at = 1; at < counts_.size(); ++at) counts_[at] = at & (~at + 1);
  }

  // Takes out one step that has this length.
  void Pass(int64_t length_ns) {
    size_t at =
        static_cast<size_t>(std::ranges::lower_bound(sorted_, length_ns) - sorted_.begin()) + taken_[length_ns]++;
    for (++at; at < counts_.size(); at += at & (~at + 1)) --counts_[at];
    --left_;
  }

  // The upper median of those left, of which there is one at least.
  int64_t Ns() const {
    size_t at = 0, wanted = left_ / 2;
    for (size_t step = std::bit_floor(sorted_.size()); step > 0; step /= 2)
      if (at + step < counts_.size() && counts_[at + step] <= wanted) at += step, wanted -= counts_[at];
    return sorted_[at];
  }

 private:
  size_t left_;
  std::vector<size_t> counts_;
  std::vector<int64_t> sorted_{};
  std::unordered_map<int64_t, size_t> taken_{};  // by length
};

// Returns how many of the first steps are warm-up; at least one step remains. What happens once explains why a device
// idles in them; on the host alone the length has to do, and of at most half of the steps.
size_t WarmUpSteps(const std::vector<StepWindow>& steps, const Intervals& busy, const Intervals& one_off_idle) {
  LaterMedian later(steps);
  const IntervalSums idle(one_off_idle);
  const size_t most = busy.empty() ? steps.size() / 2 : steps.size() - 1;
  size_t count = 0;
  for (; count < most; ++count) {
    const int64_t length = steps[count].span.length();
    later.Pass(length);
    const int64_t median = later.Ns();
    if (length < kWarmUpTimes * median) break;
    if (!busy.empty() && 2 * idle.In(steps[count].span) < length - median) break;
  }
  return count;
}

SetAside Aside(AsideKind kind, Interval span, const Intervals& busy, size_t steps = 0) {
  return {kind, span, TotalIn(busy, span), static_cast<int64_t>(steps)};
}

// Excludes the edges of a single iteration of a serving engine: when its recorder was started the device was still at
// work for the iteration before, which is not in the recording, or no request was there yet.
void TrimIteration(const Intervals& busy, Window& window) {
  Interval& span = window.steps[0].span;
  const Interval whole = span;
  span = SteadySpan(Clip(busy, whole), whole);
  if (span.start > whole.start) window.set_aside.push_back(Aside(AsideKind::kBefore, {whole.start, span.start}, busy));
  if (span.end < whole.end) window.set_aside.push_back(Aside(AsideKind::kAfter, {span.end, whole.end}, busy));
}

void TakeSteps(const Trace& trace, const Intervals& busy, const Intervals& one_off_idle, Window& window) {
  const size_t warm_up = WarmUpSteps(window.steps, busy, one_off_idle);
  if (warm_up > 0) {
    const Interval span{window.steps[0].span.start, window.steps[warm_up].span.start};
    window.set_aside.push_back(Aside(AsideKind::kWarmUpSteps, span, busy, warm_up));
    window.steps.erase(window.steps.begin(), window.steps.begin() + static_cast<ptrdiff_t>(warm_up));
  }
  if (window.steps.size() == 1 && IsEngineIteration(trace.Text(trace.steps.name[window.steps[0].step.value])))
    TrimIteration(busy, window);
  const StepWindow &first = window.steps.front(), &last = window.steps.back();
  window.span = {first.span.start, last.span.end};
  window.host = {trace.steps.ts_ns[first.step.value], HostEnd(trace.steps, last.step.value)};
}

// Returns what follows a cold start, if that is steady work for long: at least kLongWorkNs of it, the device busy for
// four fifths of the time, after at most a tenth of all work. Else all of it is the cold start.
Interval BehindColdStart(const Intervals& busy, const Intervals& one_off_idle, Interval whole) {
  const int64_t all = Total(busy);
  for (const Interval& interval : one_off_idle) {
    const Interval rest{std::max(whole.start, interval.end), whole.end};
    const int64_t work = rest.length() > 0 ? TotalIn(busy, rest) : 0;
    if (work < kLongWorkNs || 10 * work < 9 * all) break;
    if (5 * work >= 4 * rest.length()) return rest;
  }
  return whole;
}

// Returns the part of a recording without steps that is analysed: the repetitions, if that leaves out a fair part of
// the time; else the rest behind a cold start; else all but edges without steady work. Beside a cold start
// repetitions have to be many, of several operations and of some work, for a start repeats some of its work, too; and
// what repeats behind the only batch of a loader is the layers of one pass.
Interval SteadyPart(const Trace& trace, const Intervals& busy, const std::vector<OneOff>& one_offs,
                    const Intervals& one_off_idle, Interval whole) {
  const bool is_cold = 2 * TotalIn(one_off_idle, whole) >= whole.length();
  const bool one_batch = std::ranges::any_of(one_offs, [&trace](const OneOff& one_off) {
    return trace.slices.category[one_off.slice.value] == SliceCategory::kAnnotation;
  });
  if (is_cold && one_batch) return BehindColdStart(busy, one_off_idle, whole);
  std::optional<Interval> repeated = RepeatedSpan(trace, busy, whole, is_cold ? kBesideAStart : LeastRepeated());
  if (is_cold && repeated && TotalIn(busy, *repeated) < kWorkBesideAStartNs) repeated.reset();
  const int64_t left_out_ns = repeated ? whole.length() - repeated->length() : 0;
  if (left_out_ns >= std::max(kSetAsideNs, whole.length() / kSetAsidePart)) return *repeated;
  return is_cold ? BehindColdStart(busy, one_off_idle, whole) : SteadySpan(busy, whole);
}

void TakeWhole(const Trace& trace, const Intervals& busy, const std::vector<OneOff>& one_offs,
               const Intervals& one_off_idle, Window& window) {
  window.span = WholeSpan(trace);
  window.host = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const Interval whole = window.span;
  const Interval steady = SteadyPart(trace, busy, one_offs, one_off_idle, whole);
  if (steady == whole) return;
  if (steady.start > whole.start)
    window.set_aside.push_back(Aside(AsideKind::kBefore, {whole.start, steady.start}, busy));
  if (steady.end < whole.end) window.set_aside.push_back(Aside(AsideKind::kAfter, {steady.end, whole.end}, busy));
  window.span = window.host = steady;
}

}  // namespace

Window AnalysedWindow(const Trace& trace) {
  if (trace.summary) return WindowOf(*trace.summary);
  Window window;
  window.steps = StepWindows(trace);
  const Intervals busy = DeviceWork(trace);
  std::vector<OneOff> one_offs = busy.empty() ? std::vector<OneOff>() : FindOneOffs(trace, busy);
  const Intervals idle = IdleInOneOffs(one_offs, busy);
  window.steps.empty() ? TakeWhole(trace, busy, one_offs, idle, window) : TakeSteps(trace, busy, idle, window);
  window.one_offs = std::move(one_offs);
  window.one_off_idle_ns = TotalIn(idle, window.span);
  return window;
}

RowRange RowsWithin(const Column<int64_t>& ts_ns, Interval span) {
  const auto at = [&](int64_t ts) {
    return static_cast<size_t>(std::lower_bound(ts_ns.begin(), ts_ns.end(), ts) - ts_ns.begin());
  };
  return {at(span.start), std::max(at(span.start), at(span.end))};
}

}  // namespace gapless::internal
