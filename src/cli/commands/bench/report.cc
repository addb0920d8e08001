// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bench/report.h"

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/output.h"
#include "validate/interval.h"
#include "validate/rank_tests.h"
#include "validate/steady.h"

namespace gapless::internal {
namespace {

// One number of each process, or the steps of one, as `interval` takes them; in ms.
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

// Of the typical value, in the unit of the series: of steps, which may depend on those before, or of processes.
struct Interval {
  std::optional<double> low, high;
  double expected = 0;
  std::string method, refusal;
  std::optional<double> effective_n;
};

Interval IntervalOf(const std::vector<RunSample>& samples) {
  Interval interval;
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

std::string WarmthText(const std::vector<RunSample>& samples) {
  if (samples[0].source != SampleSource::kSteps || samples.size() > 1) return "";
  const auto steady = FindSteadyState(SeriesOf(samples));
  if (!steady) return "";
  switch (steady->warmth) {
    case Warmth::kNone: return "the level still changes at the end: these are not steady steps; measure more, later\n";
    case Warmth::kWarmup:
      return StrCat("steady from measured step ", *steady->start, " on: --warmup ", samples[0].warmup + *steady->start,
                    "\n");
    case Warmth::kSlowdown: return StrCat("some steps before step ", *steady->start, " were faster than those after\n");
    case Warmth::kFlat:
    case Warmth::kTooShort: break;
  }
  return "";
}

void WriteInterval(JsonWriter& json, const std::vector<RunSample>& samples) {
  const Interval interval = IntervalOf(samples);
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

std::string BenchText(const std::vector<RunSample>& samples) {
  const BenchMetrics metrics = *MetricsOf(samples);
  const RunSample& first = samples[0];
  const bool pattern = first.source == SampleSource::kPattern;
  const std::string unit = pattern ? "" : " ms";
  const std::string what = pattern ? "value" : first.source == SampleSource::kSteps ? "step" : "process";
  const auto number = [&](double value) { return StrCat(FormatNumber(value, 3), unit); };
  std::string text = StrCat(what, " ", number(metrics.p50_ms));
  const Interval interval = IntervalOf(samples);
  if (interval.low && interval.high)
    text += StrCat(" (95 % interval ", number(*interval.low), " to ", number(*interval.high), ")");
  const size_t count = first.source == SampleSource::kProcess ? samples.size() : SeriesOf({first}).size();
  text += StrCat(", the median of ", count, " ", what, count == 1 ? "" : what == "process" ? "es" : "s");
  if (samples.size() > 1 && first.source != SampleSource::kProcess)
    text += StrCat(" of each of ", samples.size(), " processes");
  if (first.warmup > 0) text += StrCat(" after ", first.warmup, " of warm-up");
  text += StrCat("\n  mean ", number(metrics.step_time_ms), ", p95 ", number(metrics.p95_ms), ", p99 ",
                 number(metrics.p99_ms), metrics.std_ms ? StrCat(", standard deviation ", number(*metrics.std_ms)) : "",
                 "\n");
  if (metrics.samples_per_second)
    text += StrCat("  ", FormatNumber(*metrics.samples_per_second, 1), " samples a second",
                   first.ranks > 1 ? StrCat(" on ", first.ranks, " ranks") : "", "\n");
  if (metrics.gpu_utilization)
    text += StrCat("  GPU utilisation ", FormatNumber(*metrics.gpu_utilization, 1), " % (",
                   metrics.gpu_utilization_source, ")\n");
  if (metrics.memory_usage_gb)
    text += StrCat("  memory ", FormatNumber(*metrics.memory_usage_gb, 3), " GB (", metrics.memory_source, ")\n");
  if (!interval.low && !interval.refusal.empty()) text += StrCat("  no interval: ", interval.refusal, "\n");
  text += WarmthText(samples);
  for (const std::string& seen : NoiseSeen(first)) text += StrCat("noise: ", seen, "\n");
  return text;
}

std::string BenchJson(const std::vector<RunSample>& samples, const std::vector<std::string>& command) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("command", Join(command, " "));
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

}  // namespace gapless::internal
