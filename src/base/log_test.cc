// SPDX-License-Identifier: Apache-2.0
// Tests of the log: levels, and that nothing below the level is printed.
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace gapless::internal::log {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override { SetLevel(Level::kWarning); }

  template <class F>
  static std::string Stderr(F print) {
    testing::internal::CaptureStderr();
    print();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, SaysWhatAndHowBadOnStderr) {
  SetLevel(Level::kWarning);
  EXPECT_EQ(Stderr([] { Warning("the file is truncated"); }), "gapless: warning: the file is truncated\n");
  EXPECT_EQ(Stderr([] { Error("no such file"); }), "gapless: error: no such file\n");
}

TEST_F(Log, IsSilentBelowItsLevel) {
  SetLevel(Level::kWarning);
  EXPECT_EQ(Stderr([] { Info("opened"); }), "");
  EXPECT_EQ(Stderr([] { Debug("opened"); }), "");
  SetLevel(Level::kOff);
  EXPECT_EQ(Stderr([] { Error("no such file"); }), "");
  SetLevel(Level::kDebug);
  EXPECT_EQ(Stderr([] { Debug("opened"); }), "gapless: debug: opened\n");
  EXPECT_EQ(Stderr([] { Info("opened"); }), "gapless: info: opened\n");
}

TEST_F(Log, BracesAreTextNotAFormat) {
  EXPECT_EQ(Stderr([] { Error("{} {0}"); }), "gapless: error: {} {0}\n");
}

TEST_F(Log, NamesFromARecordingCannotDriveTheTerminal) {
  EXPECT_EQ(Stderr([] { Error("kernel \x1b[31m\nred"); }), "gapless: error: kernel [31m red\n");
}

}  // namespace
}  // namespace gapless::internal::log
