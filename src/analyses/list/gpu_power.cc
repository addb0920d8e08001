// SPDX-License-Identifier: Apache-2.0
// Sums up the power of each GPU that telemetry saw while the steps ran; without an agent, in all of its samples.
#include "analyses/rows/gpu_power.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/counted_steps.h"
#include "analyses/energy_counter.h"
#include "trace/formats.h"

namespace gapless::internal::gpu_power_analysis {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct PowerSamples {
  double sum = 0;
  int64_t count = 0;
  double Mean() const { return count > 0 ? sum / static_cast<double>(count) : kUnknown; }
  void Add(double value) { sum += value, ++count; }
};

// The samples of a GPU, in the order of time.
class GpuPower {
 public:
  void Take(std::string_view name, int64_t ts_ns, double value) {
    if (name == "gpu.energy") return energy_.Take(ts_ns, value);
    if (name == "gpu.utilization") return utilization_.Add(value);
    if (name != "gpu.power") return;
    watts_.Add(value);
    least_ = std::min(value, least_.value_or(value));
  }
  bool is_known() const { return watts_.count > 0 || energy_.is_known(); }

  void AddRow(const RunTrace& of, int32_t device, TableOf<GpuPowerRows>& table) const {
    auto row = table.Row(of);
    row.Set("device", device).Set("counter_watts", energy_.Watts()).Set("sampled_watts", watts_.Mean());
    row.Set("least_watts", least_).Set("utilization_share", utilization_.Mean());
  }

 private:
  PowerSamples watts_{}, utilization_{};
  EnergyCounter energy_{};
  std::optional<double> least_{};
};

std::map<int32_t, GpuPower> CollectPower(const RunTrace& of, const std::optional<Interval>& window) {
  std::map<int32_t, GpuPower> gpus;
  const CounterTable& counters = of.trace->counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    const int64_t at = counters.ts_ns[row] + of.ts_shift_ns;
    if (counters.device[row] == kAbsent32 || (window && (at < window->start || at >= window->end))) continue;
    gpus[counters.device[row]].Take(of.trace->Text(counters.name[row]), at, counters.value[row]);
  }
  return gpus;
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<GpuPowerRows> table;
  const std::optional<Interval> window = TimeOfSteps(run);
  for (const RunTrace& of : run.traces()) {
    const std::string_view format = of.trace->info.format;
    if (!of.counts() || (format != "telemetry" && format != kGpuSamplesFormat)) continue;
    for (const auto& [device, gpu] : CollectPower(of, window))
      if (gpu.is_known()) gpu.AddRow(of, device, table);
  }
  return table;
}

}  // namespace

ANALYSIS(gpu_power) = AnalysisOf<GpuPowerRows>({.run = Compute});

}  // namespace gapless::internal::gpu_power_analysis
