// SPDX-License-Identifier: Apache-2.0
#include "optimize/recipe_use.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/strings.h"
#include "collect/files.h"
#include "optimize/fix.h"

namespace gapless::internal {
namespace {

std::string_view NameOf(std::string_view item) { return item.substr(0, item.find('=')); }

bool Matches(std::string_view item, std::span<const std::string> list) {
  return std::ranges::any_of(list, [&](const std::string& one) { return one == item || one == NameOf(item); });
}

bool IsOwn(std::string_view item) { return NameOf(item).ends_with(".py"); }

std::string ValueIn(const std::map<std::string, std::string>& pairs, const std::string& key) {
  const auto found = pairs.find(key);
  return found == pairs.end() ? std::string() : found->second;
}

// The variables of the recipe that a fix is about.
std::vector<std::string> VariablesOf(const FixItem& item, const Recipe& recipe) {
  if (item.fix->environment == nullptr) return {};
  std::vector<std::string> names;
  // Their names may depend on the version of PyTorch.
  for (const std::string& torch : {ValueIn(recipe.made_on, "torch"), std::string(), std::string("99.0")})
    for (const std::string& variable : item.fix->environment({.torch_version = torch}, item.value)) {
      const std::string name(NameOf(variable));
      if (recipe.environment.contains(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  return names;
}

Result<void> CheckNames(const Recipe& recipe, std::span<const std::string> list, std::string_view option) {
  for (const std::string& one : list) {
    const auto is_it = [&](const RecipeFix& fix) { return Matches(fix.item, std::span(&one, 1)); };
    if (std::ranges::any_of(recipe.fixes, is_it)) continue;
    std::vector<std::string> items;
    for (const RecipeFix& fix : recipe.fixes) items.push_back(Printable(fix.item));
    return Fail(ErrorCode::kUsage, StrCat("the recipe has no fix '", Printable(one), "'"), StrCat("--", option),
                items.empty() ? "it has none" : StrCat("it has ", Join(items, ", ")));
  }
  return {};
}

class Choosing {
 public:
  explicit Choosing(const Recipe& recipe) : recipe_(recipe) {}

  void Keep(const RecipeFix& fix) {
    if (IsOwn(fix.item)) return KeepOwn(fix.item);
    const auto item = ParseFixItem(fix.item);
    if (!item) {
      use_.notes.push_back(StrCat("left out: ", item.error().message, "; a newer gapless may have it"));
      return;
    }
    use_.fixes.push_back(item->ToString());
    const auto variables = VariablesOf(*item, recipe_);
    if (!variables.empty()) use_.by_environment.push_back(item->ToString());
    kept_.insert(variables.begin(), variables.end());
  }

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
  void KeepOwn(const std::string& item) {
    const std::string path = Absolute(std::string(NameOf(item)));
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      use_.notes.push_back(StrCat("left out: your own fix ", Printable(path), " is not there"));
      return;
    }
    use_.own_fixes.push_back(path);
    use_.fixes.push_back(StrCat(std::filesystem::path(path).stem().string(), item.substr(NameOf(item).size())));
  }

  const Recipe& recipe_;
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
                            const std::function<const char*(const char*)>& value_of) {
  GAPLESS_TRY(CheckNames(recipe, only, "only"));
  GAPLESS_TRY(CheckNames(recipe, without, "without"));
  Choosing choosing(recipe);
  for (const RecipeFix& fix : recipe.fixes) {
    const bool wanted = (only.empty() || Matches(fix.item, only)) && !Matches(fix.item, without);
    wanted ? choosing.Keep(fix) : choosing.Drop(fix);
  }
  const bool chosen = !only.empty() || !without.empty();
  if (choosing.IsEmpty() && chosen && !recipe.fixes.empty())
    return Fail(ErrorCode::kUsage, "no fix of the recipe is left", "", "run the command itself, or leave out less");
  return choosing.Finish(value_of);
}

std::vector<std::string> Differences(const Recipe& recipe, std::span<const std::string> command,
                                     const HostFacts& host) {
  std::vector<std::string> found;
  if (!recipe.command.empty() && !std::ranges::equal(recipe.command, command))
    found.push_back(StrCat("the recipe was made for another command: ", Printable(ShellCommand(recipe.command))));
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
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string then = ValueIn(recipe.made_on, "torch");
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
