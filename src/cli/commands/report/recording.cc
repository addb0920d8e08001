// SPDX-License-Identifier: Apache-2.0
// Summarises a recording for `gapless report`: step time, utilisation, bottlenecks, operators and one step's timeline.
// It uses the same analysis as `gapless analyze`, so the two show the same numbers. Counts and times are per step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analyses/rows/host_steps.h"
#include "analyses/rows/launches.h"
#include "analyses/rows/operators.h"
#include "analyses/rows/recording_cost.h"
#include "base/strings.h"
#include "cli/commands/report/inputs.h"
#include "cli/loading.h"

namespace gapless::internal {
namespace {

// Operators that are kept; the table shows fewer, and looks the others up in the second recording.
constexpr size_t kMaxOperators = 40;

std::string DeviceText(const RunSummary& summary) {
  if (summary.breakdown.empty()) return "";
  const std::string& name = summary.breakdown.front().device_name;
  return StrCat(summary.breakdown.size(), " × ", name.empty() ? "GPU" : Printable(name));
}

// The mean of a counter of the host over all recordings of telemetry; absent: it was not sampled.
std::optional<double> MeanCounter(const Run& run, std::string_view name) {
  double sum = 0;
  int64_t count = 0;
  for (const RunTrace& of : run.traces()) {
    const CounterTable& counters = of.trace->counters;
    for (size_t row = 0; row < counters.size(); ++row)
      if (of.counts() && of.trace->Text(counters.name[row]) == name) sum += counters.value[row], ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

// The sum of a column over all rows; absent where no row has a value.
template <class R>
std::optional<double> SumOf(const TypedRows<R>& rows, typename TypedRows<R>::RealColumn column) {
  double sum = 0;
  bool found = false;
  for (size_t row = 0; row < rows.rows(); ++row)
    if (!rows.IsNull(row, column)) sum += rows.Real(row, column), found = true;
  return found ? std::optional(sum) : std::nullopt;
}

// The losses of every step, from the agent of the first rank; NaN where none was seen.
std::vector<double> LossesOf(const Run& run) {
  for (const RunTrace& of : run.traces()) {
    if (of.trace->info.format != "agent" || !of.counts()) continue;
    const StepTable& steps = of.trace->steps;
    std::vector<double> losses;
    for (size_t row = 0; row < steps.size(); ++row) losses.push_back(steps.loss[row]);
    if (std::ranges::any_of(losses, [](double loss) { return std::isfinite(loss); })) return losses;
  }
  return {};
}

// Takes the operators by self time of the GPU, or of the host where no GPU worked. Without complete steps there is
// nothing to divide by.
void TakeOperators(Tables& tables, LabRecording& recording) {
  const auto host_steps = tables.Get<HostStepsRows>();
  const auto operators = tables.Get<OperatorsRows>();
  const auto steps = SumOf(host_steps, "steps");
  if (!steps || *steps <= 0) return;
  if (const auto count = SumOf(host_steps, "operators")) recording.operators = *count / *steps;
  recording.launches = SumOf(tables.Get<LaunchesRows>(), "calls_per_step");
  recording.is_device_time = SumOf(operators, "device_self_ns").value_or(0) > 0;
  constexpr OperatorsRows::RealColumn kOfDevice = "device_self_ns", kOfHost = "host_self_ns";
  const auto column = recording.is_device_time ? kOfDevice : kOfHost;
  for (size_t row = 0; row < operators.rows(); ++row)
    recording.top.push_back({.name = std::string(operators.Text(row, "name")),
                             .calls = operators.Real(row, "calls") / *steps,
                             .self_ns = operators.Real(row, column) / *steps});
  std::ranges::stable_sort(recording.top, std::ranges::greater(), &LabOperator::self_ns);
  if (recording.top.size() > kMaxOperators) recording.top.resize(kMaxOperators);
}

// Copies what the report's summary has.
void TakeSummary(const Findings& findings, LabRecording& recording) {
  const RunSummary& summary = findings.summary;
  recording.device = DeviceText(summary);
  recording.steps = summary.steps;
  if (summary.step_ns) recording.step_ns = summary.step_ns->median, recording.step_p95_ns = summary.step_ns->p95;
  recording.gpu_utilization = summary.gpu_utilization;
  recording.gpu_utilization_source = summary.gpu_utilization_source;
  recording.run_class = summary.run_class;
  recording.class_evidence = summary.class_evidence;
  recording.bottlenecks = findings.diagnosis.bottlenecks;
  recording.potential = summary.estimated_speedup;
}

}  // namespace

Result<void> AddRecording(const std::string& path, const std::string& name, const ReadArguments& arguments,
                          const Session& session, LabView& view) {
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, {&path, 1}));
  const Run& run = analysis->run();
  WarnOfLosses(analysis->loaded());
  Tables& tables = analysis->tables();
  const Advice& advice = analysis->advice();
  const Findings findings = advice.Conclude({});
  LabRecording recording{.name = name};
  TakeSummary(findings, recording);
  TakeOperators(tables, recording);
  const auto cost = tables.Get<RecordingCostRows>();
  if (cost.rows() > 0 && !cost.IsNull(0, "added_share")) recording.added_share = cost.Real(0, "added_share");
  if (const auto busy = MeanCounter(run, "host.cpu.busy")) recording.cpu_utilization = 100 * *busy;
  recording.losses = LossesOf(run);
  if (advice.predictor()) {
    const RankGraph& rank = advice.predictor()->main_rank();
    // The step of the main rank, as it was recorded.
    recording.picture = DrawStep(rank, rank.graph.recorded_ns);
  }
  if (findings.summary.together)
    if (auto pictures = advice.Draw(*findings.summary.together)) recording.predicted = std::move(pictures->after);
  view.recordings.push_back(std::move(recording));
  return {};
}

}  // namespace gapless::internal
