// SPDX-License-Identifier: Apache-2.0
// Tests of roles: what says one, and how processes of several roles make one job.
#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/formats.h"
#include "trace/run.h"

namespace gapless::internal {
namespace {

using Job = Run;  // inside a test, Run is the test's own method
using RoleFacts = std::vector<std::pair<std::string_view, std::string_view>>;
constexpr std::string_view kTrainStep = "Optimizer.step#Adam.step", kModelCall = "aten::mm";

// A second of a process that calls `name`.
std::shared_ptr<const Trace> RoleProcess(int64_t pid, int64_t rank, std::string_view name, const RoleFacts& facts,
                                         int64_t start = 1000, std::string path = "x") {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (int i = 0; i < 10; ++i)
    shard.Add(SliceRow{.name = shard.Text(name), .pid = pid, .tid = 1, .ts_ns = start + i * 100, .dur_ns = 100});
  // A device and a framework: the rank is the process's own word, and two that say the same are not of one job.
  shard.Add(GpuOpRow{.name = shard.Text("gemm"), .ts_ns = start, .dur_ns = 100});
  builder.info().framework = "pytorch";
  for (const auto& [key, value] : facts) builder.AddEnvironment(key, value);
  builder.info().pid = pid, builder.info().rank = rank, builder.info().start_unix_ns = start;
  builder.info().path = std::move(path);
  return std::make_shared<Trace>(std::move(builder).Finish());
}

std::shared_ptr<const RoleChoice> Said(std::string_view text, std::string lead = {}) {
  RoleChoice choice{.lead = std::move(lead)};
  choice.said.push_back(*ReadRolePattern(text));
  return std::make_shared<const RoleChoice>(std::move(choice));
}

TEST(Roles, ProcessesOfTwoRolesAreOneJobWhateverTheirRanksSay) {
  const Job run({RoleProcess(1, 0, kTrainStep, {{kJobRoleKey, "trainer"}}),
                 RoleProcess(2, 0, kModelCall, {{kJobRoleKey, "rollout"}})});
  for (const RunTrace& of : run.traces()) EXPECT_EQ(of.execution, 0);
  EXPECT_EQ(run.of_all_roles().size(), 2U);
  ASSERT_EQ(run.primary().size(), 1U) << "the steps of the job are those of its training";
  EXPECT_EQ(run.primary()[0]->job_role, "trainer");
}

TEST(Roles, WithoutARoleWhatOnlyCallsModelsIsSetApart) {
  const Job run({RoleProcess(1, kAbsent, kTrainStep, {}), RoleProcess(2, kAbsent, kModelCall, {})});
  EXPECT_EQ(run.traces()[1].relation, Relation::kBeside);
  EXPECT_TRUE(run.of_all_roles().empty());
}

TEST(Roles, TwoReplicasOfAServerBothSayRankZero) {
  const Job run({RoleProcess(1, 0, kTrainStep, {{kJobRoleKey, "trainer"}}),
                 RoleProcess(2, 0, kModelCall, {{kJobRoleKey, "rollout"}}),
                 RoleProcess(3, 0, kModelCall, {{kJobRoleKey, "rollout"}})});
  EXPECT_EQ(run.of_all_roles().size(), 3U);
}

TEST(Roles, TheUsersWordGoesBeforeAllOthersAndIsFoundInThePath) {
  const Job run({RoleProcess(1, kAbsent, kTrainStep, {{kJobRoleKey, "Worker"}}, 1000, "run/a.json"),
                 RoleProcess(2, kAbsent, kModelCall, {{kJobRoleKey, "Worker"}}, 1000, "run/vllm_0.json")},
                {}, Said("vllm_[0-9]=rollout"));
  EXPECT_EQ(run.traces()[0].job_role, "Worker");
  EXPECT_EQ(run.traces()[1].job_role, "rollout");
}

TEST(Roles, TheLeadingRoleCanBeChosen) {
  const Job run(
      {RoleProcess(1, kAbsent, kTrainStep, {}, 1000, "train"), RoleProcess(2, kAbsent, kModelCall, {}, 1000, "serve")},
      {}, Said("serve=rollout", "rollout"));
  ASSERT_EQ(run.of_all_roles().size(), 2U);
  EXPECT_EQ(run.traces()[1].job_role, "rollout");
  EXPECT_TRUE(run.traces()[1].leads);
}

TEST(Roles, ARoleOfAnotherHourIsAnotherJob) {
  constexpr int64_t kHours = int64_t{2} * 3600 * 1'000'000'000;
  const Job run({RoleProcess(1, 0, kTrainStep, {{kJobRoleKey, "trainer"}}),
                 RoleProcess(2, 0, kModelCall, {{kJobRoleKey, "rollout"}}, 1000 + kHours)});
  EXPECT_EQ(run.of_all_roles().size(), 1U);
}

TEST(Roles, APatternWithoutANameIsRefused) {
  for (const std::string_view text : {"vllm", "=rollout", "vllm=", "(=x"}) EXPECT_FALSE(ReadRolePattern(text)) << text;
}

}  // namespace
}  // namespace gapless::internal
