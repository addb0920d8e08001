// SPDX-License-Identifier: Apache-2.0
// Tests reading, writing and refusing of recipes in JSON and YAML, and their use.
#include "optimize/recipe.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "collect/files.h"
#include "optimize/recipe_use.h"
#include "optimize/testing/unset.h"

namespace gapless::internal {
namespace {

using testing::Unset;

Recipe Example() {
  return {.command = {"python", "train.py", "--name", "a b'c\"\n\t\xC3\xA9\xE2\x80\xA8\xC2\x85", "", "- x: #1", "null",
                      "0.10"},
          .fixes = {{.item = "workers=4",
                     .safety = "stochastic",
                     .what = "DataLoader: num_workers 0 → 4",
                     .predicted = 1.3,
                     .low = 1.21,
                     .measured = 1.25,
                     .high = 1.29},
                    {.item = "tf32"}},
          .environment = {{"OMP_NUM_THREADS", "4"}},
          .made_on = {{"torch", "2.15.0"}, {"gpu", "NVIDIA H200"}, {"a key: x", "1"}},
          .low = 1.4,
          .speedup = 1.5,
          .high = 1.6};
}

Result<Recipe> Parsed(std::string_view text, const std::string& path = "recipe.json") {
  return ParseRecipe(text, path);
}

TEST(Recipe, ReadsBackWhatItWrote) {
  const Recipe recipe = Example();
  const auto json = Parsed(ToJson(recipe));
  ASSERT_TRUE(json) << json.error().ToString();
  const auto yaml = Parsed(ToYaml(recipe), "recipe.yaml");
  ASSERT_TRUE(yaml) << yaml.error().ToString() << "\n" << ToYaml(recipe);
  for (const Recipe* read : {&*json, &*yaml}) {
    EXPECT_EQ(read->command, recipe.command);
    ASSERT_EQ(read->fixes.size(), 2U);
    EXPECT_EQ(read->fixes[0].item, "workers=4");
    EXPECT_EQ(read->fixes[0].what, recipe.fixes[0].what);
    EXPECT_EQ(read->fixes[0].low, 1.21);
    EXPECT_FALSE(read->fixes[1].measured) << "absent stays absent";
    EXPECT_EQ(read->environment, recipe.environment);
    EXPECT_EQ(read->made_on, recipe.made_on);
    EXPECT_EQ(read->speedup, 1.5);
    EXPECT_EQ(ToJson(*read), ToJson(recipe));
  }
}

TEST(Recipe, OfNothingIsARecipe) {
  EXPECT_TRUE(Parsed(ToJson(Recipe{})));
  EXPECT_TRUE(Parsed(ToYaml({}), "x.yml")) << ToYaml({});
}

TEST(Recipe, OfAHandMayLeaveOutWhatItDoesNotKnow) {
  const auto recipe = Parsed(
      "format: gapless.recipe\nschema: 1\ncommand: [python, train.py, --lr, 0.10]\n"
      "fixes:\n  - item: workers=4   # mine\n  - {item: amp}\nunknown: {a: [1, 2]}\n",
      "mine.yaml");
  ASSERT_TRUE(recipe) << recipe.error().ToString();
  EXPECT_EQ(recipe->command[3], "0.10") << "as it was typed";
  EXPECT_EQ(recipe->fixes[1].item, "amp");
  EXPECT_FALSE(recipe->speedup);
}

struct Broken {
  std::string name, path, text, message, place;
};
class BrokenRecipe : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenRecipe, IsAnErrorWithItsPlace) {
  const auto recipe = Parsed(GetParam().text, GetParam().path);
  ASSERT_FALSE(recipe);
  EXPECT_NE(recipe.error().message.find(GetParam().message), std::string::npos) << recipe.error().message;
  EXPECT_EQ(recipe.error().place, GetParam().place);
  EXPECT_FALSE(recipe.error().hint.empty());
}

constexpr const char* kHead = "{\"format\": \"gapless.recipe\",\n\"schema\": 1,\n\"command\": [],\n";
INSTANTIATE_TEST_SUITE_P(
    Recipes, BrokenRecipe,
    ::testing::Values(
        Broken{"future", "r.json", "{\"format\": \"gapless.recipe\",\n \"schema\": 7}", "has version 7",
               "r.json, line 2 (schema)"},
        Broken{"other_file", "r.json", "{\"a\": 1}", "it is no recipe", "r.json"},
        Broken{"list", "r.json", "[]", "it is no recipe", "r.json"},
        Broken{"empty", "r.json", "", "cannot be read", "r.json"},
        Broken{"truncated", "r.json", StrCat(kHead, "\"fixes\": ["), "cannot be read", "r.json, line 4"},
        Broken{"missing_comma", "r.json", "{\"format\": \"gapless.recipe\"\n\"schema\": 1}", "cannot be read",
               "r.json, line 2"},
        Broken{"item_no_text", "r.json", StrCat(kHead, "\"fixes\": [{\"item\": \"tf32\"},\n{\"item\": 4}]}"),
               "must name a fix", "r.json, line 5 (fixes[1].item)"},
        Broken{"item_missing", "r.json", StrCat(kHead, "\"fixes\": [\n{\"what\": \"\"}]}"), "must name a fix",
               "r.json, line 5 (fixes[0].item)"},
        Broken{"no_fixes", "r.json", StrCat(kHead, "\"x\": 1}"), "must be a list", "r.json (fixes)"},
        Broken{"command_number", "r.json",
               "{\"format\": \"gapless.recipe\", \"schema\": 1, \"command\": [1], \"fixes\": []}", "must be a text",
               "r.json, line 1 (command[0])"},
        Broken{"speedup", "r.json", StrCat(kHead, "\"fixes\": [{\"item\": \"tf32\", \"speedup\": {\"low\": -1}}]}"),
               "above 0", "r.json, line 4 (fixes[0].speedup.low)"},
        Broken{"preload", "r.json", StrCat(kHead, "\"fixes\": [],\n\"environment\": {\"LD_PRELOAD\": \"/tmp/x.so\"}}"),
               "may not set this variable", "r.json, line 5 (environment.LD_PRELOAD)"},
        Broken{"path", "r.json", StrCat(kHead, "\"fixes\": [], \"environment\": {\"PYTHONPATH\": \"/tmp\"}}"),
               "may not set", "r.json, line 4 (environment.PYTHONPATH)"},
        Broken{"variable", "r.json", StrCat(kHead, "\"fixes\": [], \"environment\": {\"A=B\": \"1\"}}"), "may not set",
               "r.json, line 4 (environment.A=B)"},
        Broken{"twice", "r.json", StrCat(kHead, "\"fixes\": [], \"environment\": {\"A\": \"1\", \"A\": \"2\"}}"),
               "twice", "r.json (environment.A)"},
        Broken{"command_twice", "r.json", StrCat(kHead, "\"fixes\": [], \"comm\\u0061nd\": [\"evil\"]}"), "twice",
               "r.json (command)"},
        Broken{"item_twice", "r.json", StrCat(kHead, "\"fixes\": [{\"item\": \"tf32\", \"item\": \"pin\"}]}"), "twice",
               "r.json (fixes[0].item)"},
        Broken{"zero_byte", "r.json", StrCat(kHead, "\"fixes\": [], \"environment\": {\"A\": \"\\u0000\"}}"),
               "must be a text", "r.json, line 4 (environment.A)"},
        Broken{"yaml_syntax", "r.yaml", "format: gapless.recipe\nschema: [1\n", "no YAML", "r.yaml, line 2"},
        Broken{"yaml_alias", "r.yaml", "a: &x [1]\nb: *x\n", "no anchors", "r.yaml, line 1"},
        Broken{"yaml_tag", "r.yaml", "a: !!python/object:os.system x\n", "no tags", "r.yaml, line 1"},
        Broken{"yaml_twice", "r.yaml", "a: 1\na: 2\n", "stands twice", "r.yaml, line 2"},
        Broken{"yaml_two", "r.yaml", "a: 1\n---\nb: 2\n", "more than one document", "r.yaml, line 2"},
        Broken{"yaml_key", "r.yaml", "? [1]\n: 2\n", "a key must be a text", "r.yaml, line 1"},
        Broken{"yaml_schema", "r.yml", "format: gapless.recipe\nschema: new\n", "whole number",
               "r.yml, line 2 (schema)"}),
    [](const auto& info) { return info.param.name; });

TEST(Recipe, DeepAndHugeFilesAreRefused) {
  EXPECT_FALSE(Parsed(std::string(100000, '['), "x.yaml"));
  EXPECT_FALSE(Parsed(std::string(100000, '[')));
}

TEST(Recipe, EveryPrefixIsReadOrRefused) {
  for (const auto& [text, path] : {std::pair(ToJson(Example()), "r.json"), std::pair(ToYaml(Example()), "r.yaml")})
    for (size_t size = 0; size + 2 < text.size(); ++size) {
      const auto recipe = Parsed(std::string_view(text).substr(0, size), path);
      EXPECT_TRUE(recipe || !recipe.error().message.empty());
    }
}

TEST(Recipe, IsWrittenByTheEndingOfItsPath) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  for (const char* name : {"/a.yaml", "/a.yml", "/a.json"}) {
    const std::string path = folder->path() + name;
    ASSERT_TRUE(WriteRecipe(Example(), path));
    EXPECT_EQ(ContentOf(path)[0] == '{', path.ends_with(".json"));
    const auto read = ReadRecipe(path);
    ASSERT_TRUE(read) << read.error().ToString();
    EXPECT_EQ(read->fixes.size(), 2U);
  }
  EXPECT_EQ(ReadRecipe(folder->path() + "/none.json").error().message, "there is no such recipe");
}

