// SPDX-License-Identifier: Apache-2.0
// Merges requests where one gapless command runs below another: both ask the agent for something, and the agent reads
// one request only.
#pragma once

#include <string>
#include <vector>

#include "collect/agent_options.h"

namespace gapless::internal {

// The merged request of `gapless run`, which adds the fixes of a recipe.
struct AskedTogether {
  std::string agent_options{};          // JSON, for the agent
  std::vector<std::string> fixes{};     // fixes of the recipe that are among them
  std::vector<std::string> replaced{};  // fixes of the recipe replaced by another value of the surrounding recipe
};

// `around`: JSON, what the launcher around asks of the agent; no JSON asks for nothing. The recipe's fixes come first:
// they are part of the command that the one around tries its own on. `step_function` is ignored where the one around
// has its own.
AskedTogether AskTogether(const std::string& around, const std::vector<std::string>& fixes,
                          const std::vector<std::string>& own_fixes, const std::string& step_function = {});

// Adds to an agent's options the measurements (losses, calls, a recording for a comparison) and the fixes that a
// surrounding launcher requests. The agent reports to a run of its own.
void AskForTheOneAround(const std::string& around, AgentOptions& options);

}  // namespace gapless::internal
