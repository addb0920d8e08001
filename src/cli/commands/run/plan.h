// SPDX-License-Identifier: Apache-2.0
// The plan of `gapless run`: a command, and the part of a recipe that is applied to it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/launching.h"
#include "optimize/recipe_use.h"

namespace gapless::internal {

// The words that may be typed after `gapless run`.
struct RunArguments : LaunchArguments {
  std::string recipe{};  // empty: not given
  std::vector<std::string> only{}, without{}, fix{};
  bool with_command = false, print = false;
  static constexpr OptionList kOptions{
      Text<&RunArguments::recipe>("FILE", "Apply the recipe in FILE, which gapless optimize wrote (JSON or YAML)")
          .Short('r'),
      List<&RunArguments::only>("LIST", "Apply only these fixes of the recipe"),
      List<&RunArguments::without>("LIST", "Leave out these fixes of the recipe"),
      Text<&RunArguments::fix>("FILE", "Load your own fix, named by the recipe, from this Python file (may repeat)"),
      Flag<&RunArguments::with_command>("Run the command that the recipe holds, if you give none after --"),
      Flag<&RunArguments::print>("Print the equivalent command without gapless, and run nothing"),
      Text<&LaunchArguments::output>("DIR", "Record the run to DIR, as gapless profile --light does (no recording)")
          .Short('o'),
      kLaunchStepFunctionOption,
      kSharedFolderOption,
      kQuietOption,
  };
};

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
Result<RunPlan> RunPlanFrom(const RunArguments& arguments);

// Returns the fixes that no variable of the environment can switch on.
std::vector<std::string> NeedGapless(const RunPlan& plan);

}  // namespace gapless::internal