// --- what of it is used

TEST(RecipeUse, TakesAllOrWhatWasAskedFor) {
  const Recipe recipe{.fixes = {{.item = "threads=4"}, {.item = "workers=2"}, {.item = "tf32"}},
                      .environment = {{"OMP_NUM_THREADS", "4"}, {"PYTORCH_ALLOC_CONF", "expandable_segments:True"}}};
  const auto all = UseRecipe(recipe, {}, {}, Unset);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->fixes, (std::vector<std::string>{"threads=4", "workers=2", "tf32"}));
  EXPECT_EQ(all->by_environment, (std::vector<std::string>{"threads=4"}));
  EXPECT_EQ(all->environment.size(), 2U);
  const std::vector<std::string> threads{"threads"}, item{"workers=2"}, wrong{"workers=8"},
      every{"threads", "workers", "tf32"};
  const auto rest = UseRecipe(recipe, {}, threads, Unset);
  EXPECT_EQ(rest->fixes, (std::vector<std::string>{"workers=2", "tf32"}));
  EXPECT_EQ(rest->environment.size(), 1U) << "its variable goes with it";
  EXPECT_EQ(UseRecipe(recipe, item, {}, Unset)->fixes, (std::vector<std::string>{"workers=2"}));
  EXPECT_EQ(UseRecipe(recipe, wrong, {}, Unset).error().hint, "it has threads=4, workers=2, tf32");
  EXPECT_FALSE(UseRecipe(recipe, {}, every, Unset));
}

