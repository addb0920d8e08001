// SPDX-License-Identifier: Apache-2.0
// Compares every row of consecutive steps, or parts, with all of them, and cuts the recordings to the best one.
#include "predict/typical_steps.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyses/window.h"
#include "base/strings.h"
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
  explicit StepSums(std::span<const int64_t> values) : sums_(values.size() + 1), squares_(values.size() + 1) {
    double sum = 0;
    for (const int64_t value : values) sum += static_cast<double>(value);
    mean_ = values.empty() ? 0 : sum / static_cast<double>(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double off = static_cast<double>(values[i]) - mean_;
      sums_[i + 1] = sums_[i] + off, squares_[i + 1] = squares_[i] + off * off;
    }
  }
  size_t size() const { return sums_.size() - 1; }
  double mean() const { return mean_; }
  // Returns the moments of `count` steps from `first` on; `count` is at least 1.
  Moments Of(size_t first, size_t count) const {
    const auto n = static_cast<double>(count);
    const double off = (sums_[first + count] - sums_[first]) / n;
    const double square = (squares_[first + count] - squares_[first]) / n;
    return {.mean = mean_ + off, .spread = std::sqrt(std::max(0.0, square - off * off))};
  }
  // The spread of all steps, as a share of their mean.
  double Spread() const { return Of(0, size()).spread / mean_; }
  // Returns how far the mean of a row of `count` is off, as a root mean square over all such rows, and a share of the
  // mean.
  double SpreadOfRows(size_t count) const {
    double squares = 0;
    for (size_t first = 0; first + count <= size(); ++first) {
      const double off = Of(first, count).mean / mean_ - 1;
      squares += off * off;
    }
    return std::sqrt(squares / static_cast<double>(size() - count + 1));
  }

 private:
  std::vector<double> sums_, squares_;
  double mean_ = 0;
};

size_t StepsInBoth(StepsInARow a, StepsInARow b) {
  const size_t first = std::max(a.first, b.first), end = std::min(a.first + a.count, b.first + b.count);
  return end > first ? end - first : 0;
}

std::vector<int64_t> LengthsOf(const Window& window) {
  std::vector<int64_t> lengths;
  for (const StepWindow& step : window.steps) lengths.push_back(step.span.length());
  return lengths;
}

size_t RowsIn(const Trace& trace, const Window& window) {
  return RowsWithin(trace.slices.ts_ns, window.host).size() + RowsWithin(trace.gpu_ops.ts_ns, window.span).size();
}

constexpr double kEightyPercent = 1.28;  // standard deviations on either side of the mean

// The error of the mean of `count` independent steps, as a logarithm.
double ErrorOf(const StepSums& steps, size_t count) {
  return kEightyPercent * steps.Spread() / std::sqrt(static_cast<double>(count));
}

// Returns how far the mean of the row is from that of all, as a logarithm.
double DistanceOf(const StepSums& steps, StepsInARow row) {
  constexpr double kLeastShare = 1e-9;
  return std::abs(std::log(std::max(kLeastShare, steps.Of(row.first, row.count).mean / steps.mean())));
}

// Returns the number of steps to replay; 0: all of them.
size_t CountFor(size_t rows, const StepSums& steps) {
  const size_t for_rows = kMinTypicalRows * steps.size() / std::max<size_t>(1, rows) + 1;
  size_t fewest = kMinAlikeSteps;
  while (fewest < kMinTypicalSteps && ErrorOf(steps, fewest) > kMaxAlikeError) ++fewest;
  const size_t count = std::max(fewest, for_rows);
  return static_cast<double>(count) <= kMaxTypicalShare * static_cast<double>(steps.size()) ? count : 0;
}

// Parts is what was done in parts of equal time of a recording without steps.
struct Parts {
  Interval span;
  size_t count = 0;
  std::vector<std::vector<int64_t>> measures{};

  int64_t StartOf(size_t part) const {
    return span.start + span.length() / static_cast<int64_t>(count) * static_cast<int64_t>(part);
  }
};

