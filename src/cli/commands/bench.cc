// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/bench/scaling.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "validate/interval.h"
#include "validate/rank_tests.h"
#include "validate/steady.h"

namespace gapless::internal {
namespace {

constexpr int64_t kWholeRuns = 10, kMostRuns = 10'000;
constexpr size_t kMostSteps = 20;  // times --steps, when an interval is asked for

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

struct Plan {
  RunRequest request;
  std::optional<size_t> runs;
  std::vector<int> scaling;
};

Result<Plan> PlanFrom(const Arguments& arguments) {
  if (arguments.command().empty())
    return Fail(ErrorCode::kUsage, "there is no command to run", "", "give it after --, as you would type it");
  auto request = RequestFrom(arguments, arguments.command());
  if (!request) return Unexpected{request.error()};
  Plan plan{.request = std::move(*request), .runs = {}, .scaling = {}};
  plan.request.folder = arguments.Value("output");
  if (arguments.Has("runs")) {
    const auto runs = arguments.Number("runs", 1, 1);
    if (!runs) return Unexpected{runs.error()};
    plan.runs = static_cast<size_t>(std::min(*runs, kMostRuns));
    if (!plan.request.folder.empty() && *plan.runs > 1)
      return Fail(ErrorCode::kUsage, "--output keeps the folder of one run", "", "leave it or --runs away");
  }
  const auto precision = ShareFrom(arguments, "precision", 0);
  if (!precision) return Unexpected{precision.error()};
  if (*precision > 0)
    plan.request.enough = [wanted = *precision, most = plan.request.measure * kMostSteps](std::span<const int64_t> ns) {
      if (ns.size() >= most) return true;
      std::vector<double> steps(ns.begin(), ns.end());
      const auto offer = OfferInterval(steps);
      if (!offer || !offer->interval || offer->interval->expected <= 0) return false;
      return (offer->interval->high - offer->interval->low) / 2 <= wanted * offer->interval->expected;
    };
  auto counts = ScalingFrom(arguments, plan.request);
  if (!counts) return Unexpected{counts.error()};
  plan.scaling = std::move(*counts);
  return plan;
}

Result<RunSample> RunSide(const RunRequest& request) {
  auto sample = RunOnce(request);
  if (!sample) return sample;
  if (sample->interrupted || !Succeeded(*sample)) return FailureOf(*sample, request.command);
  if (!TypicalValue(*sample))
    return Fail(
        ErrorCode::kCommand, "there is nothing to measure in this run", Join(request.command, " "),
        request.pattern.empty() ? "it took no step after warm-up; lower --warmup" : "no number matches --pattern");
  return sample;
}

// Whole processes are repeated, one that takes steps need not be.
Result<std::vector<RunSample>> Measure(const Plan& plan, const Session& session) {
  std::vector<RunSample> samples;
  ProgressLine progress;
  size_t runs = plan.runs.value_or(1);
  bool warm = false;
  while (samples.size() < runs) {
    auto sample = RunSide(plan.request);
    if (!sample) return Unexpected{sample.error()};
    const bool whole = sample->source == SampleSource::kProcess;
    if (whole && !plan.runs && runs == 1) runs = kWholeRuns;
    if (whole && !warm && runs > 1) {  // the first one fills the caches for all
      warm = true;
      continue;
    }
    samples.push_back(std::move(*sample));
    if (session.stderr_is_tty)
      progress.Update("measuring", "", samples.size(), runs,
                      [](uint64_t count) { return StrCat(count, " processes"); });
  }
  return samples;
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

std::string TextOf(const std::vector<RunSample>& samples) {
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

std::string JsonOf(const std::vector<RunSample>& samples, const std::vector<std::string>& command) {
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

Result<int> Execute(const Arguments& arguments, Session& session) {
  const auto plan = PlanFrom(arguments);
  if (!plan) return Unexpected{plan.error()};
  if (!plan->scaling.empty()) {
    const auto curve = MeasureScaling(plan->request, plan->scaling, session);
    if (!curve) return Unexpected{curve.error()};
    return PrintTextOrJson(
        arguments, [&] { return ScalingText(*curve); }, [&] { return ScalingJson(*curve); });
  }
  const auto samples = Measure(*plan, session);
  if (!samples) return Unexpected{samples.error()};
  return PrintTextOrJson(
      arguments, [&] { return TextOf(*samples); }, [&] { return JsonOf(*samples, plan->request.command); });
}

constexpr OptionSpec kOptions[] = {
    kStepsOption,
    kWarmupOption,
    {.name = "precision",
     .takes = kTakesValue,
     .value = "SHARE",
     .help = "Measure until the interval is as tight as this: 1% (20 times --steps at most)"},
    {.name = "runs",
     .takes = kTakesValue,
     .value = "N",
     .help = "Processes to run (1; 10 where whole ones are measured)"},
    kScalingOption,
    kPatternOption,
    kWholeOption,
    kToTheEndOption,
    kTimeoutOption,
    {.name = "output",
     .letter = 'o',
     .takes = kTakesValue,
     .value = "DIR",
     .help = "Keep the run's folder, for analyze"},
    kShowOutputOption,
};
constexpr Example kExamples[] = {
    {"gapless bench -- python train.py", "A hundred steps after ten of warm-up; then the program is stopped"},
    {"gapless bench --precision 1% -- python train.py", "As many steps as that takes"},
    {"gapless bench --runs 20 -- ./program", "Without steps, the time of whole processes"},
    {"gapless bench --scaling 1,2,4 -- python train.py", "Throughput and efficiency with 1, 2 and 4 ranks"},
};

}  // namespace

COMMAND(bench) = {
    .name = "bench",
    .help = "Measure a command: its steps, throughput, memory, and how sure that is",
    .about =
        "Runs a command unchanged and measures its training steps after warm-up; then it is stopped. Where no steps "
        "are "
        "seen, whole processes are timed, or the numbers that --pattern finds in the output. The interval allows for "
        "steps that depend on those before (docs/STATISTICS.md) and is refused where it could not be trusted.",
    .positionals = {},
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .run = Execute};

}  // namespace gapless::internal
