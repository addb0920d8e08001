// SPDX-License-Identifier: Apache-2.0
// Computes PerformanceMetrics from one or several processes. Memory comes from the best source that all of them
// have: PyTorch's allocator, else the device, else the host. A figure that one process lacks is absent, because a
// mean over the others would be about another set of processes.
#include "proof/metrics.h"

#include <algorithm>

#include "base/strings.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

// Limits above which a disturbance is reported, as shares: processors used by others, time stolen by other virtual
// machines, and highest over mean clock minus 1, of the processors and of the GPU.
constexpr double kBusyElsewhere = 0.1, kStolen = 0.02, kClockMoves = 0.03, kGpuClockMoves = 0.02;

// Returns the mean of a value over all samples; absent if one sample lacks it.
std::optional<double> MeanOver(const std::vector<RunSample>& samples, auto&& value) {
  double sum = 0;
  for (const RunSample& sample : samples) {
    const std::optional<double> figure = value(sample);
    if (!figure) return std::nullopt;
    sum += *figure;
  }
  return sum / static_cast<double>(samples.size());
}

const SeriesSummary* SeriesOf(const RunSample& sample, std::string_view name) {
  const auto found = sample.telemetry.find(name);
  return found == sample.telemetry.end() ? nullptr : &found->second;
}

std::optional<double> TelemetryMean(const std::vector<RunSample>& samples, std::string_view name) {
  return MeanOver(samples, [&](const RunSample& sample) {
    const SeriesSummary* series = SeriesOf(sample, name);
    return series == nullptr ? std::nullopt : std::optional(series->mean);
  });
}

