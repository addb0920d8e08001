// SPDX-License-Identifier: Apache-2.0
// Sums up what telemetry saw of each GPU while the steps ran: throttling and what it does to the clock, temperature,
// processes of others, memory at its peak.
//
// Samples count from the first step that the agent saw to the last; without an agent, all of them. A flag that is
// sampled stands for the time until the next sample, so shares are shares of samples. The clock is compared where both
// were sampled together.
#include "analyses/rows/gpu_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/counted_steps.h"
#include "trace/formats.h"

namespace gapless::internal::gpu_state_analysis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kIdle = 0.05;     // utilisation of a desktop that nobody uses, and of a program that only waits
constexpr double kAtLimit = 0.97;  // share of the limit: samples of the power scatter by some percent
constexpr std::string_view kThrottlePrefix = "gpu.throttle.";
// Reasons that are a fault of cooling or power supply. A power cap alone is how many GPUs run at full load.
constexpr std::array<std::string_view, 4> kFaults = {"hw_slowdown", "sw_thermal", "hw_thermal", "power_brake"};

// The values of one device at one moment.
struct Moment {
  std::optional<double> utilization, clock_hz, power, limit;
  std::array<bool, kFaults.size()> faults{};
  bool has_throttling = false, is_empty = true, is_capped = false;
  bool is_throttled() const { return std::find(faults.begin(), faults.end(), true) != faults.end(); }
};

struct Mean {
  double sum = 0;
  int64_t count = 0;
  void Add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / static_cast<double>(count) : kNan; }
};

// Sums over the moments of a device, which come in the order of time: a day of them is millions.
class Gpu {
 public:
  void Take(std::string_view name, int64_t ts_ns, double value);
  void AddRow(const RunTrace& of, int32_t device, int64_t memory_bytes, TableOf<GpuStateRows>& table);

 private:
  void EndMoment();
  bool TakeSeldom(std::string_view name, double value);
  void TakeIdle(double utilization);
  void EndIdle();

  Moment moment_;
  int64_t first_ns_ = 0, last_ns_ = 0, moments_ = 0;
  int64_t asked_ = 0, throttled_ = 0;
  std::array<int64_t, kFaults.size()> by_fault_{};
  Mean utilization_, throttled_hz_, free_hz_, sm_active_, dram_active_, power_;
  std::optional<double> temperature_, foreign_bytes_, memory_used_;
  int64_t asked_for_foreign_ = 0, foreign_ = 0;
  std::optional<double> power_peak_, power_limit_, generation_, most_generation_, width_, most_width_, ecc_, xid_;
  int64_t asked_for_cap_ = 0, capped_ = 0;
  int64_t idle_ = 0, idle_stretches_ = 0, longest_idle_ns_ = 0;
  std::optional<int64_t> idle_since_;
};

void Raise(std::optional<double>& most, double value) { most = most ? std::max(*most, value) : value; }

// Values that change seldom, of which the highest counts.
bool Gpu::TakeSeldom(std::string_view name, double value) {
  const std::pair<std::string_view, std::optional<double>*> kSeldom[] = {
      {"gpu.pcie.generation", &generation_}, {"gpu.pcie.generation.max", &most_generation_},
      {"gpu.pcie.width", &width_},           {"gpu.pcie.width.max", &most_width_},
      {"gpu.ecc.uncorrected", &ecc_},        {"gpu.xid", &xid_}};
  for (const auto& [known, most] : kSeldom)
    if (name == known) return Raise(*most, value), true;
  return false;
}

// A stretch without work ends with the sample that shows work, or with the last one.
void Gpu::TakeIdle(double utilization) {
  utilization_.Add(utilization);
  if (utilization > kIdle) return EndIdle();
  ++idle_;
  if (idle_since_) return;
  idle_since_ = last_ns_, ++idle_stretches_;
}

void Gpu::EndIdle() {
  if (idle_since_) longest_idle_ns_ = std::max(longest_idle_ns_, last_ns_ - *idle_since_);
  idle_since_.reset();
}

void Gpu::Take(std::string_view name, int64_t ts_ns, double value) {
  if (name == "gpu.temperature") return Raise(temperature_, value);
  if (name == "gpu.memory.used") return Raise(memory_used_, value);
  if (name == "gpu.memory.foreign") return Raise(foreign_bytes_, value);
  if (TakeSeldom(name, value)) return;
  if (name == "gpu.dcgm.dram_active") return dram_active_.Add(value);
  if (name == "gpu.processes.foreign") {
    ++asked_for_foreign_, foreign_ += value > 0;
    return;
  }
  const bool is_throttle = name.starts_with(kThrottlePrefix);
  const bool is_sm_active = name == "gpu.dcgm.sm_active";
  const bool is_power = name == "gpu.power" || name == "gpu.power.limit";
  if (name != "gpu.utilization" && name != "gpu.clock.sm" && !is_sm_active && !is_throttle && !is_power) return;
  if (!moment_.is_empty && ts_ns != last_ns_) EndMoment();
  if (moments_ == 0 && moment_.is_empty) first_ns_ = ts_ns;
  last_ns_ = ts_ns, moment_.is_empty = false;
  if (name == "gpu.utilization") moment_.utilization = value;
  if (name == "gpu.clock.sm") moment_.clock_hz = value;
  if (name == "gpu.power") moment_.power = value, power_.Add(value), Raise(power_peak_, value);
  if (name == "gpu.power.limit") moment_.limit = value, power_limit_ = value;
  if (is_sm_active) sm_active_.Add(value);
  if (!is_throttle) return;
  moment_.has_throttling = true;
  moment_.is_capped |= name == "gpu.throttle.power_cap" && value > 0;
  const auto fault = std::find(kFaults.begin(), kFaults.end(), name.substr(kThrottlePrefix.size()));
  if (fault != kFaults.end()) moment_.faults[static_cast<size_t>(fault - kFaults.begin())] |= value > 0;
}

