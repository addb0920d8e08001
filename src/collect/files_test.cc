// SPDX-License-Identifier: Apache-2.0
// Tests limits of reading and the lifetime of temporary folders.
#include "collect/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/strings.h"

namespace gapless::internal {
namespace {

TEST(Files, AreReadUpToALimit) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = StrCat(folder->path(), "/file");
  std::string text;
  while (text.size() < 100'000) text += StrCat(text.size(), "\n");
  ASSERT_TRUE(WriteFileAtomically(path, text));
  EXPECT_EQ(ContentOf(path, size_t{1} << 28), text);
  EXPECT_EQ(ContentOf(path, text.size()), text);
  EXPECT_EQ(ContentOf(path, 50'000), text.substr(0, 50'000));
  EXPECT_EQ(ContentOf(path, 0), "");
  EXPECT_EQ(ContentOf(StrCat(folder->path(), "/none")), "");
  EXPECT_FALSE(ContentOf("/proc/self/status").empty());  // which says that it has no size
}

TEST(Files, ATemporaryFolderIsForItsOwnerAndGoesWithWhatIsInIt) {
  std::string path;
  {
    auto made = TemporaryFolder::Make();
    ASSERT_TRUE(made);
    const TemporaryFolder folder = std::move(*made);  // the one that was moved from removes nothing
    path = folder.path();
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700U);
    ASSERT_TRUE(MakeFolders(path + "/a/b"));
    ASSERT_TRUE(WriteFileAtomically(path + "/a/b/c", "text"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace gapless::internal
