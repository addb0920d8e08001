// SPDX-License-Identifier: Apache-2.0
// Makes the documents of `gapless bench`, and the parts that other commands share with it. Several processes are
// summarised by one value each, whose interval is that of Hodges and Lehmann and needs six of them. The steps of a
// single process may depend on each other, so validate decides whether they allow an interval.
#include "proof/result_json.h"

#include <cmath>

#include "base/redact.h"
#include "base/strings.h"
#include "proof/described.h"
#include "store/history.h"
#include "store/result_reader.h"
#include "validate/interval.h"
#include "validate/rank_tests.h"

namespace gapless::internal {
namespace documents {

struct Interval {
  std::optional<double> expected{}, low{}, high{};
  std::string method{}, refused{};
  std::optional<double> effective_n{};
  static constexpr FieldInfo kFields[] = {
      Field<&Interval::expected>("expected", "", "typical value, in the unit of the series"),
      Field<&Interval::low>("low", "", "lower end of the 95 % interval"),
      Field<&Interval::high>("high", "", "upper end of the interval"),
      Field<&Interval::method>("method", "", "how the interval was made", kUnlessEmpty),
      Field<&Interval::refused>("refused", "", "why the interval is absent", kUnlessEmpty),
      Field<&Interval::effective_n>("effective_n", "", "independent steps that would say as much"),
  };
};

struct Bench {
  std::string command{};
  SampleSource source = SampleSource::kSteps;
  size_t processes = 0;
  int64_t ranks = 0;
  size_t warmup = 0;
  Metrics metrics{};
  Interval interval{};
  std::vector<int64_t> steps{};
  std::vector<double> losses{}, process_medians{};
  std::vector<std::string> noise{};
  Environment environment{};
  std::vector<std::string> next{};
  static constexpr FieldInfo kFields[] = {
      Field<&Bench::command>("command", "", "the command that was measured"),
      Field<&Bench::source>("source", "", "what was measured: steps, whole processes, or numbers of the output"),
      Field<&Bench::processes>("processes", "count", "processes that were run, one after the other"),
      Field<&Bench::ranks>("ranks", "", "ranks of each"),
      Field<&Bench::warmup>("warmup", "count", "steps that do not count"),
      Field<&Bench::metrics>("metrics", "", "the figures"),
      Field<&Bench::interval>("interval", "", "of the typical value"),
      Field<&Bench::steps>("steps", "ns", "duration of each step, or of each process"),
      Field<&Bench::losses>("losses", "",
                            "of all steps of the first process, warm-up included; null where none was seen",
                            kUnlessEmptyOrNull),
      Field<&Bench::process_medians>("process_medians", "", "typical value of each process"),
      Field<&Bench::noise>("noise", "", "what disturbed the measurement; the same as warnings"),
      Field<&Bench::environment>("environment", "", "what a result must be compared with"),
      Field<&Bench::next>("next", "", "command lines that continue from here, the first one first", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

documents::Interval IntervalDocument(const TypicalInterval& interval) {
  documents::Interval document{.low = interval.low,
                               .high = interval.high,
                               .method = interval.method,
                               .refused = interval.refusal,
                               .effective_n = interval.effective_n};
  if (interval.low) document.expected = interval.expected;
  return document;
}

// Rounds to whole ns, as the keys in ns promise.
int64_t NsOf(double ms) { return std::llround(ms * 1e6); }

}  // namespace

constinit const TypeInfo kBenchDocument = describe::MakeType<documents::Bench>();

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

documents::Metrics MetricsDocument(const PerformanceMetrics& metrics, SampleSource source) {
  documents::Metrics document{.samples_per_second = metrics.samples_per_second,
                              .gpu_utilization = metrics.gpu_utilization,
                              .memory_usage_gb = metrics.memory_usage_gb,
                              .energy_j = metrics.energy_j,
                              .step_time_ms = metrics.step_time_ms,
                              .step_time_p50_ms = metrics.step_time_p50_ms,
                              .step_time_p95_ms = metrics.step_time_p95_ms,
                              .step_time_p99_ms = metrics.step_time_p99_ms,
                              .step_time_std_ms = metrics.step_time_std_ms,
                              .joules_per_step = metrics.joules_per_step,
                              .samples_per_joule = metrics.samples_per_joule};
  if (metrics.gpu_utilization) document.gpu_utilization_source = metrics.gpu_utilization_source;
  if (metrics.memory_usage_gb) {
    document.memory_usage_source = metrics.memory_source;
    document.memory_bytes = *metrics.memory_usage_gb * 1e9;
  }
  if (source != SampleSource::kPattern && metrics.step_time_p50_ms)
    document.step_ns = StepTimes{.median = NsOf(*metrics.step_time_p50_ms),
                                 .p50 = NsOf(*metrics.step_time_p50_ms),
                                 .p95 = NsOf(metrics.step_time_p95_ms.value_or(0)),
                                 .p99 = NsOf(metrics.step_time_p99_ms.value_or(0))};
  return document;
}

documents::Environment EnvironmentDocument(const RunSample& sample) {
  documents::Environment document{.host = sample.host.name,
                                  .cpu = sample.host.cpu,
                                  .cores = sample.host.cores,
                                  .fingerprint = FingerprintOf(sample.host),
                                  .kernel = sample.host.kernel,
                                  .framework = sample.versions,
                                  .driver = sample.host.nvidia_driver,
                                  .gpu_type = sample.host.gpus.empty() ? "" : sample.host.gpus[0].model,
                                  .num_gpus = sample.host.gpus.size()};
  // The GPUs of a machine need not be used.
  if (sample.source == SampleSource::kSteps) document.device = sample.gpu_memory_bytes ? "gpu" : "cpu";
  if (const auto clock = sample.telemetry.find("gpu.clock.sm"); clock != sample.telemetry.end())
    document.gpu_clock_mean_hz = clock->second.mean;
  if (sample.git) {
    document.commit = sample.git->commit;
    document.branch = sample.git->branch;
    document.dirty = sample.git->dirty;
  }
  return document;
}

std::string ResultJson(const std::vector<RunSample>& samples, const std::vector<std::string>& command,
                       const std::vector<std::string>& next) {
  const RunSample& first = samples[0];
  documents::Bench document{.command = CommandText(command),
                            .source = first.source,
                            .processes = samples.size(),
                            .ranks = static_cast<int64_t>(first.ranks),
                            .warmup = static_cast<size_t>(first.warmup),
                            .metrics = MetricsDocument(*MetricsOf(samples), first.source),
                            .interval = IntervalDocument(IntervalOf(samples)),
                            .losses = first.losses,
                            .noise = NoiseSeen(first),
                            .environment = EnvironmentDocument(first),
                            .next = next};
  for (const RunSample& sample : samples) {
    document.steps.insert(document.steps.end(), sample.step_ns.begin(), sample.step_ns.end());
    if (sample.source == SampleSource::kProcess) document.steps.push_back(sample.wall_ns);
    document.process_medians.push_back(*TypicalValue(sample));
  }
  return DocumentOf("bench", document, document.noise);
}

// Goes through the JSON text, so that a result is recorded just as its file would be.
Result<BenchmarkRecord> RecordOf(const std::vector<RunSample>& samples, const std::vector<std::string>& command) {
  GAPLESS_ASSIGN(const auto file, ReadResults(ResultJson(samples, command), "bench"));
  return RecordFrom(file);
}

std::string FingerprintOf(const HostFacts& host) {
  std::vector<std::string> kind = {host.cpu, StrCat(host.cores)};
  for (const GpuFacts& gpu : host.gpus) kind.push_back(gpu.model);
  return DigestOf(kind);
}

}  // namespace gapless::internal
