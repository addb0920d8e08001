// SPDX-License-Identifier: Apache-2.0
// Takes the recipe, the command and the files of own fixes from the options.
#include "cli/commands/run/plan.h"

#include <algorithm>
#include <cstdlib>

#include "base/redact.h"
#include "base/strings.h"
#include "optimize/own_fixes.h"

namespace gapless::internal {

Result<RunPlan> RunPlanFrom(const Arguments& arguments) {
  RunPlan plan{.path = std::string(arguments.Value("recipe"))};
  if (plan.path.empty())
    return Fail(ErrorCode::kUsage, "no recipe given", "", "gapless run --recipe optimized.json -- python train.py");
  auto recipe = ReadRecipe(plan.path);
  if (!recipe) return Unexpected{recipe.error()};
  plan.recipe = std::move(*recipe);
  plan.of_recipe = arguments.command().empty();
  plan.command = arguments.command().empty() ? plan.recipe.command : arguments.command();
  for (const std::string& word : plan.command)
    if (plan.of_recipe && IsRedacted(word))
      return Fail(ErrorCode::kUsage, StrCat("a secret was left out of the command of the recipe: ", Printable(word)),
                  plan.path, "give the command after --, as you would type it");
  if (plan.command.empty())
    return Fail(ErrorCode::kUsage, "cannot run: no command given", plan.path,
                "write the command after --: -- python train.py");
  const auto own = OwnFixesFrom(arguments.Values("fix"));
  if (!own) return Unexpected{own.error()};
  std::vector<std::string> files;
  for (const Fix& fix : own->fixes) files.emplace_back(fix.own_file);
  auto use = UseRecipe(
      plan.recipe, arguments.List("only"), arguments.List("without"),
      [](const char* name) -> const char* { return std::getenv(name); }, files);
  if (!use) return Unexpected{use.error()};
  plan.use = std::move(*use);
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
