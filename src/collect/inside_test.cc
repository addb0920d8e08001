// SPDX-License-Identifier: Apache-2.0
// A command of a command: its agent answers to the run around both.
#include "collect/inside.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/strings.h"
#include "collect/files.h"
#include "collect/run_mirror.h"
#include "wire/testing/ring_file.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class Inside : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = Absolute(::testing::TempDir()) + "/gapless_inside_" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_);
    fs::create_directories(run_);
    variables_ = {{"GAPLESS_RUN", run_}, {"GAPLESS_OPTIONS", "{}"}};
  }
  void TearDown() override { fs::remove_all(run_); }
  std::optional<RunAround> Find() {
    return FindRunAround([&](const char* name) { return variables_[name]; });
  }
  std::string run_;
  std::map<std::string, std::string> variables_;
};

TEST_F(Inside, IsFoundWhileItsLauncherGoesOn) {
  EXPECT_FALSE(Find());  // a folder alone is no run
  auto control = ControlBlock::Make(run_);
  ASSERT_TRUE(control);
  const auto around = Find();
  ASSERT_TRUE(around);
  EXPECT_EQ(around->agent_options, "{}");
  variables_["GAPLESS_DISABLE"] = "1";
  EXPECT_FALSE(Find());
  variables_.erase("GAPLESS_DISABLE");
  control->SetEnded();
  EXPECT_FALSE(Find());
}

TEST_F(Inside, RunsTheCommandWithTheAgentOfTheRunAround) {
  ASSERT_TRUE(ControlBlock::Make(run_));
  fs::create_directories(run_ + "/tools/agent/gapless_agent");
  auto around = Find();
  ASSERT_TRUE(around);
  const std::string seen = run_ + "/seen";
  int failure_status = 0;
  ::setenv("PYTHONPATH", "/mine", 1);
  const auto result = LaunchInside(
      *around,
      {.command = {"/bin/sh", "-c", StrCat("echo \"$GAPLESS_OPTIONS|$PYTHONPATH|$MINE\" >", seen, "; exit 7")},
       .agent_options = R"({"fixes":["tf32"]})",
       .environment = {{"MINE", "set"}}},
      &failure_status);
  ::unsetenv("PYTHONPATH");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->folder, run_);
  EXPECT_EQ(ContentOf(seen), StrCat(R"({"fixes":["tf32"]}|)", run_, "/tools/agent:/mine|set\n"));
  EXPECT_FALSE(fs::exists(run_ + "/manifest.json")) << "the run's launcher writes that";
}

TEST_F(Inside, SaysWhyACommandCannotRun) {
  ASSERT_TRUE(ControlBlock::Make(run_));
  auto around = Find();
  ASSERT_TRUE(around);
  int failure_status = 0;
  EXPECT_FALSE(LaunchInside(*around, {.command = {"no-such-program-anywhere"}}, &failure_status));
  EXPECT_EQ(failure_status, 127);
}

TEST_F(Inside, TellsTheRunAroundWhatARunOfItsOwnHears) {
  ASSERT_TRUE(ControlBlock::Make(run_));
  const std::string inner = run_ + "-inner", ring = inner + "/main/agent-42.ring";
  fs::remove_all(inner);
  fs::create_directories(inner + "/main");
  wire::RingFile file(64);
  file.AddStep(0, 1'700'000'000'000'000'000, 1'000'000);
  const auto write = [&] { std::ofstream(ring, std::ios::binary) << file.Bytes(); };
  write();
  auto around = Find();
  ASSERT_TRUE(around);
  RunMirror mirror(std::move(*around), 3);
  auto control = ControlBlock::Make(inner);
  ASSERT_TRUE(control);
  RingKeeper rings(inner, false);
  std::vector<RunEvent> events;
  const auto look = [&] {
    rings.Drain(true, [&](AgentProcess& process, const wire::RingRecord& record) { mirror.OnRecord(process, record); });
    mirror.OnTick(rings, *control, events);
  };
  look();
  file.AddStep(1, 1'700'000'000'100'000'000, 2'000'000);
  write();
  look();

  RingKeeper outer(run_, false);
  std::vector<int64_t> steps;
  outer.Drain(true, [&](AgentProcess& process, const wire::RingRecord& record) {
    EXPECT_EQ(process.ring.header().launcher, 3U);
    if (record.kind == wire::RecordKind::kStep) steps.push_back(record.dur_ns);
  });
  EXPECT_EQ(steps, (std::vector<int64_t>{1'000'000, 2'000'000}));

  auto asking = ControlBlock::Open(run_);
  ASSERT_TRUE(asking);
  ASSERT_TRUE(asking->Post(wire::AgentCommand::kStop, 0));
  look();
  look();
  const auto passed = control->Since(0);
  ASSERT_EQ(passed.size(), 1U) << "once";
  EXPECT_EQ(passed[0].command, wire::AgentCommand::kStop);
  fs::remove_all(inner);
}

}  // namespace
}  // namespace gapless::internal
