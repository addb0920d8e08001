// SPDX-License-Identifier: Apache-2.0
#include "proof/result_json.h"

#include "base/redact.h"
#include "base/strings.h"
#include "store/history.h"
#include "store/result_reader.h"
#include "validate/interval.h"
#include "validate/rank_tests.h"

namespace gapless::internal {
namespace {

void WriteInterval(JsonWriter& json, const std::vector<RunSample>& samples) {
  const TypicalInterval interval = IntervalOf(samples);
  json.Key("interval");
  json.BeginObject();
  if (interval.low) json.Field("expected", interval.expected);
  json.Field("low", interval.low);
  json.Field("high", interval.high);
  json.FieldUnlessEmpty("method", interval.method);
  json.FieldUnlessEmpty("refused", interval.refusal);
  json.Field("effective_n", interval.effective_n);
  json.EndObject();
}

}  // namespace

std::vector<double> SeriesOf(const std::vector<RunSample>& samples) {
  std::vector<double> series;
  if (samples.size() > 1) {
    for (const RunSample& sample : samples) series.push_back(*TypicalValue(sample));
    return series;
  }
  for (const int64_t ns : samples[0].step_ns) series.push_back(static_cast<double>(ns) / 1e6);
  series.insert(series.end(), samples[0].values.begin(), samples[0].values.end());
  return series;
}

TypicalInterval IntervalOf(const std::vector<RunSample>& samples) {
  TypicalInterval interval;
  const std::vector<double> series = SeriesOf(samples);
  if (samples.size() > 1) {
    const auto shift = HodgesLehmann(series);
    if (!shift || !shift->low || !shift->high)
      return {.low = {},
              .high = {},
              .expected = 0,
              .method = {},
              .refusal = "an interval needs 6 processes",
              .effective_n = {}};
    interval.low = shift->low, interval.high = shift->high, interval.expected = shift->estimate;
    interval.method = "Hodges-Lehmann, over processes";
    return interval;
  }
  const auto offer = OfferInterval(series);
  if (!offer) return interval;
  interval.effective_n = offer->effective_n;
  interval.refusal = offer->refusal;
  if (!offer->interval) return interval;
  interval.low = offer->interval->low, interval.high = offer->interval->high;
  interval.expected = offer->interval->expected;
  interval.method = offer->interval->method;
  return interval;
}

void WriteRatio(JsonWriter& json, std::string_view key, const std::optional<RatioInterval>& ratio) {
  if (!ratio) return;
  json.Key(key);
  json.BeginObject();
  json.Field("low", ratio->low);
  json.Field("expected", ratio->expected);
  json.Field("high", ratio->high);
  json.EndObject();
}

void WriteMetrics(JsonWriter& json, const PerformanceMetrics& metrics) {
  json.BeginObject();
  json.Field("samples_per_second", metrics.samples_per_second);
  json.Field("gpu_utilization", metrics.gpu_utilization);
  if (metrics.gpu_utilization) json.Field("gpu_utilization_source", metrics.gpu_utilization_source);
  json.Field("memory_usage_gb", metrics.memory_usage_gb);
  if (metrics.memory_usage_gb) json.Field("memory_usage_source", metrics.memory_source);
  json.Field("energy_j", metrics.energy_j);
  json.Field("step_time_ms", metrics.step_time_ms);
  json.Field("step_time_p50_ms", metrics.step_time_p50_ms);
  json.Field("step_time_p95_ms", metrics.step_time_p95_ms);
  json.Field("step_time_p99_ms", metrics.step_time_p99_ms);
  json.Field("step_time_std_ms", metrics.step_time_std_ms);
  json.EndObject();
}

void WriteEnvironment(JsonWriter& json, const RunSample& sample) {
  json.BeginObject();
  json.Field("host", sample.host.name);
  json.Field("cpu", sample.host.cpu);
  json.Field("cores", sample.host.cores);
  json.Field("fingerprint", FingerprintOf(sample.host));
  json.Field("kernel", sample.host.kernel);
  json.FieldUnlessEmpty("framework", sample.versions);
  json.FieldUnlessEmpty("driver", sample.host.nvidia_driver);
  if (!sample.host.gpus.empty()) {
    json.Field("gpu_type", sample.host.gpus[0].model);
    json.Field("num_gpus", sample.host.gpus.size());
  }
  // Where it computed: the GPUs of a machine need not be used.
  if (sample.source == SampleSource::kSteps) json.Field("device", sample.gpu_memory_bytes ? "gpu" : "cpu");
  if (const auto clock = sample.telemetry.find("gpu.clock.sm"); clock != sample.telemetry.end())
    json.Field("gpu_clock_mean_hz", clock->second.mean);
  if (sample.git) {
    json.Field("commit", sample.git->commit);
    json.FieldUnlessEmpty("branch", sample.git->branch);
    if (sample.git->dirty) json.Field("dirty", *sample.git->dirty);
  }
  json.EndObject();
}

std::string ResultJson(const std::vector<RunSample>& samples, const std::vector<std::string>& command) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("command", CommandText(command));
  json.Field("source", NameOf(samples[0].source));
  json.Field("processes", samples.size());
  json.Field("ranks", samples[0].ranks);
  json.Field("warmup", samples[0].warmup);
  json.Key("metrics");
  WriteMetrics(json, *MetricsOf(samples));
  WriteInterval(json, samples);
  json.Key("steps");
  json.BeginArray();
  for (const RunSample& sample : samples) {
    for (const int64_t ns : sample.step_ns) json.Int(ns);
    if (sample.source == SampleSource::kProcess) json.Int(sample.wall_ns);
  }
  json.EndArray();
  if (!samples[0].losses.empty()) {
    json.Key("losses");  // of all steps of the first process, warm-up included; null where none was seen
    json.BeginArray();
    for (const double loss : samples[0].losses) json.Real(loss);
    json.EndArray();
  }
  json.Key("process_medians");
  json.BeginArray();
  for (const RunSample& sample : samples) json.Real(*TypicalValue(sample));
  json.EndArray();
  json.Key("noise");
  json.BeginArray();
  for (const std::string& seen : NoiseSeen(samples[0])) json.String(seen);
  json.EndArray();
  json.Key("environment");
  WriteEnvironment(json, samples[0]);
  json.EndObject();
  return out + "\n";
}

Result<BenchmarkRecord> RecordOf(const std::vector<RunSample>& samples, const std::vector<std::string>& command) {
  const auto file = ReadResults(ResultJson(samples, command), "bench");
  if (!file) return Unexpected{file.error()};
  return RecordFrom(*file);
}

std::string FingerprintOf(const HostFacts& host) {
  std::vector<std::string> kind = {host.cpu, StrCat(host.cores)};
  for (const GpuFacts& gpu : host.gpus) kind.push_back(gpu.model);
  return DigestOf(kind);
}

}  // namespace gapless::internal
