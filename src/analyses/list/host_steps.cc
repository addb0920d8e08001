// SPDX-License-Identifier: Apache-2.0
// Where the steps of a process without device work go, on the thread that takes the steps. Each moment of an analysed
// step belongs to the first of these that is open then:
//
//   data        the data loader's iterator
//   save, gc, compile   what should not happen in every step (the names of host_events)
//   optimizer   Optimizer.step, without the closure that it may run (optimizer_updates.h)
//   collective  a collective of the host is under way (gloo runs it on a thread of its own) and no operator here
//   operator    any other operator
//   python      the rest: Python between operators
//
// If no step is marked, each moment from the first event to the last is divided. Processes that used a device are in
// the ledger instead, and not here.
#include "analyses/rows/host_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/host_parts.h"
#include "analyses/optimizer_updates.h"

namespace gapless::internal {
namespace {

using host_parts::Part;
using enum host_parts::Part;

// Operators that compute nothing: what they take is what calling any operator takes, on that machine, with that
// profiler.
bool OnlyMakesAView(std::string_view name) {
  static constexpr std::string_view kViews[] = {"aten::expand",  "aten::permute",   "aten::select",   "aten::slice",
                                                "aten::squeeze", "aten::transpose", "aten::unsqueeze"};
  return std::find(std::begin(kViews), std::end(kViews), name) != std::end(kViews);
}
constexpr size_t kFewestViews = 16;

// Returns the rows of the operators of a thread.
std::vector<uint32_t> OperatorsOf(const SliceTable& slices, ThreadId thread) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < slices.size(); ++row)
    if (slices.thread[row] == thread && slices.category[row] == SliceCategory::kOperator) rows.push_back(row);
  return rows;
}

// Estimates the time of an operator that only makes a view from its parts: itself and most often as_strided.
// `operators`: those of its thread.
int64_t CallOf(const SliceTable& slices, const std::vector<uint32_t>& operators, uint32_t view) {
  const int64_t end = slices.ts_ns[view] + slices.dur_ns[view];
  const auto begin = std::ranges::upper_bound(operators, view);
  const auto behind =
      std::lower_bound(begin, operators.end(), end, [&](uint32_t row, int64_t ts) { return slices.ts_ns[row] < ts; });
  return slices.dur_ns[view] / (1 + (behind - begin));
}

// "Optimizer.step#AdamW.step" → "AdamW"
std::string_view OptimizerIn(std::string_view name) {
  name.remove_prefix(std::min(name.size(), std::string_view("Optimizer.step#").size()));
  return name.substr(0, name.find('.'));
}

struct Host {
  std::array<Intervals, static_cast<size_t>(kParts)> of;
  int64_t operators = 0, optimizer_operators = 0, calls = 0;
  std::vector<int64_t> call_ns;  // duration of each call that only makes a view
  StringId optimizer = StringId::kNone;
  std::map<StringId, int64_t> data_lines, operator_lines, optimizer_lines;  // time by source line
};

// The line with the most time; kNone: no line is known.
StringId MostOf(const std::map<StringId, int64_t>& lines) {
  const auto most =
      std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == lines.end() ? StringId::kNone : most->first;
}

void AddLine(std::map<StringId, int64_t>& lines, const SliceTable& slices, size_t row) {
  if (slices.source_line[row] != StringId::kNone) lines[slices.source_line[row]] += slices.dur_ns[row];
}

bool InsideOperator(const SliceTable& slices, size_t row) {
  for (SliceId at = slices.parent[row]; at.valid(); at = slices.parent[at.value])
    if (slices.category[at.value] == SliceCategory::kOperator) return true;
  return false;
}

