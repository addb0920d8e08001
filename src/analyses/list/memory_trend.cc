// SPDX-License-Identifier: Apache-2.0
// Shows how memory grows in the course of a run: that of the run's processes on each host, as telemetry samples it, and
// what tensors hold on each device, as the agent reports it.
//
// Samples count from the first step that the agent saw to the last. The slope is that of what comes after the first
// quarter: until then a program fills caches, and the allocator finds its size.
#include "analyses/rows/memory_trend.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/counted_steps.h"
#include "base/series_trend.h"
#include "trace/formats.h"

namespace gapless::internal::memory_trend_analysis {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kNsPerSecond = 1e9;

struct Memory {
  std::vector<SeriesPoint> used;  // at seconds of the run
  double free = kUnknown;         // at the end
};

bool IsUsed(std::string_view name, bool of_device) {
  return name == (of_device ? "allocated memory" : "process.resident");
}

// Returns the samples by device; kAbsent32 stands for the host.
std::map<int32_t, Memory> Collect(const RunTrace& of, Interval window) {
  const Trace& trace = *of.trace;
  const CounterTable& counters = trace.counters;
  const bool by_agent = trace.info.format == kAgentFormat;
  std::map<int32_t, Memory> all;
  for (size_t row = 0; row < counters.size(); ++row) {
    const int64_t at = counters.ts_ns[row] + of.ts_shift_ns;
    const int32_t device = counters.device[row];
    if (at < window.start || at >= window.end || (device == kAbsent32) == by_agent) continue;
    const std::string_view name = trace.Text(counters.name[row]);
    if (IsUsed(name, by_agent))
      all[device].used.push_back({static_cast<double>(at) / kNsPerSecond, counters.value[row]});
    if (name == "host.memory.available") all[device].free = counters.value[row];
  }
  return all;
}

// Returns how many steps a process takes in a second, the one that takes most; NaN: not known.
double StepsPerSecond(const Run& run) {
  double most = kUnknown;
  for (const RunTrace& of : run.traces()) {
    const StepTable& steps = of.trace->steps;
    if (!of.counts() || of.trace->info.format != kAgentFormat || steps.size() < 2) continue;
    const int64_t span_ns = steps.ts_ns[steps.size() - 1] - steps.ts_ns[0];
    if (span_ns > 0)
      most = std::fmax(most, static_cast<double>(steps.size() - 1) * kNsPerSecond / static_cast<double>(span_ns));
  }
  return most;
}

void AddRow(const RunTrace& of, int32_t device, const Memory& memory, double steps_per_s,
            TableOf<MemoryTrendRows>& table) {
  const std::vector<SeriesPoint>& used = memory.used;
  if (used.size() < 2 * kMinTrendPoints) return;
  const SeriesTrend whole = TrendOf(used);
  const auto quarter = static_cast<std::ptrdiff_t>(used.size() / 4);
  const SeriesTrend later = TrendOf({used.begin() + quarter, used.end()});
  auto row = table.Row(of);
  row.Set("device", device).Set("samples", used.size());
  row.Set("span_ns", std::llround((used.back().at - used.front().at) * kNsPerSecond));
  row.SetEach({"first_bytes", "second_bytes", "third_bytes", "last_bytes"}, whole.quarters);
  row.Set("slope_bytes_s", later.slope).Set("rank_correlation", later.rank);
  row.Set("bytes_per_step", later.slope / steps_per_s).Set("free_bytes", memory.free);
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<MemoryTrendRows> table;
  const std::optional<Interval> window = TimeOfSteps(run);
  if (!window) return table;
  const double steps_per_s = StepsPerSecond(run);
  for (const RunTrace& of : run.traces()) {
    const std::string& format = of.trace->info.format;
    if (!of.counts() || (format != kAgentFormat && format != "telemetry")) continue;
    for (const auto& [device, memory] : Collect(of, *window)) AddRow(of, device, memory, steps_per_s, table);
  }
  return table;
}

}  // namespace

ANALYSIS(memory_trend) = AnalysisOf<MemoryTrendRows>({.run = Compute});

}  // namespace gapless::internal::memory_trend_analysis
