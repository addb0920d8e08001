// SPDX-License-Identifier: Apache-2.0
// The parts shared by commands that run a command (profile, monitor): their options, the run itself, the final message.
#pragma once

#include <functional>

#include "cli/command.h"
#include "cli/step_function.h"
#include "collect/agent_options.h"
#include "collect/launch.h"

namespace gapless::internal {

// Options of every command that leaves a run folder.
inline constexpr OptionSpec kRunFolderOption = {.name = "output",
                                                .letter = 'o',
                                                .takes = OptionSpec::Takes::kValue,
                                                .value = "DIR",
                                                .help = "Write the run to DIR (the first free of run, run-2, …)"};
inline constexpr OptionSpec kSharedFolderOption = {
    .name = "shared-folder", .help = "Accept a folder that others can write to; the agent is not copied there"};
inline constexpr OptionSpec kCuptiOption = {
    .name = "cupti", .help = "Record Python programs with the native collector instead of PyTorch's profiler"};
inline constexpr OptionSpec kTelemetryOption = {.name = "hz",
                                                .takes = OptionSpec::Takes::kValue,
                                                .value = "N",
                                                .help = "Take N telemetry samples per second (10; 0: none)"};
inline constexpr OptionSpec kQuietOption = {.name = "quiet", .letter = 'q', .help = "Print nothing on standard error"};

// The points in which the launching commands differ.
struct WatchPlan {
  std::string_view verb;  // the command that prints the result
  AgentOptions agent;
  std::vector<Watcher*> watchers{};
  std::vector<std::string> missing{};
  // After the command has ended, before anything is said of the run; gives sentences for the user.
  std::function<std::vector<std::string>(const LaunchResult&)> afterwards{};
};

// Runs the command of `arguments` and says on standard error what was seen. Gives the command's own exit status.
Result<int> RunWatched(const Arguments& arguments, const WatchPlan& plan);

// The document of `gapless profile --json` and `gapless monitor --json`.
extern const TypeInfo kLaunchDocument;

// Returns the exit status: the command's own, unless that is 0 and the recording is incomplete; then that of a failure
// of gapless, and the missing parts are printed with their cause.
int StatusOf(const LaunchResult& result);

}  // namespace gapless::internal
