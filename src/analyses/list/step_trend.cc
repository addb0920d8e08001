// SPDX-License-Identifier: Apache-2.0
// Shows how the duration of steps changes in the course of a run, from all steps that the agent reported.
//
// A program that adds to something in each step (hooks, lists, graphs) slows down with every one of them; six recorded
// steps do not show it. Steps with an evaluation, a checkpoint or a compilation in them are left out: these come now
// and then, and would make the quarters of a run differ.
#include "analyses/rows/step_trend.h"

#include <algorithm>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/counted_steps.h"
#include "base/series_trend.h"
#include "trace/formats.h"
#include "trace/marks.h"

namespace gapless::internal::step_trend_analysis {
namespace {

bool IsRareEvent(std::string_view name) {
  return name == kEvaluationName || name == kSaveName || name.ends_with(kCompileSuffix);
}

std::vector<uint32_t> PlainSteps(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  Intervals rare;
  for (size_t row = 0; row < slices.size(); ++row)
    if (IsRareEvent(trace.Text(slices.name[row])))
      AppendMerged(rare, {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]});
  std::vector<uint32_t> rows = StepsThatCount(trace);
  std::erase_if(rows, [&](uint32_t row) { return IsSomeIn(rare, SpanOfStep(trace, row)); });
  return rows;
}

int64_t WaitGrowth(const Trace& trace, const std::vector<uint32_t>& rows) {
  std::vector<SeriesPoint> waits;
  for (const uint32_t row : rows) {
    if (trace.steps.wait_ns[row] == kAbsent) return kAbsent;
    waits.push_back({static_cast<double>(row), static_cast<double>(trace.steps.wait_ns[row])});
  }
  const SeriesTrend trend = TrendOf(waits);
  return std::llround(trend.quarters.back() - trend.quarters.front());
}

void AddRow(const RunTrace& of, TableOf<StepTrendRows>& table) {
  const Trace& trace = *of.trace;
  const std::vector<uint32_t> rows = PlainSteps(trace);
  if (rows.size() < kMinTrendPoints) return;
  std::vector<SeriesPoint> points;
  for (const uint32_t row : rows)
    points.push_back({static_cast<double>(row), static_cast<double>(trace.steps.dur_ns[row])});
  const SeriesTrend trend = TrendOf(points);
  const int64_t first_ns = std::llround(trend.quarters.front());
  int64_t total_ns = 0, excess_ns = 0;
  for (const uint32_t row : rows) {
    total_ns += trace.steps.dur_ns[row];
    excess_ns += std::max<int64_t>(0, trace.steps.dur_ns[row] - first_ns);
  }
  auto row = table.Row(of);
  row.Set("steps", rows.size()).Set("total_ns", total_ns);
  std::array<int64_t, 4> quarters_ns;
  std::ranges::transform(trend.quarters, quarters_ns.begin(), [](double ns) { return std::llround(ns); });
  row.SetEach({"first_ns", "second_ns", "third_ns", "last_ns"}, quarters_ns);
  row.Set("slope_ns", trend.slope).Set("rank_correlation", trend.rank).Set("wait_growth_ns", WaitGrowth(trace, rows));
  row.Set("excess_ns", excess_ns);
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<StepTrendRows> table;
  for (const RunTrace& of : run.traces())
    if (of.counts() && of.trace->info.format == kAgentFormat) AddRow(of, table);
  return table;
}

}  // namespace

ANALYSIS(step_trend) = AnalysisOf<StepTrendRows>({.run = Compute});

}  // namespace gapless::internal::step_trend_analysis
