// SPDX-License-Identifier: Apache-2.0
// The parts shared by commands that run a command (profile, monitor): their options, the run itself, the final message.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/step_function.h"
#include "collect/agent_options.h"
#include "collect/launch.h"

namespace gapless::internal {

// All that commands that leave a run folder have in common. A command lists those of these options that it honours.
struct LaunchArguments : Arguments {
  std::string output{}, step_function{};  // empty: not given
  bool shared_folder = false, cupti = false, quiet = false;
  int hz = 10;  // larger wishes are cut to the maximum
};
inline constexpr auto kRunFolderOption =
    Text<&LaunchArguments::output>("DIR", "Write the run to DIR (the first free of run, run-2, …)").Short('o');
inline constexpr auto kSharedFolderOption =
    Flag<&LaunchArguments::shared_folder>("Accept a folder that others can write to; the agent is not copied there");
inline constexpr auto kLaunchStepFunctionOption = StepFunctionOption<&LaunchArguments::step_function>();
inline constexpr auto kTelemetryOption =
    Number<&LaunchArguments::hz>("N", "Take N telemetry samples per second (10; 0: none)", 0, 100);
inline constexpr auto kQuietOption = Flag<&LaunchArguments::quiet>("Print nothing on standard error").Short('q');

// Afterwards lists the results of the work that follows the command.
struct Afterwards {
  std::vector<std::string> said{};       // sentences for the user
  std::vector<std::string> summaries{};  // files, below the run folder
  std::set<std::string> removed{};       // recordings that summaries stand for
};

// The points in which the launching commands differ.
struct WatchPlan {
  std::string_view verb;  // the command that prints the result
  AgentOptions agent;
  std::vector<Watcher*> watchers{};
  std::vector<std::string> missing{};
  // After the command has ended, before anything is said of the run.
  std::function<Afterwards(const LaunchResult&)> afterwards{};
};

// Runs the command of `arguments` and says on standard error what was seen. Gives the command's own exit status.
Result<int> RunWatched(const LaunchArguments& arguments, const WatchPlan& plan);

// The document of `gapless profile --json` and `gapless monitor --json`.
extern const TypeInfo kLaunchDocument;

// Returns the exit status: the command's own, unless that is 0 and the recording is incomplete; then that of a failure
// of gapless, and the missing parts are printed with their cause.
int StatusOf(const LaunchResult& result);

}  // namespace gapless::internal
