// SPDX-License-Identifier: Apache-2.0
// `optimized.json` or `.yaml`: which fixes make a command faster, on what that was measured, and what `gapless run
// --recipe` needs to switch them on again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

struct RecipeFix {
  std::string item{};                                            // "workers=4"
  bool own = false;                                              // no fix of the catalogue: somebody's own Python file
  std::string safety{};                                          // "exact"
  std::string what{};                                            // what it changed
  std::optional<double> predicted{}, low{}, measured{}, high{};  // speedups of the whole step
};

struct Recipe {
  int schema = 1;
  bool proved = true;  // false: a candidate, of which all together are not known to be faster
  std::vector<std::string> command{};
  std::vector<RecipeFix> fixes{};                    // in the order of applying
  std::map<std::string, std::string> environment{};  // variables that the fixes need, and that they set themselves
  std::map<std::string, std::string> made_on{};    // "python", "torch", "gapless", "cpu", "gpu", "driver", "date", …
  std::optional<double> low{}, speedup{}, high{};  // bounds and estimate of the speedup of all together
};

std::string ToJson(const Recipe& recipe);
std::string ToYaml(const Recipe& recipe);
// Writes the recipe in the format of the path's extension: .yaml and .yml are YAML, everything else JSON.
Result<void> WriteRecipe(const Recipe& recipe, const std::string& path);
// An error names the file, the line and the key. A schema of the future, what recipe_check.h does not allow, and keys
// of another kind than they should be are errors; unknown keys are ignored. A recipe has at most 1 MiB and 50 levels.
Result<Recipe> ReadRecipe(const std::string& path);
Result<Recipe> ParseRecipe(std::string_view text, const std::string& path);

}  // namespace gapless::internal
