// SPDX-License-Identifier: Apache-2.0
// Tests the command that follows each verb.
#include "report/next.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

using Lines = std::vector<std::string>;

TEST(NextLinesTest, ARecordedCommandIsAnalysedAndThenMadeFaster) {
  EXPECT_EQ(NextLines(After::kRecording, {.command = {"python", "train.py", "--name", "a b"}, .path = "run"}),
            (Lines{"gapless analyze run", "gapless optimize -- python train.py --name 'a b'"}));
}

TEST(NextLinesTest, ARunFolderIsMadeFasterAndABareRecordingExplained) {
  EXPECT_EQ(NextLines(After::kReading, {.command = {"python", "train.py"}, .path = "run", .rule = "data_loading"})[0],
            "gapless optimize -- python train.py");
  EXPECT_EQ(NextLines(After::kReading, {.path = "trace.json", .rule = "data_loading"}),
            (Lines{"gapless analyze trace.json --explain data_loading", "gapless analyze trace.json -o report.html"}));
  EXPECT_EQ(NextLines(After::kReading, {.path = "trace.json"}), (Lines{"gapless analyze trace.json -o report.html"}));
}

TEST(NextLinesTest, AFasterCommandIsGuarded) {
  EXPECT_EQ(NextText(NextLines(After::kFaster, {.command = {"python", "new.py"}})),
            "next: gapless gate --record -- python new.py\n");
  EXPECT_EQ(NextText(NextLines(After::kFaster, {})), "") << "nothing follows where the command is not known";
}

TEST(NextLinesTest, AMeasuredCommandIsComparedAndRemembered) {
  EXPECT_EQ(NextLines(After::kMeasuring, {.command = {"./train"}}),
            (Lines{"gapless compare -- ./train -- CHANGED COMMAND", "gapless gate --record -- ./train"}));
}

TEST(NextLinesTest, ACommandThatCannotBeShownWholeIsNotOffered) {
  EXPECT_EQ(NextLines(After::kReading,
                      {.command = {"python", "t.py", "--token", "hf_abcdefghijklmnopqrstuvwxyz123456"}, .path = "run"}),
            (Lines{"gapless analyze run -o report.html"}));
  EXPECT_EQ(NextLines(After::kReading, {.command = {"python", "t\x1b[31m.py"}, .path = "run"}),
            (Lines{"gapless analyze run -o report.html"}));
}

}  // namespace
}  // namespace gapless::internal
