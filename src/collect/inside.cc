// SPDX-License-Identifier: Apache-2.0
// Finds the surrounding run through environment variables, and starts a command inside it with the surrounding
// run's agent. The surrounding launcher must still be running: a variable may be left over in a shell.
#include "collect/inside.h"

#include <unistd.h>

#include <filesystem>

#include "base/strings.h"
#include "collect/child.h"
#include "collect/exec_words.h"
#include "collect/files.h"
#include "collect/signals.h"

namespace gapless::internal {
namespace {

// A program between the two may have set PYTHONPATH anew: then the agent goes in front of it again.
std::string PathWithAgent(const RunAround& around) {
  std::string path = VariableOf("PYTHONPATH");
  std::error_code error;
  for (const std::string_view entry : Split(path, ':'))
    if (!entry.empty() && std::filesystem::is_directory(StrCat(entry, "/gapless_agent"), error)) return path;
  const std::string agent = around.folder + "/tools/agent";
  if (!std::filesystem::is_directory(agent, error)) return path;
  return path.empty() ? agent : StrCat(agent, ":", path);
}

}  // namespace

std::optional<RunAround> FindRunAround(const std::function<std::string(const char*)>& variable) {
  std::string folder = variable("GAPLESS_RUN");
  if (!folder.starts_with('/') || variable("GAPLESS_DISABLE") == "1") return std::nullopt;
  auto control = ControlBlock::Open(folder);
  if (!control || !control->IsUnderWay()) return std::nullopt;
  return RunAround{
      .folder = std::move(folder), .agent_options = variable("GAPLESS_OPTIONS"), .control = std::move(*control)};
}

std::optional<RunAround> FindRunAround() { return FindRunAround(VariableOf); }

// Like Launch(), without what the surrounding run does already. Rings of that run may hold older processes; those
// are distinguished by the time at which they started.
Result<LaunchResult> LaunchInside(RunAround& around, const LaunchOptions& options, int* failure_status) {
  *failure_status = kOwnFailure;
  LaunchResult result;
  result.folder = result.path = around.folder;
  result.manifest.command = options.command;
  const int64_t begun_unix_ns = UnixNs(), begun_ns = ClockNs(CLOCK_MONOTONIC);
  RingKeeper rings(around.folder, false);
  const RingKeeper::OnRecord on_record = [&](AgentProcess& process, const wire::RingRecord& record) {
    if (process.ring.header().start_unix_ns < begun_unix_ns) return;
    for (Watcher* watcher : options.watchers) watcher->OnRecord(process, record);
  };
  std::vector<std::pair<std::string, std::string>> environment = {{"GAPLESS_OPTIONS", options.agent_options}};
  if (std::string path = PathWithAgent(around); !path.empty()) environment.emplace_back("PYTHONPATH", std::move(path));
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());

  SignalRelay relay;
  GAPLESS_ASSIGN(auto child, Child::Start({.argv = options.command,
                                           .environment = std::move(environment),
                                           .output_to_stderr = options.output_to_stderr,
                                           .output_path = options.output_path,
                                           .working_folder = options.working_folder,
                                           .cpus = options.cpus,
                                           .mask = relay.previous_mask(),
                                           .ends_with_us = options.ends_with_us},
                                          failure_status));
  for (Watcher* watcher : options.watchers) watcher->OnStart(child.pid());
  while (!child.Ended()) {
    relay.Wait(SignalRelay::kTickMs, child, options.ends_with_us);
    rings.Drain(false, on_record);
    for (Watcher* watcher : options.watchers) watcher->OnTick(rings, around.control, result.manifest.events);
  }
  result.wall_ns = ClockNs(CLOCK_MONOTONIC) - begun_ns;
  result.told_to_stop = relay.stop_signal();
  if (options.ends_with_us && result.told_to_stop != 0) child.EndAndWait(result.told_to_stop);
  rings.Drain(true, on_record);
  result.exit_status = *child.Ended();
  result.signal = child.signal();
  for (auto& process : rings.processes())
    if (process->ring.header().start_unix_ns >= begun_unix_ns) result.processes.push_back(std::move(process));
  return result;
}

}  // namespace gapless::internal
