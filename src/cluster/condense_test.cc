// SPDX-License-Identifier: Apache-2.0
// Tests that a run of summaries has the tables of the run of recordings, cell by cell, in any mixture of both; and that
// a summary stays small, says what it left out, and is refused when it is damaged or newer.
#include "cluster/condense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyses/testing/hand_made.h"
#include "analyses/testing/role_job.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using testing::kComm;

using Traces = std::vector<std::shared_ptr<const Trace>>;
using JobRun = Run;  // in a test Run is a function of the test

// Three steps with operators, a copy, idle gaps, and an exchange that all ranks end together. Rank `late` computes
// longer. Each rank's clock begins at another time.
std::shared_ptr<const Trace> RankOf(int64_t rank, int64_t late) {
  HandMade trace;
  trace.Rank(rank, 4).Process(100 + rank, 1'700'000'000'000'000'000 + rank * 500 * kUs);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 1000 * kUs, compute_us = rank == late ? 500 : 300;
    trace.Step(step, t, t + 1000 * kUs).Loader(t, t + 60 * kUs);
    trace.Operator("aten::linear", t + 70 * kUs, t + 90 * kUs);
    trace.Kernel("gemm", {t + 75 * kUs, t + 80 * kUs, t + 100 * kUs, t + (100 + compute_us) * kUs});
    const int64_t begin = t + (110 + compute_us) * kUs, end = t + 800 * kUs;
    trace.Kernel("nccl:all_reduce", {begin - 9 * kUs, begin - 8 * kUs, begin, end}, kComm);
    trace.Collective("all_reduce", begin, end, 4'000'000);
    trace.Kernel("adam", {t + 790 * kUs, t + 795 * kUs, t + 900 * kUs, t + 950 * kUs});
  }
  return trace.Finish();
}

Traces Job() { return {RankOf(0, 2), RankOf(1, 2), RankOf(2, 2), RankOf(3, 2)}; }

// A summary of the recording alone, as its own machine writes it.
std::shared_ptr<const Trace> Summarised(const std::shared_ptr<const Trace>& trace) {
  const Run run(Traces{trace});
  Tables tables(run);
  auto light = ReadSummary(Condense(tables, run.traces()[0]));
  EXPECT_TRUE(light) << light.error().message;
  return std::make_shared<const Trace>(*std::move(light));
}

Traces Summarised(const Traces& traces) {
  Traces all;
  for (const auto& trace : traces) all.push_back(Summarised(trace));
  return all;
}

std::string CellOf(const Table& table, size_t row, int column) {
  if (table.IsNull(row, column)) return "-";
  switch (table.columns()[static_cast<size_t>(column)].type) {
    case ColumnType::kInt: return StrCat(table.Int(row, column));
    case ColumnType::kReal: return StrCat(table.Real(row, column));
    case ColumnType::kText: break;
  }
  return std::string(table.Text(row, column));
}

std::vector<std::string> LinesOf(const Table& table) {
  std::vector<std::string> lines;
  for (size_t row = 0; row < table.rows(); ++row) {
    std::string line;
    for (size_t at = 0; at < table.columns().size(); ++at)
      line += StrCat(table.columns()[at].name, '=', CellOf(table, row, static_cast<int>(at)), ' ');
    lines.push_back(line);
  }
  return lines;
}

// Tables that a summary holds in part only, by intention.
const std::set<std::string_view> kInPart = {"idle", "memory_curve", "slowest_step"};

void ExpectSameTables(const Run& recordings, const Run& summaries) {
  Tables whole(recordings), light(summaries);
  for (const Analysis* analysis : AllAnalyses()) {
    if (kInPart.contains(analysis->name)) continue;
    EXPECT_EQ(LinesOf(light.Get(analysis->name)), LinesOf(whole.Get(analysis->name))) << analysis->name;
  }
}

TEST(Condense, SummariesHaveTheTablesOfTheRecordings) {
  const JobRun recordings{Job()}, summaries{Summarised(Job())};
  ExpectSameTables(recordings, summaries);
  Tables tables(summaries);
  EXPECT_EQ(tables.Get("ranks").Int(0, 1), 2) << "the others wait for rank 2";
}

TEST(Condense, TheOrderOfSummariesDoesNotMatter) {
  Traces turned = Summarised(Job());
  std::ranges::reverse(turned);
  ExpectSameTables(JobRun(Job()), JobRun(turned));
}

