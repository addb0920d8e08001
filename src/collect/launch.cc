// SPDX-License-Identifier: Apache-2.0
// Implements a launch: makes the run directory, starts the telemetry and the command, polls rings and signals
// until the command ends, and writes the manifest. A full disk or missing telemetry does not stop the command.
//
// The order matters. The manifest is written before the command starts, so that a killed launcher leaves one. The
// run is held locked until then, so that other launchers of the job find it complete. Signals are blocked before
// the child starts, and the child gets the mask from before. Rings are read about every 50 ms, and once more after
// the end.
#include "collect/launch.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/log.h"
#include "base/strings.h"
#include "collect/child.h"
#include "collect/entry.h"
#include "collect/exec_words.h"
#include "collect/files.h"
#include "collect/private_files.h"
#include "collect/run_mirror.h"
#include "collect/signals.h"
#include "collect/telemetry/sampler.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kTelemetryStem = "telemetry", kTelemetryEnd = ".gts";

// Returns the variables by which the command's processes find the run, load the agent, and inject the collector. The
// agent comes before the modules of a PYTHONPATH, ours or the one that the options give.
std::vector<std::pair<std::string, std::string>> EnvironmentFor(const RunFolder& folder, const Entry& entry,
                                                                const Tools& tools, const LaunchOptions& options) {
  const std::string agent = tools.folder + "/agent", injected = tools.folder + "/libgapless_inject.so";
  std::string path = VariableOf("PYTHONPATH");
  for (const auto& [name, value] : options.environment)
    if (name == "PYTHONPATH") path = value;
  std::vector<std::pair<std::string, std::string>> environment = {
      {"GAPLESS_RUN", folder.PathForProcesses()},
      {"GAPLESS_LAUNCHER", StrCat(entry.launcher)},
      {"GAPLESS_OPTIONS", options.agent_options},
      {"GAPLESS_CUPTI", options.cupti_always ? "always" : "auto"},
      {"PYTHONPATH", path.empty() ? agent : StrCat(agent, ":", path)}};
  std::error_code error;
  // CUDA loads the collector by the first, NVTX by the second. Who set one has a profiler of their own.
  if (std::filesystem::exists(injected, error))
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
      if (VariableOf(name).empty()) environment.emplace_back(name, injected);
  for (const auto& variable : options.environment)
    if (variable.first != "PYTHONPATH") environment.push_back(variable);
  return environment;
}

// Takes the three clocks right after one another: readers align times of different clocks with them.
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

// Handles signals, rings and watchers until the command has ended. Returns the time of its end on CLOCK_MONOTONIC.
int64_t Attend(Child& child, SignalRelay& relay, RingKeeper& rings, ControlBlock& control, LaunchResult& result,
               const std::vector<Watcher*>& watchers, bool ends_with_us) {
  Manifest& manifest = result.manifest;
  const RingKeeper::OnRecord on_record = [&](AgentProcess& process, const wire::RingRecord& record) {
    for (Watcher* watcher : watchers) watcher->OnRecord(process, record);
  };
  while (!child.Ended()) {
    relay.Wait(SignalRelay::kTickMs, child, ends_with_us);
    if (child.Ended()) break;
    rings.Drain(false, on_record);
    for (Watcher* watcher : watchers) watcher->OnTick(rings, control, manifest.events);
  }
  const int64_t ended_ns = ClockNs(CLOCK_MONOTONIC);
  result.told_to_stop = relay.stop_signal();
  if (ends_with_us && result.told_to_stop != 0) child.EndAndWait(result.told_to_stop);
  rings.Drain(true, on_record);
  for (Watcher* watcher : watchers) watcher->OnTick(rings, control, manifest.events);
  return ended_ns;
}

// A run goes on without telemetry.
void StartTelemetry(TelemetrySampler& telemetry, const RunFolder& folder, const std::string& name, pid_t pid,
                    const LaunchOptions& options) {
  if (options.telemetry_hz <= 0) return;
  const auto started = telemetry.Start(MakeFileIn(folder.descriptor(), name), folder.File(name),
                                       {.hz = static_cast<double>(options.telemetry_hz), .root_pid = pid});
  if (!started) log::Warning(started.error().ToString());
}

// Returns true if a message has the system's words for a full disk, a quota, or a file at its limit.
bool SaysNoSpace(std::string_view text) {
  for (const int error : {ENOSPC, EDQUOT, EFBIG})
    if (text.find(std::generic_category().message(error)) != std::string_view::npos) return true;
  return false;
}

// A process without room for its ring cannot report that the disk is full.
bool IsFull(int folder) {
  struct statvfs disk {};
  constexpr uint64_t kSmallestRing = 16384;
  return ::fstatvfs(folder, &disk) == 0 && uint64_t{disk.f_bavail} * disk.f_frsize < kSmallestRing;
}