Host Collect(const TraceTimeline& timeline, const OptimizerUpdates& updates) {
  const Trace& trace = timeline.trace();
  Host host;
  std::vector<uint8_t> is_analysed(trace.steps.size());
  for (const StepWindow& step : timeline.window.steps) is_analysed[step.step.value] = 1;
  const SliceTable& slices = trace.slices;
  const ThreadId thread = host_parts::SteppingThread(trace);
  const std::vector<uint32_t> operators = OperatorsOf(slices, thread);
  std::vector<Part> parts(trace.strings.size(), kParts);
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.thread[row] != thread) continue;
    const auto text = static_cast<uint32_t>(slices.name[row]);
    const bool is_operator = slices.category[row] == SliceCategory::kOperator;
    if (parts[text] == kParts) parts[text] = host_parts::PartOf(trace.Text(slices.name[row]));
    const Part part = parts[text] == kNone && is_operator ? kOperator : parts[text];
    if (part == kNone) continue;
    if (part == kOptimizer) {
      const OptimizerUpdate* update = updates.At(row);
      if (update == nullptr) continue;  // one inside another
      for (const Interval& own : update->own) AppendMerged(host.of[static_cast<size_t>(part)], own);
    } else {
      AppendMerged(host.of[static_cast<size_t>(part)], {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]});
    }
    if (part == kOptimizer) host.optimizer = slices.name[row], AddLine(host.optimizer_lines, slices, row);
    if (part == kData) AddLine(host.data_lines, slices, row);
    const StepId step = slices.step[row];
    if (part != kOperator || (!is_analysed.empty() && (!step.valid() || is_analysed[step.value] == 0))) continue;
    const bool in_optimizer = updates.Holds(row);
    host.calls += in_optimizer ? 0 : 1;
    if (OnlyMakesAView(trace.Text(slices.name[row]))) host.call_ns.push_back(CallOf(slices, operators, row));
    if (InsideOperator(slices, row)) continue;
    ++host.operators;
    host.optimizer_operators += in_optimizer ? 1 : 0;
    if (!in_optimizer) AddLine(host.operator_lines, slices, row);
  }
  const CollectiveTable& collectives = trace.collectives;
  for (size_t row = 0; row < collectives.size(); ++row)
    if (collectives.device[row] == kAbsent32 && collectives.slice[row].valid() &&
        slices.thread[collectives.slice[row].value] != thread)
      AppendMerged(host.of[static_cast<size_t>(kCollective)],
                   {collectives.ts_ns[row], collectives.ts_ns[row] + collectives.dur_ns[row]});
  return host;
}

void AddRow(const TraceTimeline& timeline, Tables& tables, TableOf<HostStepsRows>& table) {
  const Trace& trace = timeline.trace();
  Intervals rest;
  int64_t steps = 0, wall = 0;
  for (const StepWindow& window : timeline.window.steps) {
    const uint32_t step = window.step.value;
    ++steps;
    AppendMerged(rest, {trace.steps.ts_ns[step], trace.steps.ts_ns[step] + trace.steps.dur_ns[step]});
  }
  // Without marks all that was recorded is divided.
  if (trace.steps.size() == 0) AppendMerged(rest, timeline.window.span);
  if (Total(rest) == 0 || trace.slices.size() == 0) return;
  wall = Total(rest);
  Host host = Collect(timeline, tables.Once(trace, FindOptimizerUpdates));
  // Operators of the stepping thread that run during a collective do not count as waiting.
  host.of[static_cast<size_t>(kCollective)] =
      Subtract(host.of[static_cast<size_t>(kCollective)], host.of[static_cast<size_t>(kOperator)]);
  auto row = table.Row(*timeline.of);
  row.Set("steps", steps).Set("wall_ns", wall);
  std::array<int64_t, static_cast<size_t>(kParts)> ns;
  for (size_t part = 0; part < ns.size(); ++part) {
    ns[part] = Total(Intersect(rest, host.of[part]));
    rest = Subtract(rest, host.of[part]);
  }
  row.SetEach({"data_ns", "save_ns", "gc_ns", "compile_ns", "optimizer_ns", "collective_ns", "operator_ns"}, ns);
  row.Set("python_ns", Total(rest)).Set("operators", host.operators);
  row.Set("optimizer_operators", host.optimizer_operators).Set("calls", host.calls);
  const int64_t call_ns = host.call_ns.size() < kFewestViews ? 0 : Percentile(host.call_ns, 0.5);
  if (call_ns > 0) row.Set("call_ns", call_ns);
  row.Set("optimizer", OptimizerIn(trace.Text(host.optimizer)));
  row.Set("optimizer_line", trace.Text(MostOf(host.optimizer_lines)));
  row.Set("data_line", trace.Text(MostOf(host.data_lines)));
  row.Set("operator_line", trace.Text(MostOf(host.operator_lines)));
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<HostStepsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    if (timeline.devices.empty()) AddRow(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(host_steps) = AnalysisOf<HostStepsRows>({.run = Compute});

}  // namespace gapless::internal