TEST(Condense, RecordingsAmongSummariesAreCondensed) {
  Traces mixed = Job();
  mixed[1] = Summarised(mixed[1]), mixed[3] = Summarised(mixed[3]);
  const auto run = AllCondensed(JobRun(mixed));
  ASSERT_TRUE(run);
  for (const RunTrace& of : run->traces()) EXPECT_NE(of.trace->summary, nullptr);
  ExpectSameTables(JobRun(Job()), *run);
}

TEST(Condense, ARunOfRecordingsStaysAsItIs) {
  const JobRun run(Job());
  const auto same = AllCondensed(run);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->traces()[0].trace, run.traces()[0].trace);
}

TEST(Condense, ALostRankLeavesTheOthers) {
  Traces three = Job();
  three.erase(three.begin() + 1);
  ExpectSameTables(JobRun(three), JobRun(Summarised(three)));
}

// A job of two programs that take turns, and the same with a third one that uses no device.
Traces ThreeRoles() {
  Traces job = testing::RoleJob({"trainer", "rollout"});
  HandMade reward;
  reward.Process(12, 1'700'000'000'000'000'000).Environment(kJobRoleKey, "reward");
  for (int64_t i = 0; i < 3; ++i) reward.Operator("aten::mm", (50 + i * 90) * kMs, (58 + i * 90) * kMs);
  job.push_back(reward.Finish());
  return job;
}

TEST(Condense, RolesAreThoseOfTheRecordings) {
  for (const Traces& job : {Traces(testing::RoleJob({"trainer", "rollout"})), ThreeRoles()}) {
    const JobRun recordings{job}, summaries{Summarised(job)};
    ExpectSameTables(recordings, summaries);
    Tables tables(summaries);
    EXPECT_EQ(tables.Get("roles").rows(), job.size());
    EXPECT_GT(tables.Get("role_waits").rows(), 0U);
  }
}

TEST(Condense, TheUsersWordForRolesHoldsForRecordingsAmongSummaries) {
  HandMade trainer, server;
  trainer.Process(10, 1'700'000'000'000'000'000)
      .Environment(kProgramKey, "learner")
      .Operator("Optimizer.step#Adam.step", 0, 10);
  server.Process(11, 1'700'000'000'000'000'000).Environment(kProgramKey, "server").Operator("aten::mm", 0, 10);
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t at = i * 90 * kMs, turn = at + 60 * kMs;
    server.Kernel("decode", {at, at + 1, at, turn});
    trainer.Kernel("gemm", {turn, turn + 1, turn, turn + 30 * kMs});
  }
  const Traces job{trainer.Finish(), server.Finish()};
  RoleChoice choice{.lead = "served"};
  choice.said.push_back(*ReadRolePattern("server=served")), choice.said.push_back(*ReadRolePattern("learner=taught"));
  const auto roles = std::make_shared<const RoleChoice>(std::move(choice));
  const JobRun recordings(job, {}, roles);
  Traces mixed = job;
  mixed[0] = Summarised(mixed[0]);
  const auto run = AllCondensed(JobRun(mixed, {}, roles));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->primary().size(), 1U);
  EXPECT_EQ(run->primary()[0]->job_role, "served") << "the role that was said to lead";
  Tables whole(recordings), light(*run);
  EXPECT_EQ(LinesOf(light.Get("roles")), LinesOf(whole.Get("roles")));
  EXPECT_EQ(LinesOf(light.Get("role_waits")), LinesOf(whole.Get("role_waits")));
}

TEST(Condense, AJobNeedsSummariesOfAllRoles) {
  const JobRun run(testing::RoleJob({"trainer", "rollout"}));
  const auto worth = WorthSummaries(run);
  ASSERT_EQ(worth.size(), 2U);
  Tables tables(run);
  for (const RunTrace* of : worth) EXPECT_TRUE(ReadSummary(CondenseAny(tables, *of)));
}

TEST(Condense, EventsComeBackAsTheyWere) {
  const auto trace = RankOf(1, 2);
  const auto events = ReadEvents(*Summarised(trace));
  ASSERT_TRUE(events) << events.error().message;
  const Trace& read = *events->trace;
  ASSERT_EQ(read.slices.size(), trace->slices.size());
  ASSERT_EQ(read.gpu_ops.size(), trace->gpu_ops.size());
  for (size_t row = 0; row < read.slices.size(); ++row) {
    EXPECT_EQ(read.Text(read.slices.name[row]), trace->Text(trace->slices.name[row]));
    EXPECT_EQ(read.slices.parent[row], trace->slices.parent[row]);
    EXPECT_EQ(read.slices.self_ns[row], trace->slices.self_ns[row]);
  }
  for (size_t row = 0; row < read.gpu_ops.size(); ++row) {
    EXPECT_EQ(read.gpu_ops.ts_ns[row], trace->gpu_ops.ts_ns[row]);
    EXPECT_EQ(read.gpu_ops.launch[row], trace->gpu_ops.launch[row]);
  }
}

