// SPDX-License-Identifier: Apache-2.0
// A command that one gapless runs inside another. The one around it watches already: the command runs in its run, with
// its agent, so that its steps are seen as those of the bare command, and it is stopped as that is.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "collect/launch.h"

namespace gapless::internal {

struct RunAround {
  std::string folder;         // absolute
  std::string agent_options;  // JSON, what its launcher asks of the agent
  ControlBlock control;
};

// The run that this process was started in, when its launcher still goes on. `variable` gives a variable of the
// environment, empty where it is not set.
std::optional<RunAround> FindRunAround(const std::function<std::string(const char*)>& variable);
std::optional<RunAround> FindRunAround();

// Runs the command as Launch() does, but in the surrounding run: it makes no directory of its own and takes no
// telemetry. `agent_options` replaces the options of that run. Watchers see only processes that began since.
// Returns an error if the command was not run; `failure_status` is then what to exit with.
Result<LaunchResult> LaunchInside(RunAround& around, const LaunchOptions& options, int* failure_status);

}  // namespace gapless::internal
