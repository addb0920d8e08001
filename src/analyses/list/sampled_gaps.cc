// SPDX-License-Identifier: Apache-2.0
// Samples of a GPU against the recording of a program on it: what the samples say while the program leaves the GPU
// idle, and while it keeps it at work.
//
// A driver's utilisation is of the time before the sample, a sixth of a second to a second long. So a sample counts as
// one of a gap if no recorded operation ran in the second before it, and as one of work if operations filled nine
// tenths of that second. Only the time from the first recorded operation of the device to the last counts: beyond it
// the program may have worked, unrecorded. All processes of the run count together.
#include "analyses/rows/sampled_gaps.h"

#include <map>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "trace/formats.h"

namespace gapless::internal::sampled_gaps_analysis {
namespace {

constexpr int64_t kLookBackNs = 1'000'000'000;
constexpr double kBusy = 0.9;

struct Mean {
  double sum = 0;
  int64_t count = 0;
  void Add(double value) { sum += value, ++count; }
  std::optional<double> value() const {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
};
struct Side {
  Mean utilization, power;
};
struct Device {
  Side gap, busy;
};

// The time in which operations of the run are on each device.
std::map<int32_t, Intervals> ActivityOf(const Run& run) {
  std::map<int32_t, Intervals> all;
  for (const RunTrace* of : run.primary()) {
    const GpuOpTable& ops = of->trace->gpu_ops;
    for (size_t row = 0; row < ops.size(); ++row) {
      const int64_t start = ops.ts_ns[row] + of->ts_shift_ns;
      all[ops.device[row]].push_back({start, start + ops.dur_ns[row]});
    }
  }
  for (auto& [device, intervals] : all) intervals = Merge(std::move(intervals));
  return all;
}

// The side that a sample at this time belongs to; null: neither.
Side* SideOf(const Intervals& activity, const IntervalSums& sums, int64_t at, Device& device) {
  const Interval before{at - kLookBackNs, at};
  if (before.start < activity.front().start || at > activity.back().end) return nullptr;
  const int64_t busy_ns = sums.In(before);
  if (busy_ns == 0) return &device.gap;
  return static_cast<double>(busy_ns) >= kBusy * static_cast<double>(kLookBackNs) ? &device.busy : nullptr;
}

void AddRows(const RunTrace& of, const std::map<int32_t, Intervals>& activity, TableOf<SampledGapsRows>& table) {
  std::map<int32_t, IntervalSums> sums;
  for (const auto& [device, intervals] : activity) sums.emplace(device, intervals);
  std::map<int32_t, Device> devices;
  const CounterTable& counters = of.trace->counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    const auto found = activity.find(counters.device[row]);
    const std::string_view name = of.trace->Text(counters.name[row]);
    const bool is_power = name == "gpu.power";
    if (found == activity.end() || (!is_power && name != "gpu.utilization")) continue;
    const int64_t at = counters.ts_ns[row] + of.ts_shift_ns;
    Side* side = SideOf(found->second, sums.at(found->first), at, devices[found->first]);
    if (side) (is_power ? side->power : side->utilization).Add(counters.value[row]);
  }
  for (const auto& [device, sampled] : devices) {
    auto row = table.Row(of);
    row.Set("device", device);
    row.Set("gap_samples", sampled.gap.utilization.count);
    row.Set("gap_utilization_share", sampled.gap.utilization.value());
    row.Set("gap_power_watts", sampled.gap.power.value());
    row.Set("busy_samples", sampled.busy.utilization.count);
    row.Set("busy_utilization_share", sampled.busy.utilization.value());
    row.Set("busy_power_watts", sampled.busy.power.value());
  }
}

bool IsTelemetry(const Trace& trace) {
  return trace.info.format == "telemetry" || trace.info.format == kGpuSamplesFormat;
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<SampledGapsRows> table;
  std::optional<std::map<int32_t, Intervals>> activity;
  for (const RunTrace& of : run.traces()) {
    if (!of.counts() || !IsTelemetry(*of.trace)) continue;
    if (!activity) activity = ActivityOf(run);
    AddRows(of, *activity, table);
  }
  return table;
}

}  // namespace

ANALYSIS(sampled_gaps) = AnalysisOf<SampledGapsRows>({.run = Compute});

}  // namespace gapless::internal::sampled_gaps_analysis
