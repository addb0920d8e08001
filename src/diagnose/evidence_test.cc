// SPDX-License-Identifier: Apache-2.0
#include "diagnose/evidence.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(FrameText, TheLineInAFramesNameIsNotTold) {
  EXPECT_EQ(FrameText("train.py(12): main"), "main() (train.py)");
  EXPECT_EQ(FrameText("/a (b)/train.py(12): main"), "main() (/a (b)/train.py)");
  EXPECT_EQ(FrameText("train.py(1): <module>"), "<module> (train.py)");
}

TEST(FrameText, OtherNamesStay) {
  for (const std::string_view name : {"aten::mm", "<built-in function sleep>", "f(x): y", "(3): f", "## step ##"})
    EXPECT_EQ(FrameText(name), name);
}

}  // namespace
}  // namespace gapless::internal
