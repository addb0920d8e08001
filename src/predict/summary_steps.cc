// SPDX-License-Identifier: Apache-2.0
// Unpacks the events of each candidate, and cuts them to the steps that all of them have.
#include "predict/summary_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyses/gather.h"
#include "analyses/window.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

struct Events {
  const RunTrace* of = nullptr;
  CutTrace cut{};
  bool whole = false;
};

std::optional<std::vector<Events>> EventsOf(std::span<const RunTrace* const> candidates) {
  std::vector<Events> all;
  for (const RunTrace* of : candidates) {
    auto cut = ReadEvents(*of->trace);
    if (!cut) return std::nullopt;
    const IdBase& rows = of->trace->summary->rows;
    const bool whole = static_cast<int64_t>(cut->trace->slices.size()) == rows.slice &&
                       static_cast<int64_t>(cut->trace->gpu_ops.size()) == rows.gpu_op;
    all.push_back({of, *std::move(cut), whole});
  }
  return all;
}

// Numbers of the steps that a stretch was cut to, in their order.
std::vector<int64_t> StepNumbers(const Trace& trace) {
  std::vector<int64_t> numbers;
  for (size_t row = 0; row < trace.steps.size(); ++row)
    if (trace.steps.complete[row] != 0) numbers.push_back(trace.steps.number[row]);
  return numbers;
}

// Leaves as complete only the steps of these numbers; false if one of them is not there.
bool CutToNumbers(Events& events, const std::vector<int64_t>& numbers) {
  const std::vector<int64_t> own = StepNumbers(*events.cut.trace);
  if (own == numbers) return true;
  const StepTable& steps = events.cut.trace->steps;
  std::optional<size_t> first, last;
  for (size_t row = 0; row < steps.size(); ++row) {
    if (std::ranges::count(numbers, steps.number[row]) == 0 || steps.complete[row] == 0) continue;
    if (!first) first = row;
    last = row;
  }
  if (!first) return false;
  const int64_t start = *first > 0 ? steps.ts_ns[*first - 1] : steps.ts_ns[*first];
  const CutTrace part = Cut(events.cut.trace, {.start_ns = start,
                                               .end_ns = steps.ts_ns[*last] + steps.dur_ns[*last],
                                               .first = StepId(*first),
                                               .last = StepId(*last)});
  events.cut.trace = part.trace;
  events.cut.rows.slice += part.rows.slice, events.cut.rows.gpu_op += part.rows.gpu_op;
  return StepNumbers(*events.cut.trace) == numbers;
}

// The numbers that all have.
std::vector<int64_t> CommonNumbers(const std::vector<Events>& all) {
  std::vector<int64_t> common = StepNumbers(*all[0].cut.trace);
  for (const Events& events : all) {
    const std::vector<int64_t> own = StepNumbers(*events.cut.trace);
    std::erase_if(common, [&](int64_t number) { return std::ranges::count(own, number) == 0; });
  }
  return common;
}

void MoveBase(const IdBase& rows, IdBase& base) {
  base.slice += rows.slice, base.gpu_op += rows.gpu_op, base.gpu_annotation += rows.gpu_annotation;
  base.sync += rows.sync, base.collective += rows.collective, base.step += rows.step;
}

std::shared_ptr<const Run> RunOf(const Run& run, const std::vector<Events>& all) {
  std::vector<RunTrace> traces(run.traces().begin(), run.traces().end());
  for (RunTrace& of : traces) {
    auto nothing = std::make_shared<Trace>();
    nothing->info = of.trace->info, of.trace = std::move(nothing), of.role = Role::kSupplement;
  }
  for (const Events& events : all) {
    RunTrace& of = traces[static_cast<size_t>(events.of->index)];
    of.trace = events.cut.trace, of.role = Role::kPrimary;
    MoveBase(events.cut.rows, of.base);
  }
  return std::make_shared<const Run>(std::move(traces));
}

// The mean length of the steps with these numbers, or of all, and how far the first may be from the second.
struct Lengths {
  double chosen = 0, all = 0, error = 0;
};

Lengths LengthsIn(const Trace& light, const std::vector<int64_t>& numbers) {
  Lengths lengths;
  double chosen = 0, count = 0, squares = 0;
  const Window window = WindowOf(*light.summary);
  for (const StepWindow& step : window.steps) {
    const auto ns = static_cast<double>(step.span.length());
    lengths.all += ns, squares += ns * ns;
    if (std::ranges::count(numbers, light.steps.number[step.step.value]) > 0) chosen += ns, ++count;
  }
  const auto steps = static_cast<double>(std::max<size_t>(1, window.steps.size()));
  lengths.all /= steps, lengths.chosen = count > 0 ? chosen / count : lengths.all;
  if (lengths.all <= 0 || count == 0) return lengths;
  constexpr double kEighty = 1.2816;  // of the normal distribution, on both sides
  const double spread = std::sqrt(std::max(0.0, squares / steps - lengths.all * lengths.all)) / lengths.all;
  lengths.error = std::hypot(kEighty * spread / std::sqrt(count), std::log(lengths.chosen / lengths.all));
  return lengths;
}

}  // namespace

std::optional<TypicalSteps> TakeSummarySteps(Tables& tables, std::span<const RunTrace* const> candidates) {
  auto all = EventsOf(candidates);
  if (!all || all->empty()) return std::nullopt;
  const bool whole = std::ranges::all_of(*all, &Events::whole);
  const size_t steps = candidates[0]->trace->summary->steps.size();
  TypicalSteps taken{.row = {0, steps}, .all_steps = steps};
  const std::vector<int64_t> numbers = whole ? std::vector<int64_t>() : CommonNumbers(*all);
  if (!whole) {
    if (numbers.empty() || steps == 0) return std::nullopt;
    for (Events& events : *all)
      if (!CutToNumbers(events, numbers)) return std::nullopt;
    taken.row = {steps - std::min(steps, numbers.size()), std::min(steps, numbers.size())};
  }
  const Lengths lengths = LengthsIn(*candidates[0]->trace, numbers);
  if (!whole) taken.error = lengths.error;
  if (taken.error > kMaxStepsError) return std::nullopt;
  taken.mean_step_ns = std::llround(lengths.all);
  taken.replayed_ns = std::llround((whole ? lengths.all : lengths.chosen) * static_cast<double>(taken.row.count));
  taken.run = RunOf(tables.run(), *all);
  taken.tables = std::make_shared<Tables>(*taken.run, tables.threads(), &tables);
  return taken;
}

}  // namespace gapless::internal
