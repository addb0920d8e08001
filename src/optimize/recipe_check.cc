// SPDX-License-Identifier: Apache-2.0
// Checks the items and variables of a recipe against the catalogue.
//
// The variables that a fix sets depend on its value and on the version of PyTorch. So a variable is allowed if some
// fix sets it to this value, for the recipe's version, an unknown one, or a future one.
#include "optimize/recipe_check.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/strings.h"
#include "optimize/fix_item.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kCode = ".py";
constexpr size_t kLongestFixName = 64;

bool IsFixName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestFixName && name[0] >= 'a' && name[0] <= 'z' &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

Unexpected NoItem(std::string_view item) {
  return Fail(ErrorCode::kInput, StrCat("'", Printable(item.substr(0, 100)), "' is no fix with its value"), "",
              "an item is written as workers=4 or tf32; `gapless optimize --list` lists them");
}

// The names of variables may depend on the version of PyTorch.
std::vector<std::string> LinesOf(const Fix& fix, std::string_view value, const std::string& torch) {
  std::vector<std::string> lines;
  for (const std::string& version : {torch, std::string(), std::string("99.0")}) {
    const auto more = fix.trial.environment({.torch_version = version}, value);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

// The values with which the fix might set a variable to `wanted`: none, that one, and the recipe's own.
std::vector<std::string> ValuesToTry(const Fix& fix, const Recipe& recipe, std::string_view wanted) {
  std::vector<std::string> values;
  if (!fix.trial.needs_value()) values.emplace_back();
  if (!fix.trial.value.empty() && ParseFixItem(StrCat(fix.name, "=", wanted))) values.emplace_back(wanted);
  for (const RecipeFix& recipe_fix : recipe.fixes)
    if (const auto item = ParseFixItem(recipe_fix.item); item && item->fix == &fix) values.push_back(item->value);
  return values;
}

// Returns the place of a repeated key in the value at `place`.
std::string RepeatedBelow(const JsonValue& value, const std::string& place) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < value.items().size(); ++i) {
    std::string inner = StrCat(place, "[", i, "]");
    if (value.is_object()) {
      inner = place.empty() ? value.keys()[i] : StrCat(place, ".", value.keys()[i]);
      if (!keys.insert(value.keys()[i]).second) return inner;
    }
    if (std::string repeated = RepeatedBelow(value.items()[i], inner); !repeated.empty()) return repeated;
  }
  return "";
}

}  // namespace

Result<RecipeFix> CheckedItem(std::string_view item) {
  const size_t equals = item.rfind('=');
  std::string_view name = item.substr(0, equals);
  const std::string_view value = equals == item.npos ? std::string_view() : item.substr(equals);
  if (name.ends_with(kCode)) {
    const size_t folder = name.rfind('/');
    name = name.substr(folder == name.npos ? 0 : folder + 1);
    name.remove_suffix(kCode.size());
    if (!IsFixName(name) || !IsPlainValue(value.substr(value.empty() ? 0 : 1))) return NoItem(item);
    return RecipeFix{.item = StrCat(name, value), .own = true};
  }
  if (FindFixWithTrial(name) != nullptr) {
    const auto parsed = ParseFixItem(item);
    if (!parsed) return Fail(ErrorCode::kInput, parsed.error().message, "", parsed.error().hint);
  } else if (!IsFixName(name) || value == "=" || !IsPlainValue(value.substr(value.empty() ? 0 : 1))) {
    return NoItem(item);
  }
  return RecipeFix{.item = std::string(item)};
}

Result<void> CheckVariable(const Recipe& recipe, std::string_view name, std::string_view value) {
  const std::string line = StrCat(name, "=", value), torch = TorchOf(recipe);
  std::set<std::string> names;
  for (const Fix* fix : FixesWithTrial()) {
    if (fix->trial.environment == nullptr) continue;
    for (const std::string& text : LinesOf(*fix, "", torch)) names.insert(text.substr(0, text.find('=')));
    for (const std::string& tried : ValuesToTry(*fix, recipe, value)) {
      const auto lines = LinesOf(*fix, tried, torch);
      if (std::ranges::find(lines, line) != lines.end()) return {};
    }
  }
  if (names.contains(std::string(name)))
    return Fail(ErrorCode::kInput,
                StrCat("'", Printable(value.substr(0, 100)), "' is no value that a fix gives this variable"), "",
                "set it yourself, before the command, where you want it");
  return Fail(
      ErrorCode::kInput,
      StrCat("a recipe may not set this variable; those that fixes set are ", Join({names.begin(), names.end()}, ", ")),
      "", "set it yourself, before the command, where you want it");
}

std::string TorchOf(const Recipe& recipe) {
  if (const auto torch = recipe.made_on.find("torch"); torch != recipe.made_on.end()) return torch->second;
  const auto versions = recipe.made_on.find("versions");
  if (versions == recipe.made_on.end()) return "";
  const auto words = Split(versions->second, ' ');
  const auto found = std::ranges::find(words, "torch");
  return found == words.end() || found + 1 == words.end() ? std::string() : std::string(found[1]);
}

std::string RepeatedKey(const JsonValue& tree) { return RepeatedBelow(tree, ""); }

}  // namespace gapless::internal
