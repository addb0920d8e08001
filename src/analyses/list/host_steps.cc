// SPDX-License-Identifier: Apache-2.0
// Divides the steps of a process without device work, on the thread that takes the steps, into the parts of
// host_partition.h, with what was called in them and the lines with most of their time.
#include "analyses/rows/host_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/host_partition.h"
#include "analyses/optimizer_updates.h"

namespace gapless::internal::host_steps_analysis {
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
    if (part == kOptimizer && updates.At(row) == nullptr) continue;  // one inside another
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
  return host;
}

void AddRow(const TraceTimeline& timeline, Tables& tables, TableOf<HostStepsRows>& table) {
  const Trace& trace = timeline.trace();
  const OptimizerUpdates& updates = tables.Once(trace, FindOptimizerUpdates);
  const HostPartition partition = PartitionHost(timeline, updates);
  if (partition.wall_ns == 0) return;
  Host host = Collect(timeline, updates);
  auto row = table.Row(*timeline.of);
  row.Set("steps", partition.steps).Set("wall_ns", partition.wall_ns);
  std::array<int64_t, kOwnHostParts + 1> ns;
  std::ranges::transform(partition.of, ns.begin(), Total);
  row.SetEach(
      {"data_ns", "save_ns", "gc_ns", "compile_ns", "optimizer_ns", "collective_ns", "operator_ns", "python_ns"}, ns);
  row.Set("operators", host.operators);
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

}  // namespace gapless::internal::host_steps_analysis
