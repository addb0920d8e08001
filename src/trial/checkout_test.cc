// SPDX-License-Identifier: Apache-2.0
// Tests commits and checkouts on a small repository, a merged branch and a shallow clone.
#include "trial/checkout.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

// A repository with three commits of lib/value, and a side branch that was merged.
class History : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = Absolute(::testing::TempDir()) + "/gapless_history_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_ + "/lib");
    if (!AskGit(::testing::TempDir(), {"--version"})) GTEST_SKIP() << "there is no git";
    Git({"init", "-q", "-b", "main"});
    for (const char* value : {"1", "2", "3"}) CommitValue(value);
    Git({"checkout", "-q", "-b", "side", "HEAD~1"});
    std::ofstream(root_ + "/other") << "side";
    Git({"add", "."});
    Git({"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "aside"});
    Git({"checkout", "-q", "main"});
    Git({"-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "--no-ff", "-m", "merge", "side"});
  }
  void TearDown() override { fs::remove_all(root_); }
  void Git(const std::vector<std::string>& arguments) {
    const auto done = AskGit(root_, arguments);
    ASSERT_TRUE(done) << done.error().ToString();
  }
  void CommitValue(const std::string& value) {
    std::ofstream(root_ + "/lib/value") << value;
    Git({"add", "."});
    Git({"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "value\t" + value});
  }
  std::string root_;
};

TEST_F(History, CommitsAlongFirstParents) {
  const auto commits = CommitsBetween(root_, "main~3", "main");
  ASSERT_TRUE(commits) << commits.error().ToString();
  ASSERT_EQ(commits->size(), 4U);
  EXPECT_EQ((*commits)[1].subject, "value\t2");
  EXPECT_EQ((*commits)[3].subject, "merge");
  EXPECT_EQ((*commits)[0].sha.size(), 40U);
  EXPECT_FALSE(CommitsBetween(root_, "main", "main~3"));
  EXPECT_FALSE(CommitsBetween(root_, "side", "main~1"));
  EXPECT_FALSE(CommitsBetween(root_, "nowhere", "main"));
  EXPECT_FALSE(FindCommit(root_, "--help"));
}

TEST_F(History, ChecksOutAndBuildsBesideTheRepository) {
  std::ofstream(root_ + "/lib/value") << "uncommitted";
  const auto commits = CommitsBetween(root_, "main~3", "main");
  ASSERT_TRUE(commits);
  std::string where;
  {
    auto checkouts = Checkouts::Make(root_ + "/lib", "cp value built; test $(cat value) != 2");
    ASSERT_TRUE(checkouts) << checkouts.error().ToString();
    const auto first = checkouts->At((*commits)[0].sha), second = checkouts->At((*commits)[1].sha);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(ContentOf(first->folder + "/built"), "1");
    EXPECT_EQ(first->build_status, 0);
    EXPECT_EQ(second->build_status, 1);
    EXPECT_EQ(checkouts->At((*commits)[0].sha)->folder, first->folder);
    where = first->folder;
  }
  EXPECT_FALSE(fs::exists(where));
  EXPECT_EQ(ContentOf(root_ + "/lib/value"), "uncommitted");
  EXPECT_FALSE(fs::exists(root_ + "/lib/built"));
}

// A data set is not in the repository: the checkout links to it, or says that it lacks it.
TEST_F(History, SharesWhatGitDoesNotTrack) {
  fs::create_directories(root_ + "/lib/data/__pycache__");
  fs::create_directories(root_ + "/sets/digits");
  std::ofstream(root_ + "/sets/digits/1") << "one";
  std::ofstream(root_ + "/lib/data/train") << "images";
  std::ofstream(root_ + "/lib/notes") << "mine";
  const auto commit = FindCommit(root_, "HEAD");
  ASSERT_TRUE(commit);
  {
    auto without = Checkouts::Make(root_ + "/lib", "");
    ASSERT_TRUE(without) << without.error().ToString();
    EXPECT_EQ(
        without->At(commit->sha)->lacks,
        "it ran in a checkout, which lacks what git does not track: notes, data/, ../sets/; --share PATH links to it");
    auto with = Checkouts::Make(root_ + "/lib", "", {"data/", "notes", "value", "../sets/digits/.."});
    ASSERT_TRUE(with) << with.error().ToString();
    const auto place = with->At(commit->sha);
    EXPECT_EQ(place->lacks, "");
    EXPECT_EQ(ContentOf(place->folder + "/data/train"), "images");
    EXPECT_EQ(ContentOf(place->folder + "/../sets/digits/1"), "one");
    EXPECT_FALSE(fs::is_symlink(place->folder + "/value")) << "the commit's own";
  }
  EXPECT_EQ(ContentOf(root_ + "/lib/data/train"), "images") << "the links are removed, not what they lead to";
  for (const char* path : {"nowhere", "..", "../..", "../../other", "/etc", ""})
    EXPECT_FALSE(Checkouts::Make(root_ + "/lib", "", {path})) << path;
}

// A checkout as CI makes it: one commit deep, and another one fetched that no branch leads to.
TEST_F(History, OfAShallowRepository) {
  const std::string shallow = root_ + "_shallow";
  fs::remove_all(shallow);
  Git({"config", "uploadpack.allowAnySHA1InWant", "true"});
  ASSERT_TRUE(AskGit(root_, {"clone", "-q", "--depth=1", "file://" + root_, shallow}));
  const auto wanted = FindCommit(root_, "HEAD~2");
  ASSERT_TRUE(wanted);
  const auto fetched = AskGit(shallow, {"fetch", "-q", "--depth=1", "origin", wanted->sha});
  ASSERT_TRUE(fetched) << fetched.error().ToString();
  auto checkouts = Checkouts::Make(shallow, "");
  ASSERT_TRUE(checkouts) << checkouts.error().ToString();
  const auto place = checkouts->At(wanted->sha);
  ASSERT_TRUE(place) << place.error().ToString();
  EXPECT_TRUE(fs::exists(place->folder + "/lib/value"));
  fs::remove_all(shallow);
}

}  // namespace
}  // namespace gapless::internal
