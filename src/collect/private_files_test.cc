// SPDX-License-Identifier: Apache-2.0
// Tests which folders, links and sticky bits let others replace a file.
#include "collect/private_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/strings.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class PrivateFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::Make();
    ASSERT_TRUE(made);
    temporary_.emplace(std::move(*made));
    folder_ = temporary_->path();
    open_ = OpenFolder(AT_FDCWD, folder_);
    ASSERT_TRUE(open_);
  }
  std::string Make(const std::string& name, mode_t mode) const {
    std::string path = StrCat(folder_, "/", name);
    EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777U;
  }
  std::optional<TemporaryFolder> temporary_;
  std::string folder_;
  Descriptor open_;
};

TEST_F(PrivateFiles, OthersChangeWhatLiesBelowAFolderThatTheyWriteIn) {
  EXPECT_EQ(ChangeableByOthers(folder_), "");
  const std::string shared = Make("shared", 0777);
  EXPECT_EQ(ChangeableByOthers(shared), shared);
  EXPECT_EQ(ChangeableByOthers(Make("shared/ours", 0700)), shared);  // it can be renamed, and another put there
  EXPECT_EQ(ChangeableByOthers(Make("group", 0770)), folder_ + "/group");
  EXPECT_EQ(ChangeableByOthers(folder_ + "/none"), folder_ + "/none");
}

TEST_F(PrivateFiles, TheStickyBitKeepsWhatIsOursThere) {
  const std::string sticky = Make("sticky", 01777);
  EXPECT_EQ(ChangeableByOthers(Make("sticky/ours", 0700)), "");
  EXPECT_EQ(ChangeableByOthers(sticky), sticky);  // but others put things of their own beside
}

TEST_F(PrivateFiles, LinksLeadWhereOthersMayWrite) {
  const std::string shared = Make("shared", 0777), ours = Make("shared/ours", 0700);
  fs::create_symlink("shared", folder_ + "/link");
  EXPECT_EQ(ChangeableByOthers(folder_ + "/link/ours"), shared);
  fs::create_symlink(ours, shared + "/in");  // somebody else can make it lead elsewhere
  EXPECT_EQ(ChangeableByOthers(shared + "/in"), shared);
  Make("deep", 0700);
  fs::create_symlink("../shared/ours", folder_ + "/deep/link");
  EXPECT_EQ(ChangeableByOthers(folder_ + "/deep/link"), folder_ + "/deep/../shared");
  fs::create_symlink("round", folder_ + "/round");
  EXPECT_NE(ChangeableByOthers(folder_ + "/round/x"), "");
}

TEST_F(PrivateFiles, WhatBelongsToSomebodyElseIsTheirsToChange) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const std::string theirs = Make("theirs", 0755);
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  EXPECT_EQ(ChangeableByOthers(theirs), theirs);
  EXPECT_EQ(WriterOf(OpenFolder(AT_FDCWD, theirs).get()), FolderWriter::kAnotherOwner);
}

TEST_F(PrivateFiles, FilesAndFoldersAreForTheirOwner) {
  const mode_t before = ::umask(0);
  const auto made = MakeFolderIn(open_.get(), "a/b", folder_);
  EXPECT_TRUE(made && MakeFileIn(made->get(), "file"));
  EXPECT_TRUE(WriteFileIn(open_.get(), "whole", "whole", "text"));
  ::umask(before);
  EXPECT_EQ(ModeOf(folder_ + "/a"), 0700U);
  EXPECT_EQ(ModeOf(folder_ + "/a/b/file"), 0600U);
  EXPECT_EQ(ModeOf(folder_ + "/whole"), 0600U);
}

TEST_F(PrivateFiles, NothingIsWrittenThroughALink) {
  Make("elsewhere", 0700);
  fs::create_symlink("elsewhere", folder_ + "/a");
  fs::create_symlink("elsewhere/target", folder_ + "/file");
  EXPECT_FALSE(MakeFolderIn(open_.get(), "a/b", folder_));
  EXPECT_FALSE(MakeFileIn(open_.get(), "file"));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(WriteFileIn(open_.get(), "file", "file", "text"));  // which takes the link's place
  EXPECT_TRUE(fs::is_empty(folder_ + "/elsewhere"));
  EXPECT_EQ(ContentOf(folder_ + "/file"), "text");
  fs::create_symlink("whole", folder_ + "/link");
  EXPECT_FALSE(OpenPlainFile(open_.get(), "link", O_RDONLY));
  EXPECT_FALSE(OpenFolder(open_.get(), "a"));
}

TEST_F(PrivateFiles, PipesAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(OpenPlainFile(open_.get(), "pipe", O_RDONLY));
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(PrivateFiles, TemporaryNamesCannotBeGuessed) {
  const std::string name = TemporaryNameFor("/run/manifest.json");
  EXPECT_NE(name, TemporaryNameFor("/run/manifest.json"));
  EXPECT_TRUE(name.starts_with("/run/.manifest.json."));
  EXPECT_TRUE(IsTemporaryName(name.substr(5)));
  EXPECT_FALSE(IsTemporaryName("manifest.json"));
}

TEST_F(PrivateFiles, CodeGoesWhereNobodyElseWrites) {
  const std::string open = Make("open", 0777), own = Make("own", 0700);
  ::setenv("XDG_CACHE_HOME", open.c_str(), 1);
  ::setenv("TMPDIR", own.c_str(), 1);
  const auto made = TemporaryFolder::MakeForCode();
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("TMPDIR");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->path().starts_with(own)) << made->path();
  EXPECT_EQ(ModeOf(made->path()), 0700U);
}

}  // namespace
}  // namespace gapless::internal
