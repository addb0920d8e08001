// SPDX-License-Identifier: Apache-2.0
#include "optimize/patch/checkout_root.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class CheckoutRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::Make();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    top_ = fs::canonical(folder_->path()).string();
  }
  void Write(const std::string& name) const {
    fs::create_directories(fs::path(Of(name)).parent_path());
    std::ofstream(Of(name)) << "x = 1\n";
  }
  std::string Of(const std::string& name) const { return StrCat(top_, "/", name); }
  std::string Root(const std::vector<std::string>& command, const std::string& here,
                   const std::vector<std::string>& files = {}) const {
    std::vector<Change> changes;
    for (const std::string& file : files) changes.push_back({.fix = "pin", .edit = {.file = Of(file)}});
    return CheckoutRoot(command, Of(here), changes);
  }

  std::optional<TemporaryFolder> folder_;
  std::string top_;
};

TEST_F(CheckoutRootTest, TheRepositoryAroundTheScript) {
  Write("home/.git/HEAD"), Write("home/a/b/train.py"), Write("runs/note");
  EXPECT_EQ(Root({"python", "train.py"}, "home/a/b"), Of("home"));
  EXPECT_EQ(Root({"python", Of("home/a/b/train.py")}, "runs"), Of("home"));
  EXPECT_EQ(Root({"python", "-m", "b.train"}, "home/a"), Of("home"));
}

TEST_F(CheckoutRootTest, WithoutARepositoryTheFolderThatItIsStartedFrom) {
  Write("home/a/train.py"), Write("other/pkg/__init__.py"), Write("other/pkg/train.py");
  EXPECT_EQ(Root({"python", "a/train.py"}, "home"), Of("home"));
  EXPECT_EQ(Root({"torchrun", "--nproc-per-node=2", "a/train.py"}, "home"), Of("home"));
  EXPECT_EQ(Root({"python", "-m", "torch.distributed.run", Of("other/pkg/train.py")}, "home"), Of("other"))
      << "the folder around its package";
}

TEST_F(CheckoutRootTest, WithoutAScriptWhereChangesAre) {
  Write("home/run.sh"), Write("other/train.py");
  EXPECT_EQ(Root({"bash", "run.sh"}, "home", {"other/train.py"}), Of("other"));
  EXPECT_EQ(Root({"bash", "run.sh"}, "home", {"other/train.py", "home/x.py"}), Of("home"));
  EXPECT_EQ(Root({"bash", "run.sh"}, "home"), Of("home"));
}

TEST_F(CheckoutRootTest, FilesOfOthersAreNotPatched) {
  for (const char* name : {"home/a.py", "home/lib/site-packages/b.py", "home/gapless/agent_path.py",
                           "home/gapless/c.py", "home/mine/gapless/d.py", "other/e.py"})
    Write(name);
  fs::create_symlink(Of("other/e.py"), Of("home/f.py"));
  const auto path = [&](const std::string& name) { return PathInCheckout(Of(name), Of("home")).value_or(""); };
  EXPECT_EQ(path("home/a.py"), "a.py");
  EXPECT_EQ(path("home/mine/gapless/d.py"), "mine/gapless/d.py") << "a folder of that name alone is the user's";
  EXPECT_EQ(path("home/f.py"), "") << "a link leads elsewhere";
  EXPECT_EQ(WhyNotPatched(Of("home/gapless/c.py"), Of("home")), "which belongs to gapless");
  EXPECT_EQ(WhyNotPatched(Of("home/lib/site-packages/b.py"), Of("home")), "which belongs to an installed package");
  EXPECT_EQ(WhyNotPatched(Of("other/e.py"), Of("home")), StrCat("which lies outside of the checkout ", Of("home")));
}

}  // namespace
}  // namespace gapless::internal
