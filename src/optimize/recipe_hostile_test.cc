// SPDX-License-Identifier: Apache-2.0
// Recipes are passed around. What a stranger's recipe asks for is refused by name, unless the catalogue itself could
// have written it; and everything that the catalogue can write is read back.
#include <gtest/gtest.h>

#include <chrono>

#include "base/json_writer.h"
#include "base/strings.h"
#include "collect/files.h"
#include "optimize/fix_item.h"
#include "optimize/recipe.h"
#include "optimize/recipe_use.h"
#include "optimize/testing/unset.h"

namespace gapless::internal {
namespace {

using testing::Unset;

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

// The same recipe in both forms; each part stands on a line of its own.
std::string Json(std::string_view item, std::string_view variable, std::string_view value) {
  return StrCat("{\"format\": \"gapless.recipe\", \"schema\": 1, \"command\": [],\n\"fixes\": [{\"item\": ",
                Quoted(item), "}],\n\"environment\": {", Quoted(variable), ": ", Quoted(value), "}}\n");
}
std::string Yaml(std::string_view item, std::string_view variable, std::string_view value) {
  return StrCat("{format: gapless.recipe, schema: 1, command: [],\nfixes: [{item: ", Quoted(item),
                "}],\nenvironment: {", Quoted(variable), ": ", Quoted(value), "}}\n");
}

struct Hostile {
  std::string name, item, variable, value, message, key;
};
class HostileRecipe : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileRecipe, IsRefusedByName) {
  const auto& [name, item, variable, value, message, key] = GetParam();
  const std::string line = key.starts_with("fixes") ? "2" : "3";
  for (const auto& [text, path] :
       {std::pair(Json(item, variable, value), "r.json"), {Yaml(item, variable, value), "r.yaml"}}) {
    const auto recipe = ParseRecipe(text, path);
    ASSERT_FALSE(recipe) << text;
    EXPECT_NE(recipe.error().message.find(message), std::string::npos) << recipe.error().message;
    EXPECT_EQ(recipe.error().place, StrCat(path, ", line ", line, " (", key, ")"));
    EXPECT_FALSE(recipe.error().hint.empty());
  }
}

constexpr const char* kSets =
    "may not set this variable; those that fixes set are OMP_NUM_THREADS, PYTORCH_ALLOC_CONF, PYTORCH_CUDA_ALLOC_CONF";
INSTANTIATE_TEST_SUITE_P(
    Recipes, HostileRecipe,
    ::testing::Values(
        // torch.compile runs what these name.
        Hostile{"compiler", "tf32", "CC", "/tmp/evil", kSets, "environment.CC"},
        Hostile{"compiler_of_cpp", "tf32", "CXX", "sh -c evil #", kSets, "environment.CXX"},
        Hostile{"cuda_home", "tf32", "CUDA_HOME", "/tmp", kSets, "environment.CUDA_HOME"},
        Hostile{"ptxas", "tf32", "TRITON_PTXAS_PATH", "/tmp/evil", kSets, "environment.TRITON_PTXAS_PATH"},
        Hostile{"kernel_cache", "tf32", "TORCHINDUCTOR_CACHE_DIR", "/tmp", kSets,
                "environment.TORCHINDUCTOR_CACHE_DIR"},
        // Programs and libraries that others load.
        Hostile{"preload", "tf32", "LD_PRELOAD", "/tmp/x.so", kSets, "environment.LD_PRELOAD"},
        Hostile{"python_path", "tf32", "PYTHONPATH", "/tmp", kSets, "environment.PYTHONPATH"},
        Hostile{"nccl_plugin", "tf32", "NCCL_NET_PLUGIN", "/tmp/x.so", kSets, "environment.NCCL_NET_PLUGIN"},
        Hostile{"git", "tf32", "GIT_SSH_COMMAND", "evil", kSets, "environment.GIT_SSH_COMMAND"},
        Hostile{"node", "tf32", "NODE_OPTIONS", "--require /tmp/x.js", kSets, "environment.NODE_OPTIONS"},
        Hostile{"openmp_tool", "tf32", "OMP_TOOL_LIBRARIES", "/tmp/x.so", kSets, "environment.OMP_TOOL_LIBRARIES"},
        Hostile{"pickle", "tf32", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1", kSets,
                "environment.TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"},
        Hostile{"other_case", "tf32", "omp_num_threads", "4", kSets, "environment.omp_num_threads"},
        // Values that no fix gives a variable.
        Hostile{"threads_shell", "threads=4", "OMP_NUM_THREADS", "4; evil", "no value that a fix gives",
                "environment.OMP_NUM_THREADS"},
        Hostile{"threads_many", "threads=4", "OMP_NUM_THREADS", "99999999999999999999", "no value that a fix gives",
                "environment.OMP_NUM_THREADS"},
        Hostile{"allocator_backend", "allocator", "PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync",
                "no value that a fix gives", "environment.PYTORCH_CUDA_ALLOC_CONF"},
        Hostile{"allocator_path", "allocator", "PYTORCH_ALLOC_CONF", "expandable_segments:True,x:/tmp/x.so",
                "no value that a fix gives", "environment.PYTORCH_ALLOC_CONF"},
        // Values that no fix takes.
        Hostile{"mode", "compile=/tmp/x", "OMP_NUM_THREADS", "4", "fix compile takes", "fixes[0].item"},
        Hostile{"type", "amp=fp64", "OMP_NUM_THREADS", "4", "fix amp takes", "fixes[0].item"},
        Hostile{"negative", "workers=-1", "OMP_NUM_THREADS", "4", "fix workers takes", "fixes[0].item"},
        Hostile{"huge", "workers=1000000", "OMP_NUM_THREADS", "4", "fix workers takes", "fixes[0].item"},
        Hostile{"no_value", "tf32=1", "OMP_NUM_THREADS", "4", "takes no value", "fixes[0].item"},
        Hostile{"folder", "../../evil", "OMP_NUM_THREADS", "4", "is no fix", "fixes[0].item"},
        Hostile{"module", "os.system", "OMP_NUM_THREADS", "4", "is no fix", "fixes[0].item"},
        Hostile{"unknown_value", "quantum=a b", "OMP_NUM_THREADS", "4", "is no fix", "fixes[0].item"}),
    [](const auto& info) { return info.param.name; });

TEST(HostileRecipe, LoadsNoCode) {
  // Not even where the file is there: a recipe names a fix of somebody's own, the command line gives its file.
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  const std::string own = folder->path() + "/slower.py";
  ASSERT_TRUE(WriteFileAtomically(own, "raise SystemExit('loaded')\n"));
  for (const std::string& item : {own, own + "=3"}) {
    const auto recipe = ParseRecipe(Json(item, "OMP_NUM_THREADS", "4"), "r.json");
    ASSERT_TRUE(recipe) << recipe.error().ToString();
    const auto use = UseRecipe(*recipe, {}, {}, Unset);
    ASSERT_FALSE(use) << "it would load " << Join(use->own_fixes, " ");
    EXPECT_EQ(use.error().message,
              "the fix slower of the recipe is code of somebody's own, which a recipe cannot load");
    EXPECT_EQ(use.error().hint, "give the file yourself: --fix slower.py; or leave it out: --without slower");
  }
}

// Text that grows when it is read, such as YAML aliases.
TEST(HostileRecipe, TakesNeitherMemoryNorTime) {
  const auto begun = std::chrono::steady_clock::now();
  std::string laughs = "a0: &a0 [lol]\n";
  for (int i = 1; i < 10; ++i) laughs += StrCat("a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  EXPECT_FALSE(ParseRecipe(laughs, "laughs.yaml"));
  // A long key stands in the path of every value below it.
  std::string keys = StrCat("? ", std::string(400000, 'k'), "\n: [");
  for (int i = 0; i < 100000; ++i) keys += "0,";
  const auto wide = ParseRecipe(keys + "0]\n", "keys.yaml");
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message.find("a key of it is too long"), std::string::npos) << wide.error().message;
  const auto many = ParseRecipe("a: [" + std::string(400000, ',') + "]\n", "many.yaml");
  EXPECT_FALSE(many);
  std::string values = "a: [";
  for (int i = 0; i < 200000; ++i) values += "0,";
  const auto most = ParseRecipe(values + "0]\n", "values.yaml");
  ASSERT_FALSE(most);
  EXPECT_NE(most.error().message.find("it has more than"), std::string::npos) << most.error().message;
  for (const char* path : {"deep.json", "deep.yaml"}) {
    const auto deep = ParseRecipe(StrCat("{\"a\": ", std::string(60, '['), std::string(60, ']'), "}"), path);
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().message.find("too many levels"), std::string::npos) << deep.error().message;
  }
  const auto large = ParseRecipe(StrCat("# ", std::string(size_t{1} << 20, 'x')), "large.yaml");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "this is too large for a recipe, which has at most 1.05 MB");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

