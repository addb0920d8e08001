// SPDX-License-Identifier: Apache-2.0
// Measures how even the steps are, and what differs in those that take longest.
//
// A step is an outlier when it is longer than the median by more than three standard deviations, estimated from the
// median absolute deviation (1.4826 of it, for a normal distribution) so that outliers do not hide themselves, and by
// more than a tenth, so that very even steps do not make outliers of noise. The parts of the time breakdown that exceed
// the median step's show why. The first complete step of a recording is listed but not summed up: recorders are still
// starting and caches are cold, which says nothing of the steps that were not recorded.
#include "analyses/rows/step_variation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/rows/ledger.h"

namespace gapless::internal::step_variation_analysis {
namespace {

constexpr double kDeviations = 3, kNormal = 1.4826, kMinShare = 0.10;

constexpr std::array<LedgerRows::IntColumn, 8> kPartColumns = {"compute_ns",   "exposed_comm_ns", "exposed_copy_ns",
                                                               "idle_data_ns", "idle_launch_ns",  "idle_sync_ns",
                                                               "idle_host_ns", "idle_unknown_ns"};
constexpr std::array<std::string_view, 8> kPartNames = {"compute", "communication", "copies", "data",
                                                        "launch",  "sync",          "host",   "unknown"};

using Parts = std::array<int64_t, kPartColumns.size()>;

struct Step {
  int64_t number = 0, dur_ns = 0;
  bool opening = false;
  Parts parts{};  // summed over the devices
};

// Parts of each step of the trace, in the order of its windows, from the rows of the ledger.
std::vector<Step> StepsOf(const TraceTimeline& timeline, const LedgerRows& ledger,
                          std::span<const size_t> rows_of_trace) {
  std::vector<Step> steps;
  for (const StepWindow& window : timeline.window.steps)
    steps.push_back({timeline.trace().steps.number[window.step.value], window.span.length(), steps.empty(), {}});
  size_t at = 0;
  for (const size_t row : rows_of_trace) {
    if (ledger.IsNull(row, "step")) {
      at = 0;  // the next device's rows begin
      continue;
    }
    if (at >= steps.size()) break;
    for (size_t i = 0; i < kPartColumns.size(); ++i) steps[at].parts[i] += ledger.Int(row, kPartColumns[i]);
    ++at;
  }
  return steps;
}

struct Spread {
  int64_t sum_ns = 0, median_ns = 0, mad_ns = 0;
  double cov = std::numeric_limits<double>::quiet_NaN();
  Parts median_parts{};
};

Spread SpreadOf(const std::vector<Step>& steps) {
  Spread spread;
  std::vector<int64_t> values;
  for (const Step& step : steps) values.push_back(step.dur_ns), spread.sum_ns += step.dur_ns;
  spread.median_ns = Percentile(values, 0.5);
  double squares = 0;
  const double mean = static_cast<double>(spread.sum_ns) / static_cast<double>(steps.size());
  for (int64_t& value : values) {
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    value = std::abs(value - spread.median_ns);
  }
  spread.mad_ns = Percentile(values, 0.5);
  if (steps.size() > 1 && mean > 0) spread.cov = std::sqrt(squares / static_cast<double>(steps.size() - 1)) / mean;
  for (size_t i = 0; i < kPartColumns.size(); ++i) {
    values.clear();
    for (const Step& step : steps) values.push_back(step.parts[i]);
    spread.median_parts[i] = Percentile(values, 0.5);
  }
  return spread;
}

bool IsOutlier(const Step& step, const Spread& spread) {
  const auto median = static_cast<double>(spread.median_ns);
  const double bound = std::max(kDeviations * kNormal * static_cast<double>(spread.mad_ns), kMinShare * median);
  return static_cast<double>(step.dur_ns) > median + bound;
}

struct Excess {
  int64_t outliers = 0, dur_ns = 0, excess_ns = 0;
  Parts parts{};
};

void Add(const Step& step, const Spread& spread, Excess& excess) {
  ++excess.outliers, excess.dur_ns += step.dur_ns, excess.excess_ns += step.dur_ns - spread.median_ns;
  for (size_t i = 0; i < step.parts.size(); ++i) excess.parts[i] += step.parts[i] - spread.median_parts[i];
}

struct Subject {
  const TraceTimeline* timeline;
  const Spread* spread;
  int64_t steps;
};

void AddRow(const Subject& of, const Step* step, const Excess& excess, TableOf<StepVariationRows>& table) {
  const auto devices = static_cast<int64_t>(of.timeline->devices.size());
  const auto most = std::max_element(excess.parts.begin(), excess.parts.end());
  auto row = table.Row(*of.timeline->of);
  const int64_t dur_ns = step != nullptr ? step->dur_ns : of.spread->sum_ns;
  if (step != nullptr) row.Set("step", step->number).Set("opening", step->opening);
  row.Set("steps", of.steps).Set("dur_ns", dur_ns).Set("median_ns", of.spread->median_ns);
  row.Set("mad_ns", of.spread->mad_ns).Set("cov", of.spread->cov).Set("outliers", excess.outliers);
  row.Set("excess_ns", excess.excess_ns).Set("excess_share", ShareOf(excess.excess_ns, dur_ns));
  if (devices > 0 && *most > 0)
    row.Set("part", kPartNames[static_cast<size_t>(most - excess.parts.begin())]).Set("part_ns", *most / devices);
}

void AddRows(const TraceTimeline& timeline, std::vector<Step> steps, TableOf<StepVariationRows>& table) {
  if (steps.empty()) return;
  const Spread spread = SpreadOf(steps);
  const Subject subject{&timeline, &spread, static_cast<int64_t>(steps.size())};
  std::erase_if(steps, [&](const Step& step) { return !IsOutlier(step, spread); });
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.dur_ns > b.dur_ns; });
  Excess all;
  for (const Step& step : steps)
    if (!step.opening) Add(step, spread, all);
  AddRow(subject, nullptr, all, table);
  for (const Step& step : steps) {
    Excess one;
    Add(step, spread, one);
    AddRow(subject, &step, one, table);
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<StepVariationRows> table;
  const auto ledger = tables.Get<LedgerRows>();
  const RowsByTrace by_trace(ledger);
  for (const TraceTimeline& timeline : tables.Timelines())
    AddRows(timeline, StepsOf(timeline, ledger, by_trace.Of(timeline.of->index)), table);
  return table;
}

}  // namespace

ANALYSIS(step_variation) = AnalysisOf<StepVariationRows>({.run = Compute});

}  // namespace gapless::internal::step_variation_analysis
