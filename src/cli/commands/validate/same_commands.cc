// SPDX-License-Identifier: Apache-2.0
// Compares two commands as they are written. Whatever cannot be read as one of the known forms may differ.
#include "cli/commands/validate/same_commands.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "base/redact.h"
#include "base/strings.h"
#include "optimize/recipe.h"

namespace gapless::internal {
namespace {

constexpr uintmax_t kMaxConfigBytes = 1 << 20;  // longest configuration file that is read

using CommandWords = std::vector<std::string>;

struct RecipeRun {
  std::string recipe{};
  CommandWords command{};
};

// Reads `gapless run --recipe FILE -- COMMAND`, with no other option that could change what is run.
std::optional<RecipeRun> RecipeRunOf(const CommandWords& words) {
  if (words.size() < 2 || std::filesystem::path(words[0]).filename() != "gapless" || words[1] != "run")
    return std::nullopt;
  RecipeRun run;
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      run.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      return run.recipe.empty() || run.command.empty() ? std::nullopt : std::optional(run);
    }
    constexpr std::string_view kRecipeIs = "--recipe=";
    if (word.starts_with(kRecipeIs))
      run.recipe = word.substr(kRecipeIs.size());
    else if ((word == "--recipe" || word == "-r") && i + 1 < words.size())
      run.recipe = words[++i];
    else if (word != "-q" && word != "--quiet")
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> ContentOf(std::string_view path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(std::filesystem::path(path), error);
  if (error || size > kMaxConfigBytes) return std::nullopt;
  std::ifstream file{std::string(path), std::ios::binary};
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return file ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace

std::string WhyNothingDiffers(const TwoCommands& commands) {
  const auto& [a, b] = commands;
  if (a == b) return StrCat("both commands are ", CommandText(a));
  const auto run = RecipeRunOf(b);
  if (!run || run->command != a) return "";
  const auto recipe = ReadRecipe(run->recipe);
  if (!recipe || !recipe->fixes.empty() || !recipe->environment.empty()) return "";
  return StrCat("the recipe ", run->recipe, " has no fixes");
}

std::string WhyNoConfigurationDiffers(std::string_view baseline, std::string_view optimized) {
  const auto a = ContentOf(baseline), b = ContentOf(optimized);
  return a && b && *a == *b ? StrCat(baseline, " and ", optimized, " hold the same") : "";
}

}  // namespace gapless::internal
