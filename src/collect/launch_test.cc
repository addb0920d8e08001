// SPDX-License-Identifier: Apache-2.0
// The command's life is its own: status, signals, output. What is left behind is a folder that says what ran.
#include "collect/launch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class Launching : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = Absolute(::testing::TempDir()) + "/gapless_launch_" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_);
  }
  void TearDown() override { fs::remove_all(run_); }
  Result<LaunchResult> Run(std::vector<std::string> command) {
    return Launch({.command = std::move(command), .folder = run_, .agent_options = "{}"}, &failure_status_);
  }
  Result<LaunchResult> Shell(const std::string& script) { return Run({"/bin/sh", "-c", script}); }
  std::string ManifestText() const { return ContentOf(run_ + "/manifest.json"); }
  std::string run_;
  int failure_status_ = 0;
};

TEST_F(Launching, PassesTheStatusOn) {
  const auto result = Shell("exit 7");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->signal, 0);
  EXPECT_NE(ManifestText().find("\"exit_status\": 7"), std::string::npos);
}

TEST_F(Launching, TellsWhichSignalEndedIt) {
  const auto result = Shell("kill -9 $$");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_status, 137);
  EXPECT_EQ(result->signal, SIGKILL);
}

TEST_F(Launching, PassesSignalsOn) {
  // Sent by a process below the command, when the launcher waits already: what the command sends itself is not sent
  // back.
  const auto result = Shell("trap 'exit 42' TERM; (kill -TERM $PPID) & while :; do sleep 0.05; done");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_status, 42);
}

TEST_F(Launching, GivesTheCommandTheSignalsItWouldHave) {
  std::signal(SIGPIPE, SIG_IGN);  // as the command line does
  const auto result = Shell("kill -PIPE $$; exit 3");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->signal, SIGPIPE);
}

TEST_F(Launching, TellsTheCommandWhereTheRunIs) {
  ::setenv("PYTHONPATH", "/mine", 1);
  const auto result = Shell("echo \"$GAPLESS_RUN|$GAPLESS_OPTIONS|$GAPLESS_CUPTI|$PYTHONPATH\" >\"$GAPLESS_RUN/seen\"");
  ::unsetenv("PYTHONPATH");
  ASSERT_TRUE(result);
  EXPECT_EQ(ContentOf(run_ + "/seen"), StrCat(run_, "|{}|auto|", run_, "/tools/agent:/mine\n"));
}

TEST_F(Launching, LeavesAFolderForItsOwnerOnly) {
  ASSERT_TRUE(Shell("true"));
  struct stat facts {};
  ASSERT_EQ(::stat((run_ + "/tools").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  EXPECT_NE(ManifestText().find("\"xxh128\""), std::string::npos);
  EXPECT_TRUE(fs::exists(run_ + "/tools/agent/sitecustomize.py"));
}

TEST_F(Launching, SaysThatTheRunIsUnderWayUntilItEnds) {
  const auto result = Shell("grep -c '\"state\": \"running\"' \"$GAPLESS_RUN/manifest.json\" >\"$GAPLESS_RUN/seen\"");
  ASSERT_TRUE(result);
  EXPECT_EQ(ContentOf(run_ + "/seen"), "1\n");
  EXPECT_NE(ManifestText().find("\"state\": \"ended\""), std::string::npos);
}

TEST_F(Launching, LeavesNothingWhenTheCommandCannotRun) {
  EXPECT_FALSE(Run({"no-such-program-anywhere"}));
  EXPECT_EQ(failure_status_, 127);
  EXPECT_FALSE(Run({"/etc/passwd"}));
  EXPECT_EQ(failure_status_, 126);
  EXPECT_FALSE(fs::exists(run_));
  fs::create_directories(run_);  // the user's own
  EXPECT_FALSE(Run({"no-such-program-anywhere"}));
  EXPECT_TRUE(fs::is_empty(run_));
}

TEST_F(Launching, ReplacesNoFolderThatHoldsSomething) {
  ASSERT_TRUE(Shell("true"));
  const auto again = Shell("true");
  ASSERT_FALSE(again);
  EXPECT_EQ(failure_status_, 125);
  EXPECT_NE(again.error().message.find("not empty"), std::string::npos);
}

TEST(KeepsAgentOut, ForPythonThatIgnoresTheEnvironment) {
  EXPECT_FALSE(KeepsAgentOut({"python3", "-I", "train.py"}).empty());
  EXPECT_FALSE(KeepsAgentOut({"/usr/bin/python3.11", "-uE", "train.py"}).empty());
  EXPECT_FALSE(KeepsAgentOut({"python", "-X", "dev", "-S", "train.py"}).empty());
  EXPECT_FALSE(KeepsAgentOut({"python3", "-Wignore", "-I", "train.py"}).empty());
  EXPECT_TRUE(KeepsAgentOut({"python3", "-Wignore::ImportWarning", "train.py"}).empty());
  EXPECT_TRUE(KeepsAgentOut({"python3", "-uX", "dev", "train.py"}).empty());
  EXPECT_TRUE(KeepsAgentOut({"python3", "-u", "train.py", "-I"}).empty());
  EXPECT_TRUE(KeepsAgentOut({"python3", "-m", "train", "-E"}).empty());
  EXPECT_TRUE(KeepsAgentOut({"bash", "-E", "train.sh"}).empty());
}

}  // namespace
}  // namespace gapless::internal