// Lists in the manifest what could not be written because the disk was full.
void NoteLosses(Manifest& manifest, const std::string& telemetry_name, int telemetry_error, const RingKeeper& rings,
                const RunFolder& folder) {
  const auto why = [](int error) { return std::generic_category().message(error); };
  if (telemetry_error != 0)
    manifest.incomplete.push_back(StrCat(telemetry_name, " ends early: ", why(telemetry_error)));
  for (const auto& process : rings.processes()) {
    const std::string ring = process->ring.path().substr(folder.path().size() + 1);
    if (process->events_error != 0)
      manifest.incomplete.push_back(StrCat(ring.substr(0, ring.rfind('.')), ".events: ", why(process->events_error)));
    for (const std::string& message : process->messages)
      if (SaysNoSpace(message)) manifest.incomplete.push_back(StrCat(process->folder, ": ", message));
  }
  if (rings.processes().empty() && IsFull(folder.descriptor()))
    manifest.incomplete.push_back(StrCat("what the processes report: ", why(ENOSPC)));
}

// A run that never began leaves nothing behind, but for a folder that was there before.
Unexpected Abandon(Entry& entry, bool made_manifest, const Error& error) {
  LeaveRun(entry, made_manifest);
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
    // The rest of the word after -X or -W is its value: -Wignore::ImportWarning.
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
  std::signal(SIGXFSZ, SIG_IGN);  // a file that reaches its limit (ulimit -f) is an error of the write, and not our end
  LaunchResult result;
  result.manifest = Describe(options);  // before others of the job wait for us
  GAPLESS_ASSIGN(auto entry,
                 EnterRun(options.folder, options.shared_folder, options.folder.empty() ? std::nullopt : TaskOfJob()));
  const RunFolder* const folder = &entry.folder;
  auto tools = UnpackTools(*folder);
  if (!tools) return Abandon(entry, false, tools.error());

  result.folder = folder->name();
  result.path = folder->path();
  result.manifest.tools = tools->files;
  auto manifest =
      ManifestFile::Make(*folder, entry.NameOf(kManifestStem, kManifestEnd), ManifestJson(result.manifest, {}));
  // A manifest that is there belongs to a launcher of the same task.
  if (!manifest) return Abandon(entry, manifest.error().code != ErrorCode::kUsage, manifest.error());
  entry.control.Release();
  RingKeeper rings(OpenFolder(folder->descriptor(), "."), folder->path(), true, entry.launcher);

  SignalRelay relay;
  const int64_t begun_ns = ClockNs(CLOCK_MONOTONIC);
  auto child = Child::Start({.argv = options.command,
                             .environment = EnvironmentFor(*folder, entry, *tools, options),
                             .output_to_stderr = options.output_to_stderr,
                             .output_path = options.output_path,
                             .working_folder = options.working_folder,
                             .cpus = options.cpus,
                             .mask = relay.previous_mask(),
                             .ends_with_us = options.ends_with_us},
                            failure_status);
  if (!child) {
    manifest->GiveUpReserve();
    return Abandon(entry, true, child.error());
  }
  std::optional<RunMirror> mirror = MirrorOfRunAround();
  std::vector<Watcher*> watchers = options.watchers;
  if (mirror) watchers.push_back(&*mirror);
  for (Watcher* watcher : watchers) watcher->OnStart(child->pid());
  TelemetrySampler telemetry;
  const std::string telemetry_name = entry.NameOf(kTelemetryStem, kTelemetryEnd);
  StartTelemetry(telemetry, *folder, telemetry_name, child->pid(), options);
  result.wall_ns = Attend(*child, relay, rings, entry.control, result, watchers, options.ends_with_us) - begun_ns;
  telemetry.Stop();

  result.exit_status = *child->Ended();
  result.signal = child->signal();
  result.manifest.ended_unix_ns = UnixNs();
  result.manifest.exit_status = result.exit_status;
  result.manifest.signal = result.signal;
  rings.Finish();
  NoteLosses(result.manifest, telemetry_name, telemetry.stats().error, rings, *folder);
  if (const std::string where = folder->MovedTo(); !where.empty()) {
    result.manifest.incomplete.push_back(
        StrCat("somebody moved ", result.folder, " while the command ran, to ", where));
    result.folder = result.path = where;
  }
  if (entry.first) entry.control.SetEnded();
  if (auto written = manifest->Replace(ManifestJson(result.manifest, rings.processes())); !written)
    result.manifest.incomplete.push_back(StrCat(manifest->name(), ": ", written.error().message));
  result.processes = std::move(rings.processes());
  return result;
}

}  // namespace gapless::internal
