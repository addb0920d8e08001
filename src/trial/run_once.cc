// SPDX-License-Identifier: Apache-2.0
// Implements RunOnce(): launches the command, collects its steps, output and telemetry, and fills one RunSample.
//
// Steps come from the agent's ring while the program runs, telemetry from a file after it has ended. The output
// goes into a file, not a pipe, so that a program that prints much does not wait for gapless. Texts of the program
// (failures, messages, the end of its output) are redacted here, before anything stores or shows them.
#include "trial/run_once.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/redact.h"
#include "base/stop_signal.h"
#include "base/strings.h"
#include "collect/agent_options.h"
#include "collect/files.h"
#include "trial/printed.h"
#include "trial/step_watch.h"
#include "trial/telemetry_summary.h"

namespace gapless::internal {
namespace {

constexpr const char* kHashSeed = "PYTHONHASHSEED";
// Compiles the output patterns, so that a wrong pattern is reported before the command starts.
struct Searches {
  std::optional<Pattern> values{}, metric{};
};

Result<Searches> SearchesOf(const RunRequest& request) {
  Searches searches;
  const auto make = [](const std::string& expression, std::string_view option, std::optional<Pattern>& into) {
    if (expression.empty()) return Result<void>();
    auto pattern = Pattern::Make(expression, option, Pattern::Anchors::kLine);
    if (!pattern) return Result<void>(Unexpected{pattern.error()});
    into.emplace(std::move(*pattern));
    return Result<void>();
  };
  GAPLESS_TRY(make(request.pattern, "--pattern", searches.values));
  GAPLESS_TRY(make(request.metric, "--metric", searches.metric));
  return searches;
}

// Takes the metric and the values of the patterns. At least one value is kept: the warm-up never takes them all.
void TakeOutput(const Printed& printed, const Searches& searches, const RunRequest& request, RunSample& sample) {
  sample.output_tail = RedactText(printed.tail);
  sample.cut_lines = printed.cut_lines;
  if (searches.metric) {
    const auto values = NumbersIn(printed, *searches.metric);
    if (!values.empty()) sample.metric = values.back();
  }
  if (!searches.values) return;
  const auto values = NumbersIn(printed, *searches.values);
  sample.source = SampleSource::kPattern;
  sample.warmup = std::min(request.warmup, values.size() > 1 ? values.size() - 1 : 0);
  sample.values.assign(values.begin() + static_cast<std::ptrdiff_t>(sample.warmup), values.end());
}

// Takes the steps after warm-up of the first rank, and the throughput of all ranks. Without the number of samples
// of a single step of any rank, the throughput is not known.
void TakeSteps(const StepWatch& watch, const RunRequest& request, RunSample& sample) {
  const WatchedProcess* first = watch.First();
  if (first == nullptr || request.whole_process || !request.pattern.empty()) return;
  sample.source = SampleSource::kSteps;
  sample.warmup = std::min(watch.WarmupOf(*first), first->step_ns.size());
  sample.warmup_ns =
      std::accumulate(first->step_ns.begin(), first->step_ns.begin() + static_cast<std::ptrdiff_t>(sample.warmup),
                      int64_t{0}, wire::SumOf);
  sample.parity_ns =
      std::accumulate(first->step_ns.begin(), first->step_ns.begin() + static_cast<std::ptrdiff_t>(first->parity_steps),
                      int64_t{0}, wire::SumOf);
  sample.step_ns.assign(first->step_ns.begin() + static_cast<std::ptrdiff_t>(sample.warmup), first->step_ns.end());
  double all = 0;
  for (const auto& [pid, process] : watch.processes()) {
    if (process.step_ns.size() <= sample.warmup) continue;
    ++sample.ranks;
    double samples = 0, seconds = 0;
    bool known = true;
    for (size_t i = sample.warmup; i < process.step_ns.size(); ++i) {
      known = known && process.samples[i] > 0;
      samples += static_cast<double>(process.samples[i]);
      seconds += static_cast<double>(process.step_ns[i]) / 1e9;
    }
    all += known && seconds > 0 ? samples / seconds : std::numeric_limits<double>::quiet_NaN();
  }
  if (sample.ranks > 0 && std::isfinite(all)) sample.samples_per_second = all;
}

// A process may fail before its first step.
void TakeFailure(const StepWatch& watch, RunSample& sample) {
  for (const auto& [pid, process] : watch.processes()) {
    sample.out_of_memory = sample.out_of_memory || process.out_of_memory;
    if (sample.failure.empty()) sample.failure = RedactText(process.failure);
    for (const std::string& message : process.messages)
      if (std::string text = RedactText(message); std::ranges::find(sample.messages, text) == sample.messages.end())
        sample.messages.push_back(std::move(text));
    if (watch.First() == nullptr && sample.fixes.empty()) sample.fixes = process.fixes;
  }
}

// Takes everything else that the agent reported. Losses are placed by their step; steps without one are NaN.
void TakeRest(const StepWatch& watch, RunSample& sample) {
  TakeFailure(watch, sample);
  const WatchedProcess* first = watch.First();
  if (first == nullptr) return;
  const std::span<const ModelCall> calls = watch.CallsAfterWarmup(*first);
  sample.calls.assign(calls.begin(), calls.end());
  sample.versions = first->versions;
  sample.fixes = first->fixes;
  sample.parity_events = first->parity_events;
  sample.saved = first->saved;
  sample.loaders = first->loaders;
  sample.host_threads = first->host_threads;
  sample.gpu_memory_bytes = first->memory_bytes;
  if (first->losses.empty()) return;
  sample.losses.assign(static_cast<size_t>(first->losses.rbegin()->first) + 1,
                       std::numeric_limits<double>::quiet_NaN());
  for (const auto& [step, loss] : first->losses)
    if (step >= 0) sample.losses[static_cast<size_t>(step)] = loss;
}

// When the measured steps of the first rank ran; nowhere where none were.
UnixWindow TimeOfMeasured(const StepWatch& watch, const RunSample& sample) {
  const WatchedProcess* first = watch.First();
  if (first == nullptr || sample.step_ns.empty() || sample.warmup >= first->begin_unix_ns.size()) return {};
  return {.begin_ns = first->begin_unix_ns[sample.warmup],
          .end_ns = wire::SumOf(first->begin_unix_ns.back(), first->step_ns.back())};
}

AgentOptions AgentOptionsFrom(const RunRequest& request) {
  AgentOptions agent;
  agent.record.on = request.record;
  agent.every_loss = true;
  agent.calls = request.inference;
  agent.step_function = request.step_function;
  agent.fixes = request.fixes;
  agent.own_fixes = request.own_fixes;
  for (const auto& [name, value] : request.environment) agent.fix_environment.push_back(name);
  agent.switch_loaders = request.switch_loaders;
  if (request.parity.IsOn()) agent.parity = request.parity;
  agent.watch_samples = request.watch_samples;
  return agent;
}

}  // namespace

Result<RunSample> RunOnce(const RunRequest& request) {
  if (StopSignal() != 0) return Fail(ErrorCode::kInterrupted, "interrupted");
  GAPLESS_ASSIGN(const auto searches, SearchesOf(request));
  std::optional<TemporaryFolder> temporary;
  if (request.folder.empty()) {
    GAPLESS_ASSIGN(auto made, TemporaryFolder::Make());
    temporary.emplace(std::move(made));
  }
  const std::string folder = temporary ? temporary->path() : request.folder;
  StepWatch watch(request);
  // A program that goes through a set of texts does so in the same order in all recordings.
  auto environment = request.environment;
  if (request.parity.IsOn() && std::getenv(kHashSeed) == nullptr) environment.emplace_back(kHashSeed, "0");
  std::vector<Watcher*> watchers = {&watch};
  watchers.insert(watchers.end(), request.watchers.begin(), request.watchers.end());
  const bool captured = !request.show_output || !request.pattern.empty() || !request.metric.empty();
  const std::string output = StrCat(folder, ".output");
  int failure_status = 0;
  const auto run = Launch({.command = request.command,
                           .folder = folder,
                           .working_folder = request.working_folder,
                           .cpus = request.cpus,
                           .agent_options = ToJson(AgentOptionsFrom(request)),
                           .environment = environment,
                           .telemetry_hz = request.telemetry_hz,
                           .ends_with_us = true,
                           .output_to_stderr = request.output_to_stderr,
                           .output_path = captured ? output : "",
                           .watchers = std::move(watchers)},
                          &failure_status);
  const Printed printed = captured ? ReadPrinted(output) : Printed{};
  if (captured) ::unlink(output.c_str());
  GAPLESS_TRY(run);

  RunSample sample;
  sample.exit_status = run->exit_status;
  sample.stopped = watch.stopped();
  sample.timed_out = watch.timed_out();
  sample.interrupted = run->told_to_stop != 0;
  sample.wall_ns = run->wall_ns;
  sample.host = run->manifest.host;
  sample.git = run->manifest.git;
  TakeSteps(watch, request, sample);
  TakeRest(watch, sample);
  TelemetrySummary telemetry = SummarizeTelemetry(StrCat(run->path, "/telemetry.gts"), TimeOfMeasured(watch, sample));
  sample.gpu_watts = telemetry.gpu_watts;
  sample.gpu_capacity_bytes = telemetry.gpu_capacity_bytes;
  sample.telemetry = std::move(telemetry.series);
  sample.gpus = telemetry.gpus;
  TakeOutput(printed, searches, request, sample);
  return sample;
}

}  // namespace gapless::internal
