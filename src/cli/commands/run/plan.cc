// SPDX-License-Identifier: Apache-2.0
// Takes the recipe, the command and the files of own fixes from the options.
#include "cli/commands/run/plan.h"

#include <algorithm>
#include <cstdlib>

#include "base/redact.h"
#include "base/strings.h"
#include "optimize/own_fixes.h"

namespace gapless::internal {
namespace {

// Returns a word as a shell takes it. Characters that a terminal does not show are escapes of $'…', so that a line end
// or a control character cannot hide a part of the command.
std::string VisibleWord(const std::string& word) {
  if (Printable(word) == word) return ShellWord(word);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f)
      out += StrCat("\\x", std::string(1, kDigits[byte >> 4]), std::string(1, kDigits[byte & 15]));
    else
      out += c == '\'' || c == '\\' ? StrCat("\\", std::string(1, c)) : std::string(1, c);
  }
  return out + "'";
}

// Refuses to run the command of a recipe that was not asked for, or of which a part would not be shown.
Result<void> CheckCommandOfRecipe(const RunArguments& arguments, const RunPlan& plan) {
  if (!plan.of_recipe || arguments.print) return {};
  const std::string shown = VisibleCommand(RedactCommand(plan.command));
  if (!arguments.with_command)
    return Fail(ErrorCode::kUsage, StrCat("cannot run the command of the recipe without --with-command: ", shown),
                plan.path, "--with-command runs this command; -- COMMAND runs your own with the fixes of the recipe");
  if (RedactCommand(plan.command) != plan.command)
    return Fail(ErrorCode::kUsage,
                StrCat("cannot run the command of the recipe: a part that looks like a secret is not shown: ", shown),
                plan.path, "--print --keep-command shows all of it; --keep-command also runs it");
  return {};
}

}  // namespace

std::string VisibleCommand(std::span<const std::string> command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(VisibleWord(word));
  return Join(words, " ");
}

Result<RunPlan> RunPlanFrom(const RunArguments& arguments) {
  RunPlan plan{.path = arguments.recipe};
  if (plan.path.empty())
    return Fail(ErrorCode::kUsage, "no recipe given", "", "gapless run --recipe optimized.json -- python train.py");
  GAPLESS_ASSIGN(auto recipe, ReadRecipe(plan.path));
  plan.recipe = std::move(recipe);
  plan.of_recipe = arguments.command.empty();
  plan.command = arguments.command.empty() ? plan.recipe.command : arguments.command;
  for (const std::string& word : plan.command)
    if (plan.of_recipe && IsRedacted(word))
      return Fail(ErrorCode::kUsage, StrCat("a secret was left out of the command of the recipe: ", Printable(word)),
                  plan.path, "give the command after --, as you would type it");
  if (plan.command.empty())
    return Fail(ErrorCode::kUsage, "cannot run: no command given", plan.path,
                "write the command after --: -- python train.py");
  GAPLESS_ASSIGN(const auto own, OwnFixesFrom(arguments.fix));
  std::vector<std::string> files;
  for (const Fix& fix : own.fixes) files.emplace_back(fix.own_file);
  GAPLESS_ASSIGN(plan.use, UseRecipe(
                               plan.recipe, arguments.only, arguments.without,
                               [](const char* name) -> const char* { return std::getenv(name); }, files));
  GAPLESS_TRY(CheckCommandOfRecipe(arguments, plan));
  return plan;
}

std::vector<std::string> NeedGapless(const RunPlan& plan) {
  std::vector<std::string> items;
  for (const std::string& item : plan.use.fixes) {
    const auto& alone = plan.use.by_environment;
    if (std::find(alone.begin(), alone.end(), item) == alone.end()) items.push_back(item);
  }
  return items;
}

}  // namespace gapless::internal