// As many steps as make a recording too long for its events, and operators of as many names as are too long for all
// rows.
std::shared_ptr<const Trace> LongRecording() {
  HandMade trace;
  trace.Rank(0);
  for (int64_t step = 0; step < 400; ++step) {
    const int64_t t = step * 10'000 * kUs;
    trace.Step(step, t, t + 10'000 * kUs);
    for (int64_t i = 0; i < 100; ++i) {
      const int64_t at = t + i * 97 * kUs + (step * i * 7919) % 4999;
      trace.Operator(StrCat("aten::operator_with_a_long_name_", step * 7919 + i * 104'729), at, at + 30 * kUs);
      trace.Kernel(StrCat("kernel_", (step * 31 + i) % 977),
                   {at + 5 * kUs, at + 9 * kUs, at + 12 * kUs, at + 90 * kUs});
    }
  }
  return trace.Finish();
}

TEST(Condense, ALongRecordingIsCutAndSaysSo) {
  const auto trace = LongRecording();
  const JobRun run(Traces{trace});
  Tables tables(run);
  const std::string bytes = Condense(tables, run.traces()[0]);
  EXPECT_LE(bytes.size(), kMaxSummaryBytes);
  const auto light = ReadSummary(bytes);
  ASSERT_TRUE(light);
  std::set<std::string_view> kinds;
  for (size_t row = 0; row < light->read_stats.size(); ++row) kinds.insert(light->Text(light->read_stats.kind[row]));
  EXPECT_TRUE(kinds.contains("summary_cut"));
  EXPECT_EQ(light->summary->rows.slice, static_cast<int64_t>(trace->slices.size())) << "of the recording";
}

// More collectives than are kept, the same in every step.
std::shared_ptr<const Trace> TalkativeRank(int64_t rank) {
  HandMade trace;
  trace.Rank(rank, 2);
  for (int64_t step = 0; step < 30; ++step) {
    const int64_t t = step * 10'000 * kUs;
    trace.Step(step, t, t + 10'000 * kUs);
    for (int64_t i = 0; i < 800; ++i) {
      const int64_t begin = t + (10 + i * 12) * kUs + (rank == 1 ? 3 * kUs : 0), end = t + (18 + i * 12) * kUs;
      trace.Kernel("nccl", {begin - 5 * kUs, begin - 4 * kUs, begin, end}, kComm);
      trace.Collective("all_reduce", begin, end, 1000);
    }
  }
  return trace.Finish();
}

TEST(Condense, SumsOverKeptCollectivesStandForAll) {
  const Traces job{TalkativeRank(0), TalkativeRank(1)};
  const JobRun recordings{job}, summaries{Summarised(job)};
  Tables whole(recordings), light(summaries);
  EXPECT_LT(summaries.traces()[0].trace->collectives.size(), recordings.traces()[0].trace->collectives.size());
  const Table &all = whole.Get("collective_groups"), &some = light.Get("collective_groups");
  ASSERT_EQ(some.rows(), all.rows());
  for (const std::string_view column : {"calls", "bytes", "wait_ns", "transfer_ns"}) {
    const auto of = static_cast<double>(all.Int(0, all.Find(column)));
    EXPECT_NEAR(static_cast<double>(some.Int(0, some.Find(column))), of, 0.01 * of) << column;
  }
}

TEST(Condense, ANewerSummaryIsRefusedWithBothNumbers) {
  const JobRun run(Traces{RankOf(0, 0)});
  Tables tables(run);
  std::string bytes = Condense(tables, run.traces()[0]);
  bytes[8] = static_cast<char>(kSummaryVersion + 1);
  const auto refused = ReadSummary(bytes);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(StrCat("version ", kSummaryVersion + 1)), std::string::npos);
  EXPECT_NE(refused.error().message.find(StrCat("up to version ", kSummaryVersion)), std::string::npos);
}

TEST(Condense, EveryChangedByteAndEveryPrefixIsRefused) {
  const JobRun run(Traces{RankOf(0, 0)});
  Tables tables(run);
  const std::string good = Condense(tables, run.traces()[0]);
  for (size_t at = 0; at < good.size(); at += at < 64 ? 1 : 37) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const bool unread = at >= 12 && at < 16;  // room for what later versions say
    EXPECT_EQ(ReadSummary(bytes).has_value(), unread) << at;
    EXPECT_FALSE(ReadSummary(good.substr(0, at))) << at;
  }
}

}  // namespace
}  // namespace gapless::internal
