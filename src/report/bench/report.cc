// SPDX-License-Identifier: Apache-2.0
// Prints the result of `gapless bench`: where the steady steps begin, the step time with its interval, throughput and
// memory. An interval that the steps do not support is not shown; the reason is. What disturbed the measurement comes
// last.
#include "report/bench/report.h"

#include "base/strings.h"
#include "proof/result_json.h"
#include "validate/steady.h"

namespace gapless::internal {
namespace {

// Returns advice on the warm-up of a single process; "" if its steps are steady from the first one, or too few to
// judge.
std::string OutcomeText(const std::vector<RunSample>& samples) {
  if (samples[0].source != SampleSource::kSteps || samples.size() > 1) return "";
  const std::vector<double> series = SeriesOf(samples);
  if (GrowthOf(series)) return "something piles up from step to step: gapless profile says what grows\n";
  const auto steady = FindSteadyState(series);
  if (!steady) return "";
  switch (steady->outcome) {
    case SteadyOutcome::kNone:
      return "the level still changes at the end: these are not steady steps; measure more, later\n";
    case SteadyOutcome::kWarmup:
      return StrCat("steady from measured step ", *steady->start, " on: --warmup ", samples[0].warmup + *steady->start,
                    "\n");
    case SteadyOutcome::kSlowdown:
      return StrCat("some steps before step ", *steady->start, " were faster than those after\n");
    case SteadyOutcome::kFlat:
    case SteadyOutcome::kTooShort: break;
  }
  return "";
}

}  // namespace

// Names what was measured: a step, a process, or a value that the program printed, whose unit is unknown.
std::string BenchText(const std::vector<RunSample>& samples) {
  const PerformanceMetrics metrics = *MetricsOf(samples);
  const RunSample& first = samples[0];
  const bool pattern = first.source == SampleSource::kPattern;
  const std::string unit = pattern ? "" : " ms";
  const std::string what = pattern ? "value" : first.source == SampleSource::kSteps ? "step" : "process";
  const auto number = [&](double value) { return StrCat(FormatNumber(value, 3), unit); };
  std::string text = StrCat(what, " ", number(*metrics.step_time_p50_ms));
  const TypicalInterval interval = IntervalOf(samples);
  if (interval.low && interval.high)
    text += StrCat(" (95 % interval ", number(*interval.low), " to ", number(*interval.high), ")");
  const size_t count = first.source == SampleSource::kProcess ? samples.size() : SeriesOf({first}).size();
  text += StrCat(", the median of ", count, " ", what, count == 1 ? "" : what == "process" ? "es" : "s");
  if (samples.size() > 1 && first.source != SampleSource::kProcess)
    text += StrCat(" of each of ", samples.size(), " processes");
  if (first.warmup > 0) text += StrCat(" after ", first.warmup, " of warm-up");
  text +=
      StrCat("\n  mean ", number(metrics.step_time_ms), ", p95 ", number(*metrics.step_time_p95_ms), ", p99 ",
             number(*metrics.step_time_p99_ms),
             metrics.step_time_std_ms ? StrCat(", standard deviation ", number(*metrics.step_time_std_ms)) : "", "\n");
  if (metrics.samples_per_second)
    text += StrCat("  ", FormatNumber(*metrics.samples_per_second, 1), " samples a second",
                   first.ranks > 1 ? StrCat(" on ", first.ranks, " ranks") : "", "\n");
  if (metrics.gpu_utilization)
    text += StrCat("  GPU utilisation ", FormatNumber(*metrics.gpu_utilization, 1), " % (",
                   metrics.gpu_utilization_source, ")\n");
  if (metrics.memory_usage_gb)
    text += StrCat("  memory ", FormatNumber(*metrics.memory_usage_gb, 3), " GB (", metrics.memory_source, ")\n");
  if (metrics.joules_per_step)
    text += StrCat(
        "  energy ", FormatDigits(*metrics.joules_per_step, 3), " J a step",
        metrics.samples_per_joule ? StrCat(", ", FormatDigits(*metrics.samples_per_joule, 3), " samples a joule") : "",
        "\n");
  if (!interval.low && !interval.refusal.empty()) text += StrCat("  no interval: ", interval.refusal, "\n");
  text += OutcomeText(samples);
  for (const std::string& seen : NoiseSeen(first)) text += StrCat("noise: ", seen, "\n");
  return text;
}

}  // namespace gapless::internal