// --- what the catalogue writes

std::vector<FixContext> Machines() {
  std::vector<FixContext> machines;
  for (const char* torch : {"", "1.13.1", "2.0.1", "2.8.0", "2.9.0", "2.15.0+cu130"})
    for (const bool gpu : {false, true})
      for (const bool all : {false, true})
        machines.push_back({.cpus = 192,
                            .ranks = 8,
                            .gpu = gpu,
                            .compute_major = gpu ? 9 : 0,
                            .bf16_cpu = true,
                            .torch_version = torch,
                            .all_values = all});
  machines.push_back({.cpus = 1024, .gpu = true, .compute_major = 7, .all_values = true});
  return machines;
}

TEST(Recipe, TakesEveryFixAndValueOfTheCatalogue) {
  for (const Fix* fix : FixesWithTrial())
    for (const FixContext& machine : Machines())
      for (const std::string& value : fix->trial.values(machine).values) {
        const FixItem item{fix, value};
        Recipe recipe{.command = {"python", "train.py"}, .fixes = {{.item = item.ToString()}}};
        if (!machine.torch_version.empty())
          recipe.made_on["versions"] = StrCat("python 3.11.7 torch ", machine.torch_version);
        if (fix->trial.environment != nullptr)
          for (const std::string& line : fix->trial.environment(machine, value))
            recipe.environment.emplace(line.substr(0, line.find('=')), line.substr(line.find('=') + 1));
        for (const auto& [text, path] : {std::pair(ToJson(recipe), "r.json"), {ToYaml(recipe), "r.yaml"}}) {
          const auto read = ParseRecipe(text, path);
          ASSERT_TRUE(read) << item.ToString() << ": " << read.error().ToString() << "\n" << text;
          const auto use = UseRecipe(*read, {}, {}, Unset);
          ASSERT_TRUE(use) << item.ToString();
          EXPECT_EQ(use->fixes, std::vector<std::string>{item.ToString()});
          EXPECT_EQ(use->environment.size(), recipe.environment.size());
          EXPECT_TRUE(use->notes.empty());
        }
      }
}

}  // namespace
}  // namespace gapless::internal
