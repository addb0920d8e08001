// SPDX-License-Identifier: Apache-2.0
#include "base/temporaries.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gapless::internal {
namespace {

TEST(Temporaries, AreRemovedUnlessTheyWereForgotten) {
  const std::string unfinished = ::testing::TempDir() + "/gapless_unfinished", finished = unfinished + ".done";
  for (const std::string& path : {unfinished, finished}) {
    std::ofstream(path) << "x";
    RememberTemporary(path);
  }
  ForgetTemporary(finished);
  RemoveTemporaries();
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_TRUE(std::filesystem::exists(finished));
  std::filesystem::remove(finished);
}

}  // namespace
}  // namespace gapless::internal
