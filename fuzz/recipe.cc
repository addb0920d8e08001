// SPDX-License-Identifier: Apache-2.0
// Recipes, records of fixes and scripts on arbitrary input: what is read is written and read back the same; a script is
// either left alone, with a reason, or its diff is one.
//
// The input is a recipe; where it holds a line "===", what stands before that is one record a line, and behind it a
// script.
#include "optimize/recipe.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "collect/files.h"
#include "optimize/patch.h"

namespace {

using namespace gapless::internal;

void Check(bool good) {
  if (!good) std::abort();
}

void CheckRecipe(std::string_view text) {
  for (const char* path : {"r.json", "r.yaml"}) {
    const auto recipe = ParseRecipe(text, path);
    if (!recipe) continue;
    const auto json = ParseRecipe(ToJson(*recipe), "r.json"), yaml = ParseRecipe(ToYaml(*recipe), "r.yaml");
    Check(json && yaml);
    Check(ToJson(*json) == ToJson(*recipe) && ToJson(*yaml) == ToJson(*recipe));
  }
}

void CheckPatch(std::string_view records, std::string_view script) {
  static const auto& folder = *new auto(TemporaryFolder::Make());
  const std::string path = folder->path() + "/train.py";
  std::ofstream(path, std::ios::binary) << script;
  std::vector<Change> changes;
  for (const std::string_view record : Split(records, '\n')) {
    auto change = ParseChange(record, 1);
    if (!change) continue;
    change->edit.file = path;
    changes.push_back(std::move(*change));
  }
  const Patch patch = WritePatch(changes, folder->path());
  Check(patch.diff.empty() || patch.diff.starts_with("--- a/train.py\n+++ b/train.py\n@@ -"));
  for (const std::string& why : patch.left_out) Check(why.find("train.py: ") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find("\n===\n");
  if (cut == std::string_view::npos) {
    CheckRecipe(text);
  } else {
    CheckPatch(text.substr(0, cut), text.substr(cut + 5));
  }
  return 0;
}