TEST(RecipeUse, LeavesWhatTheUserHasSet) {
  const Recipe recipe{.fixes = {{.item = "threads=4"}}, .environment = {{"OMP_NUM_THREADS", "4"}}};
  const auto use = UseRecipe(recipe, {}, {}, [](const char*) { return "2"; });
  ASSERT_TRUE(use);
  EXPECT_TRUE(use->environment.empty());
  ASSERT_EQ(use->notes.size(), 1U);
  EXPECT_EQ(use->notes[0], "OMP_NUM_THREADS is set already and stays 2; the recipe wants 4");
  EXPECT_TRUE(UseRecipe(recipe, {}, {}, [](const char*) { return "4"; })->notes.empty());
}

TEST(RecipeUse, LeavesOutWhatItDoesNotKnow) {
  const Recipe recipe{.fixes = {{.item = "quantum=2"}, {.item = "tf32"}}};
  const auto use = UseRecipe(recipe, {}, {}, Unset);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->fixes, (std::vector<std::string>{"tf32"}));
  EXPECT_EQ(use->notes.size(), 1U);
}

TEST(RecipeUse, LoadsAFixOfTheUsersOwnFromTheFileThatTheUserGives) {
  const auto recipe =
      Parsed(StrCat(kHead, "\"fixes\": [{\"item\": \"slower=3\", \"own\": true}, {\"item\": \"tf32\"}]}"));
  ASSERT_TRUE(recipe) << recipe.error().ToString();
  EXPECT_EQ(ToJson(*Parsed(ToYaml(*recipe), "r.yaml")), ToJson(*recipe));
  const std::vector<std::string> own{"/mine/slower.py"}, other{"/mine/faster.py"}, slower{"slower"};
  EXPECT_FALSE(UseRecipe(*recipe, {}, {}, Unset));
  EXPECT_EQ(UseRecipe(*recipe, {}, slower, Unset)->fixes, (std::vector<std::string>{"tf32"}));
  EXPECT_FALSE(UseRecipe(*recipe, {}, slower, Unset, other)) << "a file that the recipe has no fix for";
  const auto use = UseRecipe(*recipe, {}, {}, Unset, own);
  ASSERT_TRUE(use) << use.error().ToString();
  EXPECT_EQ(use->fixes, (std::vector<std::string>{"slower=3", "tf32"}));
  EXPECT_EQ(use->own_fixes, own);
}

