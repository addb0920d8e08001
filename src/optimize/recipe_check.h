// SPDX-License-Identifier: Apache-2.0
// Checks what a recipe asks for. Recipes are passed around, so one may switch on what the catalogue has, with values
// that a fix takes, and set the variables that a fix sets, to what the fix sets them to. The catalogue itself is the
// list: there is no second one. A recipe names no file of code, no library and no program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_value.h"
#include "base/result.h"
#include "optimize/recipe.h"

namespace gapless::internal {

// "workers=4" as it is; the path of a fix of somebody's own, "…/slower.py=3", as "slower=3", which is its own. An
// error: it is no item, or no value that the fix of this name takes. One that this catalogue does not have is kept: a
// newer gapless may have written it.
Result<RecipeFix> CheckedItem(std::string_view item);

// Does a fix of the catalogue set NAME to VALUE? An error says what a recipe may set.
Result<void> CheckVariable(const Recipe& recipe, std::string_view name, std::string_view value);

// Returns the place of a key that stands twice in one object of the tree, such as "fixes[0].item"; empty if there is
// none. Readers disagree on which of two values counts, so a person might read one and gapless the other.
std::string RepeatedKey(const JsonValue& tree);

// "2.15.0", of the PyTorch that the recipe was made with; "": unknown.
std::string TorchOf(const Recipe& recipe);

}  // namespace gapless::internal