Parts PartsOf(const Trace& trace, const Window& window) {
  Parts parts{.span = window.span, .count = RowsIn(trace, window) / (kMinTypicalRows / kTypicalParts)};
  std::vector<int64_t> slices, ops, op_ns;
  for (size_t part = 0; part < parts.count; ++part) {
    const Interval span{parts.StartOf(part), parts.StartOf(part + 1)};
    slices.push_back(static_cast<int64_t>(RowsWithin(trace.slices.ts_ns, span).size()));
    const RowRange begun = RowsWithin(trace.gpu_ops.ts_ns, span);
    ops.push_back(static_cast<int64_t>(begun.size()));
    int64_t& ns = op_ns.emplace_back();
    for (size_t op = begun.first; op < begun.last; ++op) ns += trace.gpu_ops.dur_ns[op];
  }
  for (std::vector<int64_t>* measure : {&slices, &ops, &op_ns})
    if (std::ranges::any_of(*measure, [](int64_t value) { return value != 0; }))
      parts.measures.push_back(std::move(*measure));
  return parts;
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

StepsInARow FindTypical(std::span<const std::vector<int64_t>> measures, size_t count, StepsInARow other) {
  const std::vector<StepSums> sums(measures.begin(), measures.end());
  if (count == 0 || sums.empty() || sums[0].size() < count + 1) return {};
  StepsInARow best;
  double least = INFINITY;
  for (size_t of = count; of <= count + kMoreSteps; ++of)
    for (size_t first = 1; first + of <= sums[0].size(); ++first) {
      if (StepsInBoth({first, of}, other) * 2 > other.count) continue;
      double distance = 0;
      for (const StepSums& measure : sums) {
        const Moments row = measure.Of(first, of), all = measure.Of(0, measure.size());
        distance += (std::abs(row.mean - all.mean) + std::abs(row.spread - all.spread) / 2) / all.mean;
      }
      if (distance < least) least = distance, best = {first, of};
    }
  return best;
}

std::string TypicalSteps::Extent() const {
  if (all_steps > 0) return StrCat(row.count, " of ", all_steps, " steps");
  return StrCat(FormatDuration(replayed_ns), " of ", FormatDuration(mean_step_ns));
}

namespace {

// Cuts the recordings to the stretch that is chosen of each candidate.
void TakeRun(const Tables& tables, std::span<const RunTrace* const> candidates, std::span<const Stretch> stretches,
             TypicalSteps& taken) {
  std::vector<RunTrace> traces(tables.run().traces().begin(), tables.run().traces().end());
  for (size_t i = 0; i < candidates.size(); ++i)
    traces[static_cast<size_t>(candidates[i]->index)] = CutTo(*candidates[i], stretches[i]);
  taken.run = std::make_shared<const Run>(std::move(traces));
  taken.tables = std::make_shared<Tables>(*taken.run, tables.threads());
}

std::optional<TypicalSteps> TakeSteps(Tables& tables, std::span<const RunTrace* const> candidates, StepsInARow other) {
  const Trace& main = *candidates[0]->trace;
  const Window& window = tables.Once(main, AnalysedWindow);
  const std::vector<std::vector<int64_t>> lengths{LengthsOf(window)};
  const StepSums sums(lengths[0]);
  const StepsInARow row = FindTypical(lengths, CountFor(RowsIn(main, window), sums), other);
  if (row.count == 0) return std::nullopt;
  const int64_t number = main.steps.number[window.steps[row.first].step.value];
  std::vector<Stretch> stretches;
  for (const RunTrace* of : candidates) {
    const Window& its = tables.Once(*of->trace, AnalysedWindow);
    const size_t at = of == candidates[0] ? row.first : PlaceOf(*of->trace, its, number);
    if (at == 0 || at + row.count > its.steps.size()) return std::nullopt;
    stretches.push_back(StretchOf(*of->trace, its, at, row.count));
  }
  const Moments chosen = sums.Of(row.first, row.count);
  TypicalSteps taken{.row = row,
                     .all_steps = sums.size(),
                     .replayed_ns = std::llround(chosen.mean * static_cast<double>(row.count)),
                     .mean_step_ns = std::llround(sums.mean()),
                     .error = std::hypot(ErrorOf(sums, row.count), DistanceOf(sums, row))};
  if (taken.error > kMaxStepsError) return std::nullopt;
  TakeRun(tables, candidates, stretches, taken);
  return taken;
}

// Ranks without steps have no parts in common.
std::optional<TypicalSteps> TakeParts(Tables& tables, std::span<const RunTrace* const> candidates, StepsInARow other) {
  if (candidates.size() > 1) return std::nullopt;
  const Trace& main = *candidates[0]->trace;
  const Parts parts = PartsOf(main, tables.Once(main, AnalysedWindow));
  if (static_cast<double>(kTypicalParts) > kMaxTypicalShare * static_cast<double>(parts.count)) return std::nullopt;
  const StepsInARow row = FindTypical(parts.measures, kTypicalParts, other);
  if (row.count == 0) return std::nullopt;
  TypicalSteps taken{.row = row, .mean_step_ns = parts.span.length()};
  for (const std::vector<int64_t>& measure : parts.measures) {
    const StepSums sums(measure);
    const double error = std::hypot(kEightyPercent * sums.SpreadOfRows(row.count), DistanceOf(sums, row));
    taken.error = std::max(taken.error, error);
  }
  if (taken.error > kMaxPartsError) return std::nullopt;
  const Stretch stretch{.start_ns = parts.StartOf(row.first), .end_ns = parts.StartOf(row.first + row.count)};
  taken.replayed_ns = stretch.end_ns - stretch.start_ns;
  TakeRun(tables, candidates, {&stretch, 1}, taken);
  return taken;
}

}  // namespace

std::optional<TypicalSteps> TakeTypicalSteps(Tables& tables, std::span<const RunTrace* const> candidates,
                                             StepsInARow other) {
  const TimedPart timed("predict", "typical steps");
  const bool has_steps = !tables.Once(*candidates[0]->trace, AnalysedWindow).steps.empty();
  return has_steps ? TakeSteps(tables, candidates, other) : TakeParts(tables, candidates, other);
}

}  // namespace gapless::internal
