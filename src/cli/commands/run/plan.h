// SPDX-License-Identifier: Apache-2.0
// The plan of `gapless run`: a command, and the part of a recipe that is applied to it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "optimize/recipe_use.h"

namespace gapless::internal {

// The command to run, and the part of the recipe to apply.
struct RunPlan {
  std::string path;  // path of the recipe
  Recipe recipe{};
  std::vector<std::string> command{};
  bool of_recipe = false;  // the command is the recipe's own
  RecipeUse use{};
};

// Returns the command as a line for a shell. Characters that a terminal does not show are escapes of $'…'.
std::string VisibleCommand(std::span<const std::string> command);

// Reads the recipe and chooses its fixes. The command of the recipe is an error without --with-command, and if its
// secrets were redacted; the error shows it.
Result<RunPlan> RunPlanFrom(const Arguments& arguments);

// Returns the fixes that no variable of the environment can switch on.
std::vector<std::string> NeedGapless(const RunPlan& plan);

}  // namespace gapless::internal
