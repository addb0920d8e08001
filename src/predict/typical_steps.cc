// SPDX-License-Identifier: Apache-2.0
// Compares every row of consecutive steps with all steps, and cuts the recordings to the best one.
#include "predict/typical_steps.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyses/window.h"
#include "base/timings.h"
#include "trace/cut.h"

namespace gapless::internal {
namespace {

struct Moments {
  double mean = 0, spread = 0;
};

// Sums over all steps up to each one, so that a row of steps costs the same however long it is.
class StepSums {
 public:
  // Sums distances from the mean, which are small, so that their squares do not lose digits.
  explicit StepSums(std::span<const int64_t> step_ns) : sums_(step_ns.size() + 1), squares_(step_ns.size() + 1) {
    double sum = 0;
    for (const int64_t ns : step_ns) sum += static_cast<double>(ns);
    mean_ = step_ns.empty() ? 0 : sum / static_cast<double>(step_ns.size());
    for (size_t i = 0; i < step_ns.size(); ++i) {
      const double off = static_cast<double>(step_ns[i]) - mean_;
      sums_[i + 1] = sums_[i] + off, squares_[i + 1] = squares_[i] + off * off;
    }
  }
  // Returns the moments of `count` steps from `first` on; `count` is at least 1.
  Moments Of(size_t first, size_t count) const {
    const auto n = static_cast<double>(count);
    const double off = (sums_[first + count] - sums_[first]) / n;
    const double square = (squares_[first + count] - squares_[first]) / n;
    return {.mean = mean_ + off, .spread = std::sqrt(std::max(0.0, square - off * off))};
  }

 private:
  std::vector<double> sums_, squares_;
  double mean_ = 0;
};

std::vector<int64_t> LengthsOf(const Window& window) {
  std::vector<int64_t> lengths;
  for (const StepWindow& step : window.steps) lengths.push_back(step.span.length());
  return lengths;
}

// Returns the number of steps to replay; 0: all of them.
size_t CountFor(const Trace& trace, const Window& window) {
  const size_t all = window.steps.size();
  if (all == 0) return 0;
  const size_t rows =
      RowsWithin(trace.slices.ts_ns, window.host).size() + RowsWithin(trace.gpu_ops.ts_ns, window.span).size();
  const size_t for_rows = kMinTypicalRows * all / std::max<size_t>(1, rows) + 1;
  const size_t count = std::max(kMinTypicalSteps, for_rows);
  return static_cast<double>(count) <= kMaxTypicalShare * static_cast<double>(all) ? count : 0;
}

// Returns the place of the step of that number; the number of steps if there is none.
size_t PlaceOf(const Trace& trace, const Window& window, int64_t number) {
  const auto at = std::ranges::find_if(
      window.steps, [&](const StepWindow& step) { return trace.steps.number[step.step.value] == number; });
  return static_cast<size_t>(at - window.steps.begin());
}

// From the step before the first one to the end of the last one, on the host and on the device.
Stretch StretchOf(const Trace& trace, const Window& window, size_t first, size_t count) {
  const StepId before = window.steps[first - 1].step, last = window.steps[first + count - 1].step;
  const int64_t host_end = trace.steps.ts_ns[last.value] + trace.steps.dur_ns[last.value];
  return {.start_ns = trace.steps.ts_ns[before.value],
          .end_ns = std::max(host_end, window.steps[first + count - 1].span.end),
          .first = window.steps[first].step,
          .last = last};
}

RunTrace CutTo(const RunTrace& whole, const Stretch& stretch) {
  CutTrace cut = Cut(whole.trace, stretch);
  RunTrace part = whole;
  part.trace = std::move(cut.trace);
  part.base.slice += cut.rows.slice, part.base.gpu_op += cut.rows.gpu_op, part.base.step += cut.rows.step;
  part.base.gpu_annotation += cut.rows.gpu_annotation;
  part.base.sync += cut.rows.sync, part.base.collective += cut.rows.collective;
  return part;
}

}  // namespace

StepsInARow FindTypical(std::span<const int64_t> step_ns, size_t count) {
  if (count == 0 || step_ns.size() < count + 1) return {};
  const StepSums sums(step_ns);
  const Moments all = sums.Of(0, step_ns.size());
  StepsInARow best;
  double least = INFINITY;
  for (size_t of = count; of <= count + kMoreSteps; ++of)
    for (size_t first = 1; first + of <= step_ns.size(); ++first) {
      const Moments row = sums.Of(first, of);
      const double distance = std::abs(row.mean - all.mean) + std::abs(row.spread - all.spread) / 2;
      if (distance < least) least = distance, best = {first, of};
    }
  return best;
}

std::optional<TypicalSteps> TakeTypicalSteps(Tables& tables, std::span<const RunTrace* const> candidates) {
  const TimedPart timed("predict", "typical steps");
  const Trace& main = *candidates[0]->trace;
  const Window& window = tables.Once(main, AnalysedWindow);
  const std::vector<int64_t> lengths = LengthsOf(window);
  const auto [first, count] = FindTypical(lengths, CountFor(main, window));
  if (count == 0) return std::nullopt;
  const int64_t number = main.steps.number[window.steps[first].step.value];
  std::vector<RunTrace> traces(tables.run().traces().begin(), tables.run().traces().end());
  for (const RunTrace* of : candidates) {
    const Window& its = tables.Once(*of->trace, AnalysedWindow);
    const size_t at = of == candidates[0] ? first : PlaceOf(*of->trace, its, number);
    if (at == 0 || at + count > its.steps.size()) return std::nullopt;
    traces[static_cast<size_t>(of->index)] = CutTo(*of, StretchOf(*of->trace, its, at, count));
  }
  const StepSums sums(lengths);
  const Moments all = sums.Of(0, lengths.size()), chosen = sums.Of(first, count);
  constexpr double kEightyPercent = 1.28;  // standard deviations on either side of the mean
  TypicalSteps taken{
      .run = std::make_shared<const Run>(std::move(traces)),
      .steps = count,
      .all_steps = lengths.size(),
      .scale = all.mean / std::max(1.0, chosen.mean),
      .error = kEightyPercent * all.spread / std::max(1.0, all.mean) / std::sqrt(static_cast<double>(count))};
  taken.tables = std::make_shared<Tables>(*taken.run, tables.threads());
  return taken;
}

}  // namespace gapless::internal
