// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace gapless::internal::log {
namespace {

std::string Warned(std::string_view text) {
  testing::internal::CaptureStderr();
  Warning(text);
  return testing::internal::GetCapturedStderr();
}

TEST(Log, SaysWhatAndHowBadOnStderr) {
  EXPECT_EQ(Warned("the file is truncated"), "gapless: warning: the file is truncated\n");
}

TEST(Log, IsSilentWhenAskedTo) {
  ::setenv("GAPLESS_LOG", "off", 1);
  EXPECT_EQ(Warned("the file is truncated"), "");
  ::unsetenv("GAPLESS_LOG");
}

TEST(Log, NamesFromARecordingCannotDriveTheTerminal) {
  EXPECT_EQ(Warned("kernel \x1b[31m\nred"), "gapless: warning: kernel [31m red\n");
}

}  // namespace
}  // namespace gapless::internal::log
