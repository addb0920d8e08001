// SPDX-License-Identifier: Apache-2.0
// What the verbs that run a command share (profile, monitor): their options, the run itself, what is said at its end.
#pragma once

#include <functional>

#include "cli/command.h"
#include "cli/step_function.h"
#include "collect/agent_options.h"
#include "collect/launch.h"

namespace gapless::internal {

inline constexpr OptionSpec kRunFolderOption = {.name = "output",
                                                .letter = 'o',
                                                .takes = OptionSpec::Takes::kValue,
                                                .value = "DIR",
                                                .help = "Folder to leave (run, run-2, … as they are free)"};
inline constexpr OptionSpec kSharedFolderOption = {
    .name = "shared-folder", .help = "Use a folder that others can write in, too; the agent is not put there"};
inline constexpr OptionSpec kCuptiOption = {
    .name = "cupti", .help = "Record with the native collector in Python, too, instead of PyTorch's profiler"};
inline constexpr OptionSpec kTelemetryOption = {.name = "hz",
                                                .takes = OptionSpec::Takes::kValue,
                                                .value = "N",
                                                .help = "Samples of telemetry a second (10; 0: none)"};
inline constexpr OptionSpec kQuietOption = {.name = "quiet", .letter = 'q', .help = "Say nothing on standard error"};

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

// What to exit with: the command's own status; where that is 0 and what was to be recorded is not all there, that of a
// failure of our own. Says then what is missing, and why.
int StatusOf(const LaunchResult& result);

}  // namespace gapless::internal
