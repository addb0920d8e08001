// SPDX-License-Identifier: Apache-2.0
// The part of a recipe that is switched on for one run, and the part that is valid on this machine.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/machine.h"
#include "optimize/recipe.h"

namespace gapless::internal {

struct RecipeUse {
  std::vector<std::string> fixes{};      // "workers=4", as the agent takes them
  std::vector<std::string> own_fixes{};  // absolute paths
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<std::string> by_environment{};  // those of `fixes` that the environment does alone
  std::vector<std::string> notes{};           // sentences for the user
};

// `own`: paths of the files of code that the user named for this run; a recipe itself loads none, and is an error where
// it needs one that is not among them. `only` and `without` are names or items ("workers", "workers=4"); an error names
// one that the recipe does not have, and when nothing is left. `value_of` gives a variable of the environment, null
// where it is not set: what is set stays.
Result<RecipeUse> UseRecipe(const Recipe& recipe, std::span<const std::string> only,
                            std::span<const std::string> without,
                            const std::function<const char*(const char*)>& value_of,
                            std::span<const std::string> own = {});

// In what this command and machine differ from those of the recipe, a sentence each.
std::vector<std::string> Differences(const Recipe& recipe, std::span<const std::string> command, const HostFacts& host);
// Returns the differences from the versions that an agent reports: "python 3.11.7 torch 2.15.0".
std::vector<std::string> VersionDifferences(const Recipe& recipe, std::string_view versions);

// A command as a shell takes it back.
std::string ShellCommand(std::span<const std::string> command);

}  // namespace gapless::internal
