// SPDX-License-Identifier: Apache-2.0
#include "cli/benchmark.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kTailLines = 12;
constexpr double kBusyElsewhere = 0.1, kStolen = 0.02, kClockMoves = 0.03, kGpuClockMoves = 0.02;

std::optional<double> NumberFrom(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> MeanOver(const std::vector<RunSample>& samples, auto&& value) {
  double sum = 0;
  for (const RunSample& sample : samples) {
    const std::optional<double> one = value(sample);
    if (!one) return std::nullopt;
    sum += *one;
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

void TakeMemory(const std::vector<RunSample>& samples, BenchMetrics& metrics) {
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

}  // namespace

Result<std::optional<double>> TimeFrom(const Arguments& arguments, std::string_view option) {
  if (!arguments.Has(option)) return std::optional<double>();
  std::string_view text = arguments.Value(option);
  double unit = 1;
  for (const auto& [letter, seconds] : {std::pair('s', 1.0), std::pair('m', 60.0), std::pair('h', 3600.0)})
    if (text.ends_with(letter)) {
      text.remove_suffix(1);
      unit = seconds;
      break;
    }
  const auto number = NumberFrom(text);
  if (!number || *number <= 0)
    return Fail(ErrorCode::kUsage, StrCat("--", option, " takes a time, such as 90s, 10m or 2h"),
                std::string(arguments.Value(option)));
  return std::optional(*number * unit);
}

Result<double> ShareFrom(const Arguments& arguments, std::string_view option, double fallback) {
  if (!arguments.Has(option)) return fallback;
  std::string_view text = arguments.Value(option);
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = NumberFrom(text);
  const double share = number.value_or(-1) / (percent ? 100 : 1);
  if (!number || share < 0 || share >= 1)
    return Fail(ErrorCode::kUsage, StrCat("--", option, " takes a share below one, such as 2% or 0.02"),
                std::string(arguments.Value(option)));
  return share;
}

Result<RunRequest> RequestFrom(const Arguments& arguments, std::vector<std::string> command) {
  RunRequest request;
  request.command = std::move(command);
  const auto warmup = arguments.Number("warmup", 0, 10), steps = arguments.Number("steps", 1, 100);
  if (!warmup) return Unexpected{warmup.error()};
  if (!steps) return Unexpected{steps.error()};
  const auto timeout = TimeFrom(arguments, "timeout");
  if (!timeout) return Unexpected{timeout.error()};
  request.warmup = static_cast<size_t>(*warmup);
  request.measure = static_cast<size_t>(*steps);
  request.timeout_s = timeout->value_or(0);
  request.pattern = arguments.Value("pattern");
  request.whole_process = arguments.Has("whole");
  request.to_the_end = arguments.Has("to-the-end");
  request.show_output = arguments.Has("show-output");
  request.output_to_stderr = arguments.JsonToStdout();
  return request;
}

Result<RunSample> RunMeasured(const RunRequest& request) {
  auto sample = RunOnce(request);
  if (!sample) return sample;
  if (sample->interrupted || !Succeeded(*sample)) return FailureOf(*sample, request.command);
  if (TypicalValue(*sample).value_or(0) > 0) return sample;
  return Fail(
      ErrorCode::kCommand, "there is nothing to measure in this run", Join(request.command, " "),
      request.pattern.empty() ? "it took no step after warm-up; lower --warmup" : "no number matches --pattern");
}

Unexpected FailureOf(const RunSample& sample, const std::vector<std::string>& command) {
  if (sample.interrupted) return Fail(ErrorCode::kInterrupted, "interrupted");
  const std::vector<std::string_view> lines = Split(sample.output_tail, '\n');
  std::string tail;
  for (size_t i = lines.size() > kTailLines ? lines.size() - kTailLines : 0; i < lines.size(); ++i)
    if (!lines[i].empty()) tail += StrCat(tail.empty() ? "" : "\n", Printable(lines[i]));
  return Fail(ErrorCode::kCommand,
              sample.timed_out ? "the command did not end in time"
                               : StrCat("the command failed with exit status ", sample.exit_status),
              Join(command, " "), tail.empty() ? "it printed nothing" : StrCat("it printed last:\n", tail));
}

std::optional<BenchMetrics> MetricsOf(const std::vector<RunSample>& samples) {
  const std::vector<double> times = TimesOf(samples);
  if (times.empty()) return std::nullopt;
  BenchMetrics metrics;
  metrics.step_time_ms = *Mean(times);
  metrics.std_ms = StandardDeviation(times);
  metrics.p50_ms = QuantileOfSorted(times, 0.50);
  metrics.p95_ms = QuantileOfSorted(times, 0.95);
  metrics.p99_ms = QuantileOfSorted(times, 0.99);
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
  return metrics;
}

void WriteMetrics(JsonWriter& json, const BenchMetrics& metrics) {
  json.BeginObject();
  json.Field("samples_per_second", metrics.samples_per_second);
  json.Field("gpu_utilization", metrics.gpu_utilization);
  if (metrics.gpu_utilization) json.Field("gpu_utilization_source", metrics.gpu_utilization_source);
  json.Field("memory_usage_gb", metrics.memory_usage_gb);
  if (metrics.memory_usage_gb) json.Field("memory_usage_source", metrics.memory_source);
  json.Field("energy_j", metrics.energy_j);
  json.Field("step_time_ms", metrics.step_time_ms);
  json.Field("step_time_p50_ms", metrics.p50_ms);
  json.Field("step_time_p95_ms", metrics.p95_ms);
  json.Field("step_time_p99_ms", metrics.p99_ms);
  json.Field("step_time_std_ms", metrics.std_ms);
  json.EndObject();
}

void WriteEnvironment(JsonWriter& json, const RunSample& sample) {
  json.BeginObject();
  json.Field("host", sample.host.name);
  json.Field("cpu", sample.host.cpu);
  json.Field("cores", sample.host.cores);
  json.Field("kernel", sample.host.kernel);
  json.FieldUnlessEmpty("framework", sample.versions);
  json.FieldUnlessEmpty("driver", sample.host.nvidia_driver);
  if (!sample.host.gpus.empty()) {
    json.Field("gpu_type", sample.host.gpus[0].model);
    json.Field("num_gpus", sample.host.gpus.size());
  }
  if (const SeriesSummary* clock = SeriesOf(sample, "gpu.clock.sm")) json.Field("gpu_clock_mean_hz", clock->mean);
  if (sample.git) {
    json.Field("commit", sample.git->commit);
    json.FieldUnlessEmpty("branch", sample.git->branch);
    if (sample.git->dirty) json.Field("dirty", *sample.git->dirty);
  }
  json.EndObject();
}

std::vector<std::string> NoiseSeen(const RunSample& sample) {
  std::vector<std::string> seen;
  const auto mean = [&](std::string_view name) {
    const SeriesSummary* series = SeriesOf(sample, name);
    return series == nullptr ? 0 : series->mean;
  };
  if (const double stolen = mean("host.cpu.steal"); stolen > kStolen)
    seen.push_back(StrCat("other virtual machines took ", FormatPercent(stolen), " of the processors' time"));
  const double cores = std::max<double>(1, static_cast<double>(sample.host.cores));
  if (const double elsewhere = mean("host.cpu.busy") - mean("process.cpu") / cores; elsewhere > kBusyElsewhere)
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
