// SPDX-License-Identifier: Apache-2.0
// Selects the fixes of a recipe for a run, lists differences from the recipe's machine, and writes the equivalent shell
// command.
#include "optimize/recipe_use.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/redact.h"
#include "base/strings.h"
#include "collect/files.h"
#include "optimize/fix_item.h"
#include "optimize/recipe_check.h"

namespace gapless::internal {
namespace {

std::string_view NameOf(std::string_view item) { return item.substr(0, item.find('=')); }

bool Matches(std::string_view item, std::span<const std::string> list) {
  return std::ranges::any_of(list, [&](const std::string& text) { return text == item || text == NameOf(item); });
}

std::string ValueIn(const std::map<std::string, std::string>& pairs, const std::string& key) {
  const auto found = pairs.find(key);
  return found == pairs.end() ? std::string() : found->second;
}

// The variables of the recipe that a fix is about.
std::vector<std::string> VariablesOf(const FixItem& item, const Recipe& recipe) {
  if (item.fix->trial.environment == nullptr) return {};
  std::vector<std::string> names;
  // Their names may depend on the version of PyTorch.
  for (const std::string& torch : {TorchOf(recipe), std::string(), std::string("99.0")})
    for (const std::string& variable : item.fix->trial.environment({.torch_version = torch}, item.value)) {
      const std::string name(NameOf(variable));
      if (recipe.environment.contains(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  return names;
}

Result<void> CheckNames(const Recipe& recipe, std::span<const std::string> list, std::string_view option) {
  for (const std::string& text : list) {
    const auto is_it = [&](const RecipeFix& fix) { return Matches(fix.item, std::span(&text, 1)); };
    if (std::ranges::any_of(recipe.fixes, is_it)) continue;
    std::vector<std::string> items;
    for (const RecipeFix& fix : recipe.fixes) items.push_back(Printable(fix.item));
    return Fail(ErrorCode::kUsage, StrCat("the recipe has no fix '", Printable(text), "'"), StrCat("--", option),
                items.empty() ? "it has none" : StrCat("it has ", Join(items, ", ")));
  }
  return {};
}

class Choosing {
 public:
  Choosing(const Recipe& recipe, std::span<const std::string> own) : recipe_(recipe), own_(own) {}

  // Switches a fix on. A file that the user names wins over the catalogue; a fix of somebody's own without a file
  // is an error, because a recipe never loads code by itself.
  Result<void> Keep(const RecipeFix& fix) {
    const std::string_view name = NameOf(fix.item);
    const auto file = std::ranges::find_if(
        own_, [&](const std::string& path) { return std::filesystem::path(path).stem().string() == name; });
    if (file != own_.end()) {
      use_.own_fixes.push_back(Absolute(*file));
      use_.fixes.push_back(fix.item);
      return {};
    }
    if (fix.own)
      return Fail(ErrorCode::kUsage,
                  StrCat("the fix ", name, " of the recipe is code of somebody's own, which a recipe cannot load"), "",
                  StrCat("give the file yourself: --fix ", name, ".py; or leave it out: --without ", name));
    const auto item = ParseFixItem(fix.item);
    if (!item) {
      use_.notes.push_back(StrCat("left out: ", item.error().message, "; a newer gapless may have it"));
      return {};
    }
    use_.fixes.push_back(item->ToString());
    const auto variables = VariablesOf(*item, recipe_);
    if (!variables.empty()) use_.by_environment.push_back(item->ToString());
    kept_.insert(variables.begin(), variables.end());
    return {};
  }

  // Remembers the variables of a fix that is left out, which must not be set for it.
  void Drop(const RecipeFix& fix) {
    if (const auto item = ParseFixItem(fix.item)) {
      const auto variables = VariablesOf(*item, recipe_);
      dropped_.insert(variables.begin(), variables.end());
    }
  }

  RecipeUse Finish(const std::function<const char*(const char*)>& value_of) {
    for (const auto& [name, value] : recipe_.environment) {
      if (dropped_.contains(name) && !kept_.contains(name)) continue;
      const char* set = value_of(name.c_str());
      if (set == nullptr) {
        use_.environment.emplace_back(name, value);
      } else if (value != set) {
        use_.notes.push_back(
            StrCat(name, " is set already and stays ", Printable(set), "; the recipe wants ", Printable(value)));
      }
    }
    return std::move(use_);
  }

  bool IsEmpty() const { return use_.fixes.empty(); }

 private:
  const Recipe& recipe_;
  std::span<const std::string> own_;
  RecipeUse use_;
  std::set<std::string> kept_, dropped_;  // variables
};

std::string Versus(std::string_view what, const std::string& then, const std::string& now) {
  return StrCat("the recipe was made with ", what, " ", Printable(then), ", this is ", Printable(now),
                ": what it brings may differ");
}

}  // namespace

Result<RecipeUse> UseRecipe(const Recipe& recipe, std::span<const std::string> only,
                            std::span<const std::string> without,
                            const std::function<const char*(const char*)>& value_of, std::span<const std::string> own) {
  GAPLESS_TRY(CheckNames(recipe, only, "only"));
  GAPLESS_TRY(CheckNames(recipe, without, "without"));
  std::vector<std::string> own_names;
  for (const std::string& path : own) own_names.push_back(std::filesystem::path(path).stem().string());
  GAPLESS_TRY(CheckNames(recipe, own_names, "fix"));
  Choosing choosing(recipe, own);
  for (const RecipeFix& fix : recipe.fixes) {
    const bool wanted = (only.empty() || Matches(fix.item, only)) && !Matches(fix.item, without);
    if (!wanted) {
      choosing.Drop(fix);
      continue;
    }
    GAPLESS_TRY(choosing.Keep(fix));
  }
  const bool chosen = !only.empty() || !without.empty();
  if (choosing.IsEmpty() && chosen && !recipe.fixes.empty())
    return Fail(ErrorCode::kUsage, "no fix of the recipe is left", "", "run the command itself, or leave out less");
  return choosing.Finish(value_of);
}

std::vector<std::string> Differences(const Recipe& recipe, std::span<const std::string> command,
                                     const HostFacts& host) {
  std::vector<std::string> found;
  // The recipe's command has no secrets, and secrets may differ, so both commands are compared redacted.
  const auto then = RedactCommand(recipe.command), now = RedactCommand(command);
  if (!then.empty() && then != now && !std::ranges::equal(then, command))
    found.push_back(StrCat("the recipe was made for another command: ", Printable(ShellCommand(then))));
  const std::string gpu = ValueIn(recipe.made_on, "gpu"), here = host.gpus.empty() ? "" : host.gpus[0].model;
  if (!gpu.empty() && here.empty())
    found.push_back(StrCat("the recipe was made on ", Printable(gpu), ", and no GPU is seen here"));
  else if (!gpu.empty() && gpu != here)
    found.push_back(Versus("the GPU", gpu, here));
  else if (gpu.empty() && !here.empty() && recipe.made_on.contains("cpu"))
    found.push_back(
        StrCat("the recipe was made without a GPU, and here is ", Printable(here), ": gapless optimize may find more"));
  const std::string cpu = ValueIn(recipe.made_on, "cpu");
  if (gpu.empty() && !cpu.empty() && !host.cpu.empty() && cpu != host.cpu)
    found.push_back(Versus("the processor", cpu, host.cpu));
  return found;
}

std::vector<std::string> VersionDifferences(const Recipe& recipe, std::string_view versions) {
  const auto words = Split(versions, ' ');
  std::vector<std::string> found;
  const std::string then = TorchOf(recipe);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "torch" && !then.empty() && then != words[i + 1])
      found.push_back(Versus("PyTorch", then, std::string(words[i + 1])));
  }
  return found;
}

std::string ShellCommand(std::span<const std::string> command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(ShellWord(word));
  return Join(words, " ");
}

}  // namespace gapless::internal
