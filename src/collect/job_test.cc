// SPDX-License-Identifier: Apache-2.0
// Launchers of one job are recognised by the environment variables that the job system sets.
#include "collect/job.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/strings.h"
#include "collect/control.h"

namespace gapless::internal {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<JobTask> TaskIn(const Variables& variables) {
  return TaskOfJob([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

Variables Slurm(int task, const std::string& step = "0") {
  return {{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", step}, {"SLURM_PROCID", StrCat(task)}, {"SLURM_NTASKS", "4"}};
}

TEST(Job, TasksOfOneStepBelongTogether) {
  const auto first = TaskIn(Slurm(0)), other = TaskIn(Slurm(3));
  ASSERT_TRUE(first && other);
  EXPECT_EQ(first->job, other->job);
  EXPECT_EQ(other->task, 3);
  EXPECT_EQ(other->tasks, 4);
  EXPECT_NE(TaskIn(Slurm(0, "1"))->job, first->job);
  Variables again = Slurm(0);
  again["SLURM_RESTART_COUNT"] = "1";
  EXPECT_NE(TaskIn(again)->job, first->job);
}

TEST(Job, OneTaskIsAlone) {
  Variables variables = Slurm(0);
  variables["SLURM_NTASKS"] = "1";
  EXPECT_FALSE(TaskIn(variables));
  EXPECT_FALSE(TaskIn({}));
}

TEST(Job, WithoutANameOfItsStartNobodyBelongsTogether) {
  Variables variables = Slurm(1);
  variables.erase("SLURM_STEP_ID");  // in a batch script
  EXPECT_FALSE(TaskIn(variables));
  EXPECT_FALSE(TaskIn({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}));
  EXPECT_FALSE(TaskIn({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(TaskIn({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "1"}}));
  EXPECT_FALSE(TaskIn({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "1"}}));
}

TEST(Job, OtherLaunchers) {
  EXPECT_EQ(TaskIn({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_NAMESPACE", "p@1"}})->task, 1);
  EXPECT_EQ(TaskIn({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "5"}})->tasks, 2);
  const Variables torchrun = {{"RANK", "5"},
                              {"WORLD_SIZE", "8"},
                              {"TORCHELASTIC_RUN_ID", "a"},
                              {"MASTER_ADDR", "node"},
                              {"MASTER_PORT", "29500"}};
  EXPECT_EQ(TaskIn(torchrun)->task, 5);
}

class Joining : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = ::testing::TempDir() + "/gapless_join_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(run_);
    std::filesystem::create_directories(run_);
    folder_ = Descriptor(::open(run_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { std::filesystem::remove_all(run_); }
  std::string run_;
  Descriptor folder_;
};

TEST_F(Joining, OnlyOneMakesTheRun) {
  EXPECT_TRUE(ControlBlock::MakeIn(folder_.get(), run_, TaskIn(Slurm(0))));
  const auto second = ControlBlock::MakeIn(folder_.get(), run_, TaskIn(Slurm(1)));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUsage);
  EXPECT_EQ(NamesIn(run_), std::vector<std::string>{"control"});
}

TEST_F(Joining, IsForTheOtherTasksOfTheSameStart) {
  auto control = ControlBlock::MakeIn(folder_.get(), run_, TaskIn(Slurm(0)));
  ASSERT_TRUE(control);
  EXPECT_TRUE(control->MayJoin(*TaskIn(Slurm(1))));
  EXPECT_FALSE(control->MayJoin(*TaskIn(Slurm(0))));
  EXPECT_FALSE(control->MayJoin(*TaskIn(Slurm(1, "1"))));
  control->SetEnded();
  EXPECT_TRUE(control->MayJoin(*TaskIn(Slurm(1))));  // which begins when the first one is done already
}

TEST_F(Joining, AnOldRunIsNotJoined) {
  auto control = ControlBlock::MakeIn(folder_.get(), run_, TaskIn(Slurm(0)));
  ASSERT_TRUE(control);
  const int64_t yesterday = UnixNs() - 86'400'000'000'000;
  const Descriptor file(::open((run_ + "/control").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::pwrite(file.get(), &yesterday, sizeof yesterday, offsetof(wire::ControlHeader, started_unix_ns)), 8);
  EXPECT_TRUE(control->MayJoin(*TaskIn(Slurm(1))));  // it goes on since
  control->SetEnded();
  EXPECT_FALSE(control->MayJoin(*TaskIn(Slurm(1))));
}

TEST_F(Joining, ARunOfOneAloneIsNotJoined) {
  auto control = ControlBlock::MakeIn(folder_.get(), run_, std::nullopt);
  ASSERT_TRUE(control);
  EXPECT_FALSE(control->MayJoin(*TaskIn(Slurm(1))));
}

}  // namespace
}  // namespace gapless::internal