TEST(RecipeUse, SaysWhatIsDifferentHere) {
  const Recipe recipe{.command = {"python", "a.py"}, .made_on = {{"torch", "2.15.0"}, {"gpu", "NVIDIA H200"}}};
  const std::vector<std::string> same{"python", "a.py"}, other{"python", "b.py"};
  HostFacts h200, v100, none;
  h200.gpus = {{"NVIDIA H200", "", ""}}, v100.gpus = {{"Tesla V100", "", ""}};
  EXPECT_TRUE(Differences(recipe, same, h200).empty());
  EXPECT_EQ(Differences(recipe, other, h200).size(), 1U);
  EXPECT_EQ(Differences(recipe, same, v100)[0],
            "the recipe was made with the GPU NVIDIA H200, this is Tesla V100: what it brings may differ");
  EXPECT_EQ(Differences(recipe, same, none)[0], "the recipe was made on NVIDIA H200, and no GPU is seen here");
  EXPECT_TRUE(VersionDifferences(recipe, "python 3.11.7 torch 2.15.0").empty());
  EXPECT_EQ(VersionDifferences(recipe, "python 3.11.7 torch 2.0.1").size(), 1U);
  EXPECT_TRUE(VersionDifferences(recipe, "python 3.11.7").empty());
}

TEST(RecipeUse, QuotesForShells) {
  const std::vector<std::string> command{"python", "a b.py", "it's", "", "--lr=0.1", "$HOME", "é"};
  EXPECT_EQ(ShellCommand(command), "python 'a b.py' 'it'\\''s' '' --lr=0.1 '$HOME' é");
}

TEST(Recipe, SaysThatItIsUnproved) {
  Recipe recipe{.command = {"python", "train.py"}, .fixes = {{.item = "tf32"}}};
  EXPECT_EQ(ToJson(recipe).find("proved"), std::string::npos);
  recipe.proved = false;
  for (const char* path : {"candidate.json", "candidate.yaml"}) {
    const bool yaml = std::string_view(path).ends_with("yaml");
    const auto again = ParseRecipe(yaml ? ToYaml(recipe) : ToJson(recipe), path);
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_FALSE(again->proved) << path;
  }
}

}  // namespace
}  // namespace gapless::internal
