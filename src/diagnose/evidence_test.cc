// SPDX-License-Identifier: Apache-2.0
#include "diagnose/evidence.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(TimesAStep, LessThanOnceIsToldBySteps) {
  EXPECT_EQ(TimesAStep(48), "48 times a step");
  EXPECT_EQ(TimesAStep(1), "once a step");
  EXPECT_EQ(TimesAStep(0.26), "once in 4 steps");
  EXPECT_EQ(TimesAStep(0.9), "once a step");
}

TEST(TypeText, TypesAreCalledAsInPython) {
  EXPECT_EQ(TypeText("c10::BFloat16"), "bfloat16");
  EXPECT_EQ(TypeText("long int"), "int64");
  EXPECT_EQ(TypeText("c10::Float8_e4m3fn"), "c10::Float8_e4m3fn") << "others stay as they are";
}

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
