// SPDX-License-Identifier: Apache-2.0
// The command `gapless monitor`: runs a command, or joins an active run, and serves its metrics to Prometheus. Slow
// steps are explained and the steps after them recorded.
//
// With a command it launches as `gapless profile` does, without recording. With the folder of an active run it only
// reads what the agents write: it changes nothing in the folder, and ends with the run.
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/launching.h"
#include "collect/flight_recorder.h"
#include "collect/metrics.h"
#include "collect/metrics_server.h"

namespace gapless::internal::monitor_command {
namespace {

struct MonitorArguments : LaunchArguments {
  std::optional<std::string> run{};
  std::string listen = "127.0.0.1:9477";
  int flight_steps = FlightOptions{}.steps;
  bool light = false;
  static constexpr OptionList kOptions{
      kRunFolderOption,
      kSharedFolderOption,
      Text<&MonitorArguments::listen>("ADDRESS", "Serve /metrics for Prometheus at ADDRESS (127.0.0.1:9477)"),
      Number<&MonitorArguments::flight_steps>(
          "N", "Record N steps in depth after a step far above the run's 99th percentile (3; 0: none)", 0),
      Flag<&MonitorArguments::light>("Collect only steps, samples and waits, at the lowest cost"),
      kLaunchStepFunctionOption,
      kTelemetryOption,
      kQuietOption,
  };
  static constexpr WordList kWords{
      Word<&MonitorArguments::run>("RUN", "the folder of a run that is still active").Optional().Path()};
};

constexpr auto kTick = std::chrono::milliseconds(200);

// Starts the server, which asks `metrics` for its text at each request, and prints its address.
Result<std::unique_ptr<MetricsServer>> Serve(const MonitorArguments& arguments, const RunMetrics& metrics) {
  auto server = MetricsServer::Start(arguments.listen, [&metrics] { return metrics.Text(); });
  if (server && !arguments.quiet)
    std::fputs(StrCat("gapless: metrics at ", (*server)->address(), "\n").c_str(), stderr);
  return server;
}

// Serves the metrics of a run that somebody else started: reads its rings, saves nothing, ends with it.
Result<int> Attach(const MonitorArguments& arguments, const Session& session) {
  const std::string& folder = *arguments.run;
  GAPLESS_ASSIGN(auto control, ControlBlock::Open(folder));
  RunMetrics metrics(nullptr);
  GAPLESS_ASSIGN(const auto server, Serve(arguments, metrics));  // serves as long as it lives
  RingKeeper rings(folder, false);
  std::vector<RunEvent> events;
  const auto take = [&](AgentProcess& process, const wire::RingRecord& record) { metrics.OnRecord(process, record); };
  while (!session.cancel->load()) {
    // Asked before the rings are drained: what the agents wrote before the end is then still counted.
    const bool launched = IsAlive(control.launcher_pid());
    rings.Drain(false, take);
    const bool over = !launched && !rings.AnyAlive();
    metrics.OnTick(rings, control, events);
    for (const RunEvent& event : events)
      if (!arguments.quiet) std::fputs(StrCat("gapless: ", Printable(event.text), "\n").c_str(), stderr);
    events.clear();
    if (over) break;
    std::this_thread::sleep_for(kTick);
  }
  return 0;
}

// The flight recorder and the metrics are watchers of the run, so they outlive it.
Result<int> Execute(const MonitorArguments& arguments, Session& session) {
  if (arguments.command.empty()) {
    if (!arguments.run)
      return Fail(ErrorCode::kUsage, "nothing to monitor: no command and no run folder", "",
                  "gapless monitor -- python train.py, or the folder of a run that is still active");
    return Attach(arguments, session);
  }
  FlightRecorder flight({.steps = arguments.flight_steps});
  RunMetrics metrics(&flight);
  GAPLESS_ASSIGN(const auto server, Serve(arguments, metrics));  // serves as long as it lives
  AgentOptions agent;
  agent.record.on = false;
  agent.mode = arguments.light ? AgentMode::kLight : AgentMode::kStep;
  return RunWatched(arguments, {.verb = "monitor", .agent = agent, .watchers = {&flight, &metrics}});
}

constexpr const TypeInfo* kDocuments[] = {&kLaunchDocument};
constexpr Example kExamples[] = {
    {"gapless monitor -- torchrun --nproc-per-node 8 train.py", "Watches the job from start to end"},
    {"gapless monitor run", "Serves the metrics of a run that `gapless profile` started"},
    {"gapless trigger run --steps 3", "In another terminal: records three steps of it now"},
};

}  // namespace

COMMAND(monitor) = {
    .name = "monitor",
    .place = {groups::kGuard, 5},
    .help = "Watch a job while it trains: serve metrics, record slow steps",
    .about =
        "Runs the command as `gapless profile` does, without recording, and serves its steps, throughput, "
        "waits, memory and loss to Prometheus. A step far above the run's own 99th percentile is explained in"
        " the run's manifest, and the steps after it are recorded. `gapless trigger` records steps on "
        "request.\n\nWith the folder of an active run, serves its metrics until it ends.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .own_failure = 125,
    .call = kCall<Execute>};

}  // namespace gapless::internal::monitor_command
