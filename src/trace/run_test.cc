// SPDX-License-Identifier: Apache-2.0
// Tests of Run: executions, primary and supplementary recordings, processes, time axis.
#include "trace/run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "trace/builder.h"
#include "trace/formats.h"

namespace gapless::internal {
namespace {

using Job = Run;  // inside a test, Run is the test's own method

// A recording of one process from `start` (wall clock) on, `rows` slices of 10 ns.
std::shared_ptr<const Trace> Recording(int64_t rank, int64_t pid, int64_t start, int rows, std::string path = "x") {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (int i = 0; i < rows; ++i)
    shard.Add(SliceRow{.name = shard.Text("op"), .pid = pid, .tid = 1, .ts_ns = start + i * 10, .dur_ns = 10});
  builder.info().rank = rank;
  builder.info().start_unix_ns = start;
  builder.info().path = std::move(path);
  return std::make_shared<Trace>(std::move(builder).Finish());
}

TEST(Run, RanksAreOneExecutionInRankOrder) {
  const Job run({Recording(1, 11, 1050, 10), Recording(0, 10, 1000, 10)});
  ASSERT_EQ(run.primary().size(), 2U);
  EXPECT_EQ(run.traces()[0].rank(), 0);
  EXPECT_EQ(run.traces()[1].ts_shift_ns, 50);
  EXPECT_EQ(run.traces()[1].Id(SliceId(0)), 10);  // ids go on where the first trace's end
}

// A plain job is related without asking every pair. A recording without a rank makes the whole run go the long way.
TEST(Run, APlainJobIsWhatAskingEveryPairSays) {
  std::vector<std::shared_ptr<const Trace>> plain;
  for (int64_t rank = 0; rank < 12; ++rank)
    for (int64_t stretch = 0; stretch < 1 + rank % 3; ++stretch)
      plain.push_back(
          Recording(rank, 100 + rank, 1000 + rank * 7 + stretch * 5000, 10, StrCat("r", rank, "_", stretch)));
  std::vector<std::shared_ptr<const Trace>> asked = plain;
  asked.push_back(Recording(kAbsent, 7, 1000, 3000, "other"));  // beside all of them
  const Job quick(plain), slow(asked);
  ASSERT_EQ(slow.traces().size(), quick.traces().size() + 1);
  for (const RunTrace& of : quick.traces()) {
    const auto same = std::ranges::find(slow.traces(), of.trace, &RunTrace::trace);
    ASSERT_NE(same, slow.traces().end());
    EXPECT_EQ(of.execution, same->execution);
    EXPECT_EQ(of.role, same->role);
    EXPECT_EQ(of.ts_shift_ns, same->ts_shift_ns);
    EXPECT_EQ(of.rank(), same->rank());
    EXPECT_EQ(quick.traces()[static_cast<size_t>(of.process)].trace,
              slow.traces()[static_cast<size_t>(same->process)].trace);
  }
}

TEST(Run, RanksOfTwoDaysAreNoPlainJob) {
  const Job run({Recording(0, 10, 1000, 10), Recording(1, 11, 2000, 10), Recording(2, 12, 7'200'000'000'000, 10)});
  EXPECT_EQ(run.primary().size(), 2U);
}

TEST(Run, TheSameStretchTwiceIsCountedOnce) {
  const Job run({Recording(0, 10, 1000, 10, "a"), Recording(0, 10, 1000, 12, "b")});
  ASSERT_EQ(run.primary().size(), 1U);
  EXPECT_EQ(run.primary()[0]->trace->info.path, "b");  // the one with more in it
  EXPECT_EQ(run.traces()[0].role, Role::kSupplement);
}

TEST(Run, EqualCopiesLeaveExactlyOnePrimary) {
  const Job run({Recording(0, 10, 1000, 10, "a"), Recording(0, 10, 1000, 10, "b"), Recording(0, 10, 1000, 10, "c")});
  EXPECT_EQ(run.primary().size(), 1U);
}

TEST(Run, TwoStretchesOfOneProcessAreBothPrimary) {
  const Job run({Recording(0, 10, 1000, 10), Recording(0, 10, 5000, 10)});
  EXPECT_EQ(run.primary().size(), 2U);
  EXPECT_EQ(run.traces()[1].execution, 0);
}

TEST(Run, TheSameRankInAnotherProcessIsAnotherExecution) {
  const Job run({Recording(0, 10, 1000, 10), Recording(0, 99, 5000, 10)});
  ASSERT_EQ(run.primary().size(), 1U);
  EXPECT_EQ(run.traces()[1].execution, 1);
  EXPECT_EQ(run.traces()[1].ts_shift_ns, 0);  // on its own time axis
}

TEST(Run, ProcessesWithoutRanksBelongTogetherWhenTheyOverlapInTime) {
  EXPECT_EQ(Job({Recording(kAbsent, 10, 1000, 10), Recording(kAbsent, 11, 1050, 10)}).primary().size(), 2U);
  EXPECT_EQ(Job({Recording(kAbsent, 10, 1000, 10), Recording(kAbsent, 11, 9000, 10)}).primary().size(), 1U);
}

// A recording of one operator each 10 ns, and what our agent says of the whole process.
std::shared_ptr<const Trace> Operators(std::string_view name, int64_t pid, int64_t start, int64_t rank = kAbsent) {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (int64_t i = 0; i < 4; ++i)
    shard.Add(SliceRow{.name = shard.Text(name), .pid = pid, .tid = 1, .ts_ns = start + i * 10, .dur_ns = 10});
  builder.info().rank = rank;
  builder.info().start_unix_ns = start;
  builder.info().path = name;
  return std::make_shared<Trace>(std::move(builder).Finish());
}
std::shared_ptr<const Trace> OfAgent(std::string_view role, int64_t pid, int64_t start, int64_t end,
                                     int64_t process_start = kAbsent) {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (const int64_t ts : {start, end - 10})
    shard.Add(SliceRow{.name = shard.Text("Python GC"), .pid = pid, .tid = 1, .ts_ns = ts, .dur_ns = 10});
  builder.AddEnvironment(std::string(kAgentRoleKey), std::string(role));
  builder.info().format = kAgentFormat;
  builder.info().process_start_unix_ns = process_start;
  builder.info().process_end_unix_ns = end;
  builder.info().start_unix_ns = start;
  builder.info().path = "agent";
  return std::make_shared<Trace>(std::move(builder).Finish());
}
// The paths of what is in the numbers, and the relations of what is not.
std::string Shown(const Job& run) {
  std::string text;
  for (const RunTrace& of : run.traces())
    if (of.execution == 0) text += StrCat(of.trace->info.path, " ");
  for (const RunTrace& of : run.traces())
    if (of.execution != 0)
      text += StrCat(of.relation == Relation::kBeside ? "beside: " : "apart: ", of.trace->info.path, " ");
  return text;
}

TEST(Run, AProcessThatOnlyCallsModelsIsBesideTheOneThatTrains) {
  const auto learner = Operators("AddmmBackward0", 10, 1000), actor = Operators("aten::linear", 11, 1010);
  EXPECT_EQ(Shown(Job({actor, learner})), "AddmmBackward0 beside: aten::linear ");
  EXPECT_EQ(Shown(Job({actor, actor})), "aten::linear aten::linear ") << "nobody trains: all of it is the program";
  EXPECT_EQ(Shown(Job({learner, Operators("Optimizer.step#SGD.step", 11, 1010)})),
            "AddmmBackward0 Optimizer.step#SGD.step ");
  EXPECT_EQ(Shown(Job({learner, Operators("read a file", 11, 1010)})), "AddmmBackward0 read a file ")
      << "what it does is not known";
}

TEST(Run, AnotherRankThatDoesNotTrainIsPartOfTheJob) {
  const auto of_rank = [](std::string_view name, int64_t rank) { return Operators(name, 10 + rank, 1000, rank); };
  EXPECT_EQ(Job({of_rank("AddmmBackward0", 0), of_rank("aten::linear", 1)}).primary().size(), 2U);
}

// An actor's steps come earlier than the learner's, so their windows lie apart; what the agent saw shows that they ran
// at once.
TEST(Run, WindowsOfTwoProcessesOfOneJobNeedNotOverlap) {
  const auto actor = Operators("aten::linear", 11, 1010), learner = Operators("AddmmBackward0", 10, 5000);
  EXPECT_EQ(Shown(Job({actor, learner})), "aten::linear apart: AddmmBackward0 ") << "nothing else is known";
  EXPECT_EQ(
      Shown(Job({actor, learner, OfAgent(kRoleOnlyInfers, 11, 1000, 9000), OfAgent(kRoleTrains, 10, 4000, 6000)})),
      "agent AddmmBackward0 beside: agent beside: aten::linear ");
  EXPECT_EQ(
      Shown(Job({actor, learner, OfAgent(kRoleOnlyInfers, 11, 1000, 3000), OfAgent(kRoleTrains, 10, 4000, 6000, 900)})),
      "agent AddmmBackward0 beside: agent beside: aten::linear ")
      << "the learner waited while the actor filled its queue";
  EXPECT_EQ(Shown(Job({learner, Operators("aten::linear", 11, 9010), OfAgent(kRoleOnlyInfers, 11, 9000, 9900),
                       OfAgent(kRoleTrains, 10, 4000, 6000, 900)})),
            "agent AddmmBackward0 apart: agent apart: aten::linear ")
      << "one program after the other";
}

// Workers that are started anew in each epoch share no time with each other, and all of them with the training.
TEST(Run, WorkersOfEveryEpochAreOfTheRun) {
  const auto main = OfAgent(kRoleTrains, 10, 1000, 9000), first = OfAgent(kRoleLoads, 11, 1100, 1900),
             second = OfAgent(kRoleLoads, 12, 3000, 3900), stranger = OfAgent(kRoleLoads, 13, 20000, 20900);
  const auto run = Job({first, main, second, stranger});
  size_t apart = 0;
  for (const RunTrace& of : run.traces()) apart += of.execution != 0;
  EXPECT_EQ(apart, 1U) << "only what loaded for another run";
}

TEST(Run, TheAgentKnowsOfTheWholeProcess) {
  const auto window = Operators("aten::linear", 11, 1010), learner = Operators("AddmmBackward0", 10, 1000);
  EXPECT_EQ(Job({learner, window, OfAgent(kRoleTrains, 11, 1000, 9000)}).traces().back().execution, 0)
      << "a window between two updates";
  EXPECT_EQ(Job({learner, window, OfAgent(kRoleLoads, 11, 1000, 9000)}).traces().back().execution, 0)
      << "a loader's worker";
}

// A recording by Kineto of a process that uses a device, `gemm_ns` long each time; `rank` and `world_size` as the
// recording says them.
std::shared_ptr<const Trace> OnDevice(std::string path, int64_t pid, int64_t start, int64_t gemm_ns = 50,
                                      int64_t rank = kAbsent, int64_t world_size = kAbsent) {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (int64_t i = 0; i < 4; ++i) {
    shard.Add(SliceRow{.name = shard.Text("op"), .pid = pid, .tid = 1, .ts_ns = start + i * 100, .dur_ns = 90});
    shard.Add(GpuOpRow{.name = shard.Text("gemm"), .device = 0, .ts_ns = start + i * 100, .dur_ns = gemm_ns});
  }
  builder.info().format = "kineto";
  builder.info().framework = "pytorch";
  builder.info().rank = rank;
  builder.info().world_size = world_size;
  builder.info().start_unix_ns = start;
  builder.info().path = std::move(path);
  return std::make_shared<Trace>(std::move(builder).Finish());
}

std::vector<std::string> PathsByRank(const Job& run) {
  std::vector<std::string> paths;
  for (const RunTrace* of : run.primary()) {
    EXPECT_EQ(of->rank(), static_cast<int64_t>(paths.size()));
    paths.push_back(of->trace->info.path);
  }
  return paths;
}

TEST(Run, PodsWithoutRanksAreNumberedByName) {
  const Job run({OnDevice("pod10.json", 1, 1000), OnDevice("pod2.json", 1, 1020), OnDevice("pod1.json", 1, 1010, 80),
                 OnDevice("pod0.json", 1, 1000)});
  EXPECT_EQ(PathsByRank(run), (std::vector<std::string>{"pod0.json", "pod1.json", "pod2.json", "pod10.json"}));
  EXPECT_EQ(run.traces()[0].assigned_rank, 0);
}

TEST(Run, AssignedRanksCanBeChosen) {
  const std::vector<int64_t> wanted = {1};
  const Job run({OnDevice("a.json", 1, 1000), OnDevice("b.json", 1, 1000, 60)}, wanted);
  ASSERT_EQ(run.traces().size(), 1U);
  EXPECT_EQ(run.traces()[0].rank(), 1);
  EXPECT_EQ(run.traces()[0].trace->info.path, "b.json");
}

TEST(Run, OneProcessAloneHasNoRank) {
  const Job run({OnDevice("a.json", 7, 1000), OnDevice("b.json", 7, 9000)});
  ASSERT_EQ(run.primary().size(), 2U) << "two cycles of its profiler";
  EXPECT_EQ(run.traces()[1].rank(), kAbsent);
  EXPECT_EQ(run.traces()[1].process, 0);
}

TEST(Run, ACopyIsCountedOnce) {
  const Job run({OnDevice("trace.json", 7, 1000), OnDevice("trace_annotated.json", 7, 1000)});
  ASSERT_EQ(run.primary().size(), 1U);
  EXPECT_EQ(run.primary()[0]->rank(), kAbsent);
}

TEST(Run, TwoFilesOfOneRankAreNotDroppedSilently) {
  const Job run({OnDevice("worker0.json", 977, 1000, 50, 0, 2), OnDevice("worker1.json", 8123, 1000, 60, 0, 2)});
  ASSERT_EQ(run.primary().size(), 1U);
  EXPECT_EQ(run.traces()[1].relation, Relation::kRankClash);
  EXPECT_EQ(run.traces()[1].apart_from, 0);
}

TEST(Run, OfTwoJobsTheOneWithMoreRanksIsShown) {
  const Job run({OnDevice("old.json", 5, 1000, 50, 1, 2), OnDevice("a.json", 6, 9000, 50, 0, 8),
                 OnDevice("b.json", 7, 9000, 50, 3, 8)});
  ASSERT_EQ(run.primary().size(), 2U);
  EXPECT_EQ(run.primary()[0]->trace->info.path, "a.json");
  EXPECT_EQ(run.traces()[1].trace->info.path, "old.json");
  EXPECT_EQ(run.traces()[1].execution, 1);
  EXPECT_EQ(run.traces()[1].relation, Relation::kOtherJob);
}

// Counters only, as telemetry is.
std::shared_ptr<const Trace> Telemetry(int64_t start, int64_t end) {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (const int64_t ts : {start, end})
    shard.Add(CounterRow{.name = shard.Text("host.load1"), .unit = shard.Text("tasks"), .ts_ns = ts, .value = 1});
  builder.info().start_unix_ns = start;
  return std::make_shared<Trace>(std::move(builder).Finish());
}

TEST(Run, TelemetryBelongsToTheExecutionItSharesMostTimeWith) {
  const Job run({Telemetry(500, 1400), Recording(0, 10, 1000, 10), Recording(0, 99, 1390, 20)});
  ASSERT_EQ(run.traces().size(), 3U);
  EXPECT_EQ(run.traces()[2].trace->info.dur_ns, 900);
  EXPECT_EQ(run.traces()[2].execution, 0);
  EXPECT_EQ(run.primary().size(), 2U);
  EXPECT_EQ(run.traces()[0].ts_shift_ns, 500);  // the run's zero is where telemetry starts
}

TEST(Run, TelemetryNeverPushesARecordingOutOfTheFirstExecution) {
  const Job run({Telemetry(500, 900), Recording(0, 10, 1000, 10)});
  ASSERT_EQ(run.primary().size(), 1U);
  EXPECT_EQ(run.primary()[0]->rank(), 0);
  EXPECT_EQ(run.traces()[1].execution, 1);
}

TEST(Run, TelemetryAloneIsARun) { EXPECT_EQ(Job({Telemetry(500, 900)}).primary().size(), 1U); }

// Samples that another tool took of GPUs: with local times, or none.
std::shared_ptr<const Trace> Samples(int64_t start, int64_t end, bool has_clock) {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  for (const int64_t ts : {start, end})
    shard.Add(CounterRow{.name = shard.Text("gpu.power"), .unit = shard.Text("W"), .ts_ns = ts, .value = 1});
  builder.info().format = kGpuSamplesFormat;
  if (has_clock) builder.info().start_unix_ns = start;
  return std::make_shared<Trace>(std::move(builder).Finish());
}

TEST(Run, SamplesWithoutAClockBeginWithTheRecording) {
  const Job run({Samples(0, 500, false), Recording(0, 10, 1'000'000, 10)});
  ASSERT_EQ(run.primary().size(), 2U);
  for (const RunTrace& of : run.traces()) EXPECT_EQ(of.ts_shift_ns, 0) << of.trace->info.format;
}

// Times of another zone share nothing with the recording: they do not move its zero by hours.
TEST(Run, SamplesOfAnotherTimeZoneBeginWithTheRecording) {
  const Job run({Samples(100, 900, true), Recording(0, 10, 3'600'000, 10)});
  ASSERT_EQ(run.primary().size(), 2U);
  for (const RunTrace& of : run.traces()) EXPECT_EQ(of.ts_shift_ns, 0) << of.trace->info.format;
}

TEST(Run, SamplesInTimeKeepTheirPlace) {
  const Job run({Samples(995, 1005, true), Recording(0, 10, 1000, 10)});
  ASSERT_EQ(run.primary().size(), 2U);
  for (const RunTrace& of : run.traces()) EXPECT_EQ(of.ts_shift_ns, of.trace->info.format == kGpuSamplesFormat ? 0 : 5);
}

// A profile of cProfile or py-spy says neither its process nor when it was taken.
TEST(Run, AProfileOfTheHostGoesWithTheFirstExecution) {
  TraceBuilder builder;
  builder.AddHostFunction({.file = "train.py", .function = "f", .self_ns = 5});
  const Job run({std::make_shared<Trace>(std::move(builder).Finish()), Recording(0, 10, 1000, 10)});
  EXPECT_EQ(run.primary().size(), 2U);
  EXPECT_EQ(run.traces()[0].rank(), 0);
}

TEST(Run, MetricsOfKernelsGoWithTheFirstExecution) {
  TraceBuilder builder;
  builder.AddKernelMetric({.kernel_name = "k", .launch_index = 1, .metric = "m", .value = 2, .unit = "%"});
  const Job run({Recording(0, 10, 1000, 10), std::make_shared<Trace>(std::move(builder).Finish())});
  EXPECT_EQ(run.primary().size(), 2U);
  EXPECT_EQ(run.traces()[0].rank(), 0);
  EXPECT_EQ(run.traces()[0].ts_shift_ns, 0);  // what has no time does not move the zero
}

}  // namespace
}  // namespace gapless::internal
