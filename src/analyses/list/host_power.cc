// SPDX-License-Identifier: Apache-2.0
// The power of each host's processors and memory by their energy counters, while the steps ran; without an agent, in
// all of its samples. A run's telemetry is of one host.
#include "analyses/rows/host_power.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/counted_steps.h"
#include "analyses/energy_counter.h"

namespace gapless::internal::host_power_analysis {
namespace {

struct HostEnergy {
  EnergyCounter processors{}, memory{};
};

HostEnergy CollectEnergy(const RunTrace& of, const std::optional<Interval>& window) {
  HostEnergy host;
  const CounterTable& counters = of.trace->counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    const int64_t at = counters.ts_ns[row] + of.ts_shift_ns;
    if (window && (at < window->start || at >= window->end)) continue;
    const std::string_view name = of.trace->Text(counters.name[row]);
    if (name == "host.energy") host.processors.Take(at, counters.value[row]);
    if (name == "host.energy.dram") host.memory.Take(at, counters.value[row]);
  }
  return host;
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<HostPowerRows> table;
  const std::optional<Interval> window = TimeOfSteps(run);
  for (const RunTrace& of : run.traces()) {
    if (!of.counts() || of.trace->info.format != "telemetry") continue;
    const HostEnergy host = CollectEnergy(of, window);
    if (!host.processors.is_known() && !host.memory.is_known()) continue;
    auto row = table.Row(of);
    row.Set("host", of.trace->info.host).Set("processor_watts", host.processors.Watts());
    row.Set("memory_watts", host.memory.Watts());
  }
  return table;
}

}  // namespace

ANALYSIS(host_power) = AnalysisOf<HostPowerRows>({.run = Compute});

}  // namespace gapless::internal::host_power_analysis