// Times as the samples have them, in ms.
std::vector<double> TimesOf(const std::vector<RunSample>& samples) {
  std::vector<double> times;
  for (const RunSample& sample : samples) {
    for (const int64_t ns : sample.step_ns) times.push_back(static_cast<double>(ns) / 1e6);
    times.insert(times.end(), sample.values.begin(), sample.values.end());
    if (sample.source == SampleSource::kProcess) times.push_back(static_cast<double>(sample.wall_ns) / 1e6);
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Takes the peak memory from the first source that all processes have.
void TakeMemory(const std::vector<RunSample>& samples, PerformanceMetrics& metrics) {
  metrics.memory_source = "allocator";
  metrics.memory_usage_gb = MeanOver(samples, [](const RunSample& sample) { return sample.gpu_memory_bytes; });
  constexpr std::pair<std::string_view, std::string_view> kElse[] = {{"gpu.memory.used", "device"},
                                                                     {"process.resident", "host"}};
  for (const auto& [series, source] : kElse) {
    if (metrics.memory_usage_gb) break;
    metrics.memory_source = source;
    metrics.memory_usage_gb = MeanOver(samples, [&series = series](const RunSample& sample) {
      const SeriesSummary* found = SeriesOf(sample, series);
      return found == nullptr ? std::nullopt : std::optional(found->highest);
    });
  }
  if (metrics.memory_usage_gb) *metrics.memory_usage_gb /= 1e9;
}

// Only steps are known to be in the window of the power.
void TakePower(const std::vector<RunSample>& samples, PerformanceMetrics& metrics) {
  const auto watts = MeanOver(samples, [](const RunSample& sample) {
    return sample.source == SampleSource::kSteps ? sample.gpu_watts : std::nullopt;
  });
  if (!watts || *watts <= 0) return;
  metrics.joules_per_step = *watts * metrics.step_time_ms / 1e3;
  if (metrics.samples_per_second) metrics.samples_per_joule = *metrics.samples_per_second / *watts;
}

}  // namespace

std::optional<PerformanceMetrics> MetricsOf(const std::vector<RunSample>& samples) {
  const std::vector<double> times = TimesOf(samples);
  if (times.empty()) return std::nullopt;
  PerformanceMetrics metrics;
  metrics.step_time_ms = *Mean(times);
  metrics.step_time_std_ms = StandardDeviation(times);
  metrics.step_time_p50_ms = QuantileOfSorted(times, 0.50);
  metrics.step_time_p95_ms = QuantileOfSorted(times, 0.95);
  metrics.step_time_p99_ms = QuantileOfSorted(times, 0.99);
  metrics.samples_per_second = MeanOver(samples, [](const RunSample& sample) { return sample.samples_per_second; });
  for (const auto& [series, source] :
       {std::pair("gpu.dcgm.sm_active", "sm_active"), std::pair("gpu.utilization", "nvml")}) {
    if (metrics.gpu_utilization) break;
    metrics.gpu_utilization = TelemetryMean(samples, series);
    metrics.gpu_utilization_source = source;
  }
  if (metrics.gpu_utilization) *metrics.gpu_utilization *= 100;
  TakeMemory(samples, metrics);
  metrics.energy_j = MeanOver(samples, [](const RunSample& sample) {
    const SeriesSummary* energy = SeriesOf(sample, "gpu.energy");
    const bool counted = energy != nullptr && energy->last > energy->first;
    return counted ? std::optional((energy->last - energy->first) * static_cast<double>(sample.gpus)) : std::nullopt;
  });
  TakePower(samples, metrics);
  return metrics;
}

std::optional<double> MemorySavedGb(const PerformanceMetrics& a, const PerformanceMetrics& b) {
  if (!a.memory_usage_gb || !b.memory_usage_gb || a.memory_source != b.memory_source) return std::nullopt;
  return *a.memory_usage_gb - *b.memory_usage_gb;
}

std::optional<double> EnergySavedJ(const PerformanceMetrics& a, const PerformanceMetrics& b) {
  if (!a.energy_j || !b.energy_j) return std::nullopt;
  return *a.energy_j - *b.energy_j;
}

double BusyElsewhere(const RunSample& sample) {
  const SeriesSummary *host = SeriesOf(sample, "host.cpu.busy"), *own = SeriesOf(sample, "process.cpu");
  if (host == nullptr || own == nullptr) return 0;
  const double cores = std::max<double>(1, static_cast<double>(sample.host.cores));
  return std::max(0.0, host->mean - own->mean / cores);
}

// Compares the mean clock with the highest one that was seen, since the nominal clock is not known.
std::vector<std::string> NoiseSeen(const RunSample& sample) {
  std::vector<std::string> seen;
  const auto mean = [&](std::string_view name) {
    const SeriesSummary* series = SeriesOf(sample, name);
    return series == nullptr ? 0 : series->mean;
  };
  if (const double stolen = mean("host.cpu.steal"); stolen > kStolen)
    seen.push_back(StrCat("other virtual machines took ", FormatPercent(stolen), " of the processors' time"));
  if (const double elsewhere = BusyElsewhere(sample); elsewhere > kBusyElsewhere)
    seen.push_back(StrCat("other processes used ", FormatPercent(elsewhere), " of the processors"));
  if (const SeriesSummary* clock = SeriesOf(sample, "host.cpu.frequency");
      clock != nullptr && clock->mean > 0 && clock->highest / clock->mean - 1 > kClockMoves)
    seen.push_back("the processors' clock changes: a fixed frequency governor gives steadier times");
  if (mean("gpu.processes.foreign") > 0) seen.push_back("other processes are on the GPU");
  if (const SeriesSummary* clock = SeriesOf(sample, "gpu.clock.sm");
      clock != nullptr && clock->mean > 0 && clock->highest / clock->mean - 1 > kGpuClockMoves)
    seen.push_back("the GPU's clock changes: nvidia-smi -lgc locks it");
  for (const auto& [name, series] : sample.telemetry)
    if (name.starts_with("gpu.throttle.") && series.mean > 0 && name != "gpu.throttle.idle")
      seen.push_back(StrCat("the GPU was slowed down: ", name.substr(13)));
  return seen;
}

}  // namespace gapless::internal