void Gpu::EndMoment() {
  if (moment_.is_empty) return;
  ++moments_;
  const bool throttled = moment_.is_throttled();
  if (moment_.utilization) TakeIdle(*moment_.utilization);
  const bool has_limit = moment_.power && power_limit_ && *power_limit_ > 0;
  asked_for_cap_ += moment_.has_throttling || has_limit;
  capped_ += moment_.is_capped || (has_limit && *moment_.power >= kAtLimit * *power_limit_);
  asked_ += moment_.has_throttling, throttled_ += throttled;
  for (size_t i = 0; i < kFaults.size(); ++i) by_fault_[i] += moment_.faults[i];
  if (moment_.clock_hz && throttled) throttled_hz_.Add(*moment_.clock_hz);
  const bool is_free = moment_.has_throttling && !throttled && moment_.utilization.value_or(0) > 0;
  if (moment_.clock_hz && is_free) free_hz_.Add(*moment_.clock_hz);
  moment_ = {};
}

void Gpu::AddRow(const RunTrace& of, int32_t device, int64_t memory_bytes, TableOf<GpuStateRows>& table) {
  EndMoment();
  EndIdle();
  const auto most = std::max_element(by_fault_.begin(), by_fault_.end());
  auto row = table.Row(of);
  row.Set("device", device).Set("samples", moments_).Set("span_ns", last_ns_ - first_ns_);
  row.Set("utilization_share", utilization_.value()).Set("throttled_share", ShareOf(throttled_, asked_));
  row.Set("reason", *most > 0 ? kFaults[static_cast<size_t>(most - by_fault_.begin())] : std::string_view());
  row.Set("throttled_clock_hz", throttled_hz_.value()).Set("free_clock_hz", free_hz_.value());
  row.Set("temperature_max", temperature_).Set("foreign_share", ShareOf(foreign_, asked_for_foreign_));
  row.Set("foreign_bytes", foreign_bytes_).Set("memory_peak_bytes", memory_used_).Set("memory_bytes", memory_bytes);
  row.Set("sm_active_share", sm_active_.value()).Set("dram_active_share", dram_active_.value());
  row.Set("power_watts", power_.value()).Set("power_peak_watts", power_peak_).Set("power_limit_watts", power_limit_);
  row.Set("capped_share", ShareOf(capped_, asked_for_cap_)).Set("idle_share", ShareOf(idle_, utilization_.count));
  const bool is_known = utilization_.count > 0;
  row.Set("idle_stretches", is_known ? idle_stretches_ : kAbsent);
  row.Set("longest_idle_ns", is_known ? longest_idle_ns_ : kAbsent);
  row.Set("pcie_generation", generation_).Set("pcie_generation_max", most_generation_);
  row.Set("pcie_width", width_).Set("pcie_width_max", most_width_).Set("ecc_uncorrected", ecc_).Set("xid", xid_);
}

std::map<int32_t, Gpu> Collect(const RunTrace& of, const std::optional<Interval>& window) {
  std::map<int32_t, Gpu> gpus;
  const CounterTable& counters = of.trace->counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    const int64_t at = counters.ts_ns[row] + of.ts_shift_ns;
    if (counters.device[row] == kAbsent32 || (window && (at < window->start || at >= window->end))) continue;
    gpus[counters.device[row]].Take(of.trace->Text(counters.name[row]), at, counters.value[row]);
  }
  return gpus;
}

int64_t MemoryOf(const Trace& trace, int32_t device) {
  const size_t row = FindDevice(trace.devices, device);
  return row < trace.devices.size() ? trace.devices.memory_bytes[row] : kAbsent;
}

bool IsTelemetry(const Trace& trace) {
  return trace.info.format == "telemetry" || trace.info.format == kGpuSamplesFormat;
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<GpuStateRows> table;
  const std::optional<Interval> window = TimeOfSteps(run);
  for (const RunTrace& of : run.traces())
    if (of.counts() && IsTelemetry(*of.trace))
      for (auto& [device, gpu] : Collect(of, window)) gpu.AddRow(of, device, MemoryOf(*of.trace, device), table);
  return table;
}

}  // namespace

ANALYSIS(gpu_state) = AnalysisOf<GpuStateRows>({.run = Compute});

}  // namespace gapless::internal::gpu_state_analysis
