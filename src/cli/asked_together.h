// SPDX-License-Identifier: Apache-2.0
// One gapless below another: both ask the agent for something.
#pragma once

#include <string>
#include <vector>

#include "collect/agent_options.h"

namespace gapless::internal {

// Of `gapless run`, which adds the fixes of a recipe.
struct AskedTogether {
  std::string agent_options{};          // JSON, for the agent
  std::vector<std::string> fixes{};     // of the recipe, that are among them
  std::vector<std::string> replaced{};  // of the recipe, whose place another value of the one around takes
};

// `around`: JSON, what the launcher around asks of the agent; no JSON asks for nothing. The recipe's fixes come first:
// they are part of the command that the one around tries its own on. `step_function` is ignored where the one around
// has its own.
AskedTogether AskTogether(const std::string& around, const std::vector<std::string>& fixes,
                          const std::vector<std::string>& own_fixes, const std::string& step_function = {});

// What the launcher around measures (losses, calls, a recording for a comparison) and the fixes that it tries, for an
// agent that reports to a run of its own.
void AskForTheOneAround(const std::string& around, AgentOptions& options);

}  // namespace gapless::internal
