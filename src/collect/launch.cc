// SPDX-License-Identifier: Apache-2.0
#include "collect/launch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/log.h"
#include "base/strings.h"
#include "collect/child.h"
#include "collect/files.h"
#include "collect/signals.h"
#include "collect/telemetry/sampler.h"

namespace gapless::internal {
namespace {

constexpr int kTickMs = 50;
constexpr std::string_view kTelemetryName = "telemetry.gts";

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::pair<std::string, std::string>> EnvironmentFor(const RunFolder& folder, const LaunchOptions& options) {
  const std::string agent = folder.File("tools/agent"), injected = folder.File("tools/libgapless_inject.so");
  const std::string_view path = Variable("PYTHONPATH");
  std::vector<std::pair<std::string, std::string>> environment = {
      {"GAPLESS_RUN", folder.path()},
      {"GAPLESS_OPTIONS", options.agent_options},
      {"GAPLESS_CUPTI", options.cupti_always ? "always" : "auto"},
      {"PYTHONPATH", path.empty() ? agent : StrCat(agent, ":", path)}};
  std::error_code error;
  // CUDA loads the collector by the first, NVTX by the second. Who set one has a profiler of their own.
  if (std::filesystem::exists(injected, error))
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
      if (Variable(name).empty()) environment.emplace_back(name, injected);
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  return environment;
}

Manifest Describe(const LaunchOptions& options) {
  Manifest manifest;
  manifest.command = options.command;
  manifest.folder = Absolute(options.working_folder.empty() ? "." : options.working_folder);
  manifest.started_unix_ns = UnixNs();
  manifest.started_monotonic_ns = ClockNs(CLOCK_MONOTONIC);
  manifest.started_boottime_ns = ClockNs(CLOCK_BOOTTIME);
  manifest.agent_options = options.agent_options;
  manifest.host = DescribeHost();
  manifest.git = DescribeGit(manifest.folder);
  manifest.environment = RelevantEnvironment();
  manifest.missing = options.missing;
  return manifest;
}

// Until the command has ended: signals, rings, whoever else watches. Gives the moment, of CLOCK_MONOTONIC.
int64_t Attend(Child& child, SignalRelay& relay, RingKeeper& rings, ControlBlock& control, LaunchResult& result,
               const LaunchOptions& options) {
  Manifest& manifest = result.manifest;
  const RingKeeper::OnRecord on_record = [&](AgentProcess& process, const wire::RingRecord& record) {
    for (Watcher* watcher : options.watchers) watcher->OnRecord(process, record);
  };
  while (!child.Ended()) {
    const int signal = relay.Wait(kTickMs, child.pid()).value_or(0);
    if (signal == SIGINT || signal == SIGTERM) result.told_to_stop = signal;
    if (child.Ended()) break;
    rings.Drain(false, on_record);
    for (Watcher* watcher : options.watchers) watcher->OnTick(rings, control, manifest.events);
  }
  const int64_t ended_ns = ClockNs(CLOCK_MONOTONIC);
  rings.Drain(true, on_record);
  for (Watcher* watcher : options.watchers) watcher->OnTick(rings, control, manifest.events);
  return ended_ns;
}

// A run goes on without telemetry.
void StartTelemetry(TelemetrySampler& telemetry, const RunFolder& folder, pid_t pid, const LaunchOptions& options) {
  if (options.telemetry_hz <= 0) return;
  const auto started =
      telemetry.Start(folder.File(kTelemetryName), {.hz = static_cast<double>(options.telemetry_hz), .root_pid = pid});
  if (!started) log::Warning(started.error().ToString());
}

// A run that never began leaves nothing behind, but for a folder that was there before.
Unexpected Abandon(const RunFolder& folder, const Error& error) {
  std::error_code ignored;
  for (const std::string_view ours : {std::string_view("tools"), std::string_view("control"), kManifestName})
    std::filesystem::remove_all(folder.File(ours), ignored);
  if (folder.made()) std::filesystem::remove(folder.path(), ignored);
  return {error};
}

}  // namespace

std::string KeepsAgentOut(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  const std::string program = std::filesystem::path(command[0]).filename().string();
  if (!program.starts_with("python")) return "";
  for (size_t i = 1; i < command.size() && command[i].size() > 1 && command[i][0] == '-'; ++i) {
    const std::string& option = command[i];
    if (option[1] == '-' || option == "-m" || option == "-c") break;
    if (option == "-X" || option == "-W") ++i;
    // What follows -X and -W in the same word is their value: -Wignore::ImportWarning.
    for (const char c : std::string_view(option).substr(1, option.find_first_of("XW") - 1))
      if (c == 'I' || c == 'E' || c == 'S')
        return StrCat("python -", c,
                      " keeps the agent out: no steps are seen and nothing is recorded inside it; leave -", c,
                      " away, or record with torch.profiler in the script");
  }
  return "";
}

Result<LaunchResult> Launch(const LaunchOptions& options, int* failure_status) {
  *failure_status = kOwnFailure;
  auto folder = RunFolder::Make(options.folder);
  if (!folder) return Unexpected{folder.error()};
  auto tools = folder->UnpackTools();
  if (!tools) return Abandon(*folder, tools.error());
  auto control = ControlBlock::Make(folder->path());
  if (!control) return Abandon(*folder, control.error());

  LaunchResult result;
  result.folder = folder->name();
  result.path = folder->path();
  result.manifest = Describe(options);
  result.manifest.tools = std::move(*tools);
  RingKeeper rings(folder->path(), true);
  const std::string manifest_path = folder->File(kManifestName);
  if (auto written = WriteFileAtomically(manifest_path, ManifestJson(result.manifest, {})); !written)
    return Abandon(*folder, written.error());

  SignalRelay relay;
  const int64_t begun_ns = ClockNs(CLOCK_MONOTONIC);
  auto child = Child::Start({.argv = options.command,
                             .environment = EnvironmentFor(*folder, options),
                             .output_to_stderr = options.output_to_stderr,
                             .output_path = options.output_path,
                             .working_folder = options.working_folder,
                             .cpus = options.cpus,
                             .mask = relay.previous_mask()},
                            failure_status);
  if (!child) return Abandon(*folder, child.error());
  for (Watcher* watcher : options.watchers) watcher->OnStart(child->pid());
  TelemetrySampler telemetry;
  StartTelemetry(telemetry, *folder, child->pid(), options);
  result.wall_ns = Attend(*child, relay, rings, *control, result, options) - begun_ns;
  telemetry.Stop();

  result.exit_status = *child->Ended();
  result.signal = child->signal();
  result.manifest.ended_unix_ns = UnixNs();
  result.manifest.exit_status = result.exit_status;
  result.manifest.signal = result.signal;
  rings.Finish();
  if (auto written = WriteFileAtomically(manifest_path, ManifestJson(result.manifest, rings.processes())); !written)
    log::Warning(written.error().ToString());
  result.processes = std::move(rings.processes());
  return result;
}

}  // namespace gapless::internal
