// SPDX-License-Identifier: Apache-2.0
// Patches of small programs that need no PyTorch, tried with the user's own tools.
#include "optimize/patch_check.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/stop_signal.h"
#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

// `data.make(n=1)` becomes `data.make(n=2)`, in a module beside the script.
class PatchCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::Make();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    root_ = fs::canonical(folder_->path()).string() + "/project";
    Write("train.py", "import sys\nsys.path.insert(0, '.')\nimport data\ndata.check(int(open('most.txt').read()))\n");
    Write("data.py",
          "def make(n=1):\n    return n\nMADE = make()\ndef check(most):\n    assert MADE <= most, 'too many'\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << text;
  }
  Patch Written() const {
    const std::vector<Change> changes{
        {.fix = "workers",
         .value = "2",
         .what = "more",
         .edit = {
             .kind = EditKind::kKeywords, .file = root_ + "/data.py", .line = 3, .call = "make", .set = {{"n", "2"}}}}};
    return WritePatch(changes, root_);
  }
  PatchTrial Trial(double left_s) const {
    RunRequest request{.command = {"python3", "train.py"}, .working_folder = root_};
    request.whole_process = true;
    return {.root = root_, .request = request, .run_s = 1, .left_s = left_s};
  }

  std::optional<TemporaryFolder> folder_;
  std::string root_;
};

TEST_F(PatchCheckTest, APatchThatWorksIsHandedOver) {
  Write("most.txt", "2");
  Patch patch = Written();
  const std::string diff = patch.diff;
  CheckPatch(Trial(60), patch);
  EXPECT_EQ(patch.diff, diff);
  EXPECT_EQ(patch.tested, "on a copy: git applies it, each file compiles, it ran");
  EXPECT_EQ(ContentOf(root_ + "/data.py").find("n=2"), std::string::npos) << "the user's file was written to";
}

TEST_F(PatchCheckTest, APatchWhoseProgramFailsIsByHand) {
  Write("most.txt", "1");
  Patch patch = Written();
  CheckPatch(Trial(60), patch);
  EXPECT_EQ(patch.diff, "");
  EXPECT_EQ(patch.tested, "");
  ASSERT_EQ(patch.left_out.size(), 1U);
  EXPECT_TRUE(patch.left_out[0].starts_with("workers=2: more, in data.py:3: the patched program fails: "))
      << patch.left_out[0];
  EXPECT_NE(patch.left_out[0].find("too many"), std::string::npos) << patch.left_out[0];
}

TEST_F(PatchCheckTest, WithoutTimeTheProgramIsNotRun) {
  Write("most.txt", "1");
  Patch patch = Written();
  CheckPatch(Trial(0.5), patch);
  EXPECT_EQ(patch.tested, "on a copy: git applies it, each file compiles, no time was left to run it");
}

TEST_F(PatchCheckTest, AFileThatDoesNotApplyOrCompileIsTakenOut) {
  Patch patch = Written();
  Write("data.py", "# another file by now\n");
  CheckPatch(Trial(0), patch);
  EXPECT_EQ(patch.diff, "");
  ASSERT_EQ(patch.left_out.size(), 1U);
  EXPECT_NE(patch.left_out[0].find("in data.py:3: git does not apply it: "), std::string::npos) << patch.left_out[0];
}

TEST_F(PatchCheckTest, AnInterruptedTestTakesNothingAway) {
  Patch patch = Written();
  const std::string diff = patch.diff;
  const auto interrupted = [&] {
    NoteStopSignal(SIGINT);
    CheckPatch(Trial(60), patch);
    std::exit(patch.diff == diff && patch.tested == "not to the end: interrupted" ? 0 : 1);
  };
  EXPECT_EXIT(interrupted(), ::testing::ExitedWithCode(0), "");
}

TEST_F(PatchCheckTest, FoldersOfDataAreReachedThroughLinks) {
  for (int i = 0; i < 1100; ++i) Write(StrCat("pictures/", i, ".txt"), "2");
  Write("train.py",
        "import sys\nsys.path.insert(0, '.')\nimport data\ndata.check(int(open('pictures/7.txt').read()))\n");
  Patch patch = Written();
  CheckPatch(Trial(60), patch);
  EXPECT_EQ(patch.tested, "on a copy: git applies it, each file compiles, it ran");
}

}  // namespace
}  // namespace gapless::internal
