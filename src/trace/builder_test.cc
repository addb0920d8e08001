// SPDX-License-Identifier: Apache-2.0
// The effects of Finish() on rows: order, nesting, links, waits, steps, arrows. Times are in ns and start at 1000 to
// show that the zero moves to the first event.
#include "trace/builder.h"

#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "trace/trace_check.h"

namespace gapless::internal {
namespace {

class BuilderTest : public ::testing::Test {
 protected:
  SliceRow Slice(std::string_view name, int64_t ts, int64_t dur, SliceCategory category = SliceCategory::kOperator,
                 int64_t tid = 1) {
    return {.name = shard.Text(name), .category = category, .pid = 1, .tid = tid, .ts_ns = 1000 + ts, .dur_ns = dur};
  }
  SliceRow Launch(int64_t correlation, int64_t ts, int64_t dur, ApiKind api = ApiKind::kKernelLaunch) {
    SliceRow row = Slice("launch", ts, dur, SliceCategory::kRuntime);
    row.api = api;
    row.correlation = correlation;
    return row;
  }
  GpuOpRow Kernel(int64_t correlation, int64_t ts, int64_t dur, int64_t stream = 7) {
    return {
        .name = shard.Text("kernel"), .stream = stream, .ts_ns = 1000 + ts, .dur_ns = dur, .correlation = correlation};
  }
  int64_t Stat(const Trace& trace, std::string_view kind) {
    for (size_t row = 0; row < trace.read_stats.size(); ++row)
      if (trace.Text(trace.read_stats.kind[row]) == kind) return trace.read_stats.count[row];
    return 0;
  }
  Trace Finish() { return std::move(builder).Finish(); }

  TraceBuilder builder;
  TraceBuilder::Shard& shard = builder.NewShard();
};

TEST_F(BuilderTest, SlicesNestByContainment) {
  shard.Add(Slice("child", 10, 30));
  shard.Add(Slice("parent", 0, 100));
  shard.Add(Slice("grandchild", 15, 5));
  shard.Add(Slice("second child", 60, 40));
  const Trace trace = Finish();
  ASSERT_EQ(trace.slices.size(), 4U);
  EXPECT_EQ(trace.info.origin_ns, 1000);
  EXPECT_EQ(trace.info.dur_ns, 100);
  EXPECT_EQ(trace.Text(trace.slices.name[0]), "parent");
  EXPECT_EQ(trace.slices.self_ns[0], 100 - 30 - 40);
  EXPECT_EQ(trace.slices.parent[1], SliceId(0));
  EXPECT_EQ(trace.slices.parent[2], SliceId(1));
  EXPECT_EQ(trace.slices.depth[2], 2);
  EXPECT_EQ(trace.slices.parent[3], SliceId(0));
  EXPECT_FALSE(trace.slices.parent[0].valid());
}

TEST_F(BuilderTest, ThreadsNestApart) {
  shard.Add(Slice("a", 0, 100, SliceCategory::kOperator, 1));
  shard.Add(Slice("b", 10, 10, SliceCategory::kOperator, 2));
  const Trace trace = Finish();
  EXPECT_FALSE(trace.slices.parent[1].valid());
  EXPECT_EQ(trace.threads.size(), 2U);
}

// Recorders round start and duration apart: a child may seem to end up to a microsecond after its parent.
TEST_F(BuilderTest, RoundingDoesNotBreakNesting) {
  shard.Add(Slice("parent", 0, 5000));
  shard.Add(Slice("child", 1000, 5000));
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.parent[1], SliceId(0));
  EXPECT_EQ(trace.slices.self_ns[0], 1000);
  EXPECT_EQ(Stat(trace, "overlapping_slices"), 0);
}

TEST_F(BuilderTest, OverlappingSlicesAreKeptAsSiblingsAndCounted) {
  shard.Add(Slice("outer", 0, 100'000));
  shard.Add(Slice("first", 10'000, 30'000));
  shard.Add(Slice("second", 20'000, 40'000));
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.parent[1], SliceId(0));
  EXPECT_EQ(trace.slices.parent[2], SliceId(0));
  EXPECT_EQ(trace.slices.self_ns[0], 50'000);  // children cover [10, 60) µs together
  EXPECT_EQ(Stat(trace, "overlapping_slices"), 1);
}

// So that walking up from a slice is a bounded number of steps in any recording.
TEST_F(BuilderTest, WhatNoProgramNestsHangsUnderTheDeepestSlice) {
  constexpr int64_t kSlices = 5000;
  for (int64_t i = 0; i < kSlices; ++i) shard.Add(Slice("f", 10 * i, 10 * (2 * kSlices - 2 * i)));
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.depth[1999], 1999);
  EXPECT_EQ(trace.slices.parent[2000], SliceId(1999));
  EXPECT_EQ(trace.slices.parent[4999], SliceId(1999));
  EXPECT_EQ(trace.slices.depth[4999], 2000);
  EXPECT_EQ(Stat(trace, "deep_slices"), kSlices - 2001);
  EXPECT_TRUE(HoldsTogether(trace));
}

TEST_F(BuilderTest, GpuOpsFindTheirLaunchAndOperator) {
  shard.Add(Slice("aten::mm", 0, 50));
  shard.Add(Launch(42, 10, 5));
  shard.Add(Kernel(42, 30, 100));
  shard.Add(Kernel(43, 200, 10));
  const Trace trace = Finish();
  EXPECT_EQ(trace.gpu_ops.launch[0], SliceId(1));
  EXPECT_EQ(trace.gpu_ops.op[0], SliceId(0));
  EXPECT_FALSE(trace.gpu_ops.launch[1].valid());
  EXPECT_EQ(Stat(trace, "unlinked_gpu_ops"), 1);
}

TEST_F(BuilderTest, ReusedCorrelationsGoToTheLatestLaunchBefore) {
  shard.Add(Launch(1, 0, 5));
  shard.Add(Kernel(1, 10, 5));
  shard.Add(Launch(1, 100, 5));
  shard.Add(Kernel(1, 110, 5));
  const Trace trace = Finish();
  EXPECT_EQ(trace.gpu_ops.launch[0], SliceId(0));
  EXPECT_EQ(trace.gpu_ops.launch[1], SliceId(1));
  EXPECT_EQ(Stat(trace, "duplicate_correlations"), 1);
}

TEST_F(BuilderTest, AGraphLaunchHasManyKernels) {
  shard.Add(Launch(9, 0, 5, ApiKind::kGraphLaunch));
  for (int i = 0; i < 3; ++i) shard.Add(Kernel(9, 10 + i * 10, 5));
  const Trace trace = Finish();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trace.gpu_ops.launch[static_cast<size_t>(i)], SliceId(0));
}

TEST_F(BuilderTest, TheExternalIdNamesTheOperatorWhereTheLaunchDoesNot) {
  SliceRow op = Slice("triton_op", 0, 5);
  op.external_id = 77;
  shard.Add(op);
  shard.Add(Launch(1, 10, 5));
  GpuOpRow kernel = Kernel(1, 20, 5);
  kernel.external_id = 77;
  shard.Add(kernel);
  const Trace trace = Finish();
  EXPECT_EQ(trace.gpu_ops.op[0], SliceId(0));
}

TEST_F(BuilderTest, TheOnlyDeviceDescribedIsTheOnlyOneThatWorks) {
  builder.AddDevice({.device = 0, .vendor = Vendor::kAmd, .name = "MI300X", .memory_bytes = 192});
  GpuOpRow kernel = Kernel(1, 20, 5);
  kernel.device = 2;
  shard.Add(kernel);
  const Trace trace = Finish();
  EXPECT_EQ(Stat(trace, "renumbered_devices"), 1);
  ASSERT_EQ(trace.devices.size(), 2U) << "allocator events use the process's number";
  EXPECT_EQ(trace.devices.device[1], 2);
  for (size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(trace.Text(trace.devices.name[row]), "MI300X");
    EXPECT_EQ(trace.devices.vendor[row], Vendor::kAmd);
    EXPECT_EQ(trace.devices.memory_bytes[row], 192);
  }
}

TEST_F(BuilderTest, OneOfSeveralDevicesDescribedIsNotGuessed) {
  for (const int32_t device : {0, 1}) builder.AddDevice({.device = device, .name = "MI300X"});
  GpuOpRow kernel = Kernel(1, 20, 5);
  kernel.device = 2;
  shard.Add(kernel);
  const Trace trace = Finish();
  EXPECT_EQ(Stat(trace, "renumbered_devices"), 0);
  ASSERT_EQ(trace.devices.size(), 3U);
  EXPECT_EQ(trace.Text(trace.devices.name[2]), "");
}

TEST_F(BuilderTest, ADeviceThatWorksUnderItsNumberLeavesOthersAlone) {
  builder.AddDevice({.device = 0, .name = "A100"});
  for (const int32_t device : {0, 1}) {
    GpuOpRow kernel = Kernel(device, 20, 5);
    kernel.device = device;
    shard.Add(kernel);
  }
  const Trace trace = Finish();
  EXPECT_EQ(Stat(trace, "renumbered_devices"), 0);
  EXPECT_EQ(trace.Text(trace.devices.name[0]), "A100");
  EXPECT_EQ(trace.Text(trace.devices.name[1]), "");
}

// Versions of a recorder number the kinds of waits differently; the name of the call does not change.
TEST_F(BuilderTest, ACallIsTheWaitThatItsNameSays) {
  shard.Add(Launch(5, 100, 50, ApiKind::kStreamSync));
  shard.Add(
      SyncRow{.kind = SyncKind::kStreamWait, .device = 0, .stream = 7, .correlation = 5, .ts_ns = 1105, .dur_ns = 40});
  const Trace trace = Finish();
  ASSERT_EQ(trace.syncs.size(), 1U);
  EXPECT_EQ(trace.syncs.kind[0], SyncKind::kStream);
  EXPECT_EQ(trace.syncs.wait_ns[0], 50);
}

TEST_F(BuilderTest, HostWaitsAndRecordedWaitsBecomeOneRow) {
  SliceRow call = Launch(5, 100, 50, ApiKind::kStreamSync);
  shard.Add(call);
  shard.Add(Kernel(4, 90, 55));
  shard.Add(
      SyncRow{.kind = SyncKind::kStream, .device = 0, .stream = 7, .correlation = 5, .ts_ns = 1105, .dur_ns = 40});
  shard.Add(
      SyncRow{.kind = SyncKind::kStreamWait, .device = 0, .stream = 20, .correlation = 99, .ts_ns = 1200, .dur_ns = 3});
  const Trace trace = Finish();
  ASSERT_EQ(trace.syncs.size(), 2U);
  EXPECT_EQ(trace.syncs.kind[0], SyncKind::kStream);
  EXPECT_EQ(trace.syncs.wait_ns[0], 50);
  EXPECT_EQ(trace.syncs.stream[0], 7);
  EXPECT_EQ(trace.syncs.waited_gpu_op[0], GpuOpId(0));
  EXPECT_EQ(trace.syncs.kind[1], SyncKind::kStreamWait);
  EXPECT_FALSE(trace.syncs.slice[1].valid());
}

// An event stands for the work that its stream had been given when it was recorded, and no more.
TEST_F(BuilderTest, AStreamWaitsForWhatTheEventWasRecordedAfter) {
  shard.Add(Launch(1, 0, 5, ApiKind::kKernelLaunch));
  shard.Add(Launch(2, 10, 5, ApiKind::kEventRecord));
  shard.Add(Launch(3, 20, 5, ApiKind::kKernelLaunch));
  shard.Add(Launch(4, 30, 5, ApiKind::kStreamWait));
  shard.Add(Kernel(1, 50, 100));
  shard.Add(Kernel(3, 160, 100));
  shard.Add(SyncRow{.kind = SyncKind::kStreamWait,
                    .device = 0,
                    .stream = 20,
                    .correlation = 4,
                    .event_stream = 7,
                    .event_correlation = 2,
                    .ts_ns = 1030,
                    .dur_ns = 3});
  const Trace trace = Finish();
  ASSERT_EQ(trace.syncs.size(), 1U);
  EXPECT_EQ(trace.syncs.waited_gpu_op[0], GpuOpId(0));
}

// A copy call that returns only when the copy is done has blocked the host, whatever it is called.
TEST_F(BuilderTest, ACopyCallThatLastsAsLongAsItsCopyIsAnImplicitSync) {
  shard.Add(Launch(1, 0, 100, ApiKind::kMemcpy));
  shard.Add(Launch(2, 200, 5, ApiKind::kMemcpy));
  for (const auto& [correlation, ts] : {std::pair{1, 50}, std::pair{2, 250}}) {
    GpuOpRow copy = Kernel(correlation, ts, 40);
    copy.kind = GpuOpKind::kMemcpy;
    shard.Add(copy);
  }
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.api[0], ApiKind::kBlockingMemcpy);
  EXPECT_EQ(trace.slices.api[1], ApiKind::kMemcpy);
  ASSERT_EQ(trace.syncs.size(), 1U);
  EXPECT_EQ(trace.syncs.kind[0], SyncKind::kImplicit);
}

TEST_F(BuilderTest, WorkBelongsToTheStepThatLaunchedIt) {
  shard.Add(StepRow{.number = 3, .ts_ns = 1000, .dur_ns = 100});
  shard.Add(StepRow{.number = 4, .ts_ns = 1100, .dur_ns = 100});
  shard.Add(StepRow{.number = 5, .ts_ns = 1150, .dur_ns = 100});  // overlaps: left out
  shard.Add(Slice("frame", 0, 300));
  shard.Add(Launch(1, 90, 5));
  shard.Add(Kernel(1, 120, 30));
  const Trace trace = Finish();
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.gpu_ops.step[0], StepId(0));
  EXPECT_EQ(trace.steps.gpu_start_ns[0], 120);
  EXPECT_EQ(trace.steps.gpu_end_ns[0], 150);
  EXPECT_EQ(trace.steps.gpu_end_ns[1], kAbsent);
  EXPECT_EQ(Stat(trace, "overlapping_steps"), 1);
}

TEST_F(BuilderTest, ArrowsJoinEndsOfTheSameIdAndKind) {
  shard.Add(Slice("frame", 0, 300));
  shard.Add(FlowEndRow{.kind = FlowKind::kLaunch, .start = true, .id = 1, .tid = 1, .ts_ns = 1010});
  shard.Add(FlowEndRow{.kind = FlowKind::kForwardBackward, .start = true, .id = 1, .tid = 1, .ts_ns = 1020});
  shard.Add(FlowEndRow{.kind = FlowKind::kLaunch, .start = false, .id = 1, .tid = 7, .ts_ns = 1030});
  shard.Add(FlowEndRow{.kind = FlowKind::kLaunch, .start = false, .id = 2, .tid = 7, .ts_ns = 1040});
  const Trace trace = Finish();
  ASSERT_EQ(trace.flows.size(), 1U);
  EXPECT_EQ(trace.flows.from_ts_ns[0], 10);
  EXPECT_EQ(trace.flows.to_tid[0], 7);
  EXPECT_EQ(Stat(trace, "unmatched_flow_ends"), 2);
}

TEST_F(BuilderTest, MemoryEventsKnowTheOpenSlice) {
  shard.Add(Slice("aten::empty", 0, 50));
  shard.Add(MemoryEventRow{.device = 0, .device_type = 1, .pid = 1, .tid = 1, .ts_ns = 1020, .bytes = 512});
  shard.Add(MemoryEventRow{
      .device = 0, .device_type = 1, .action = MemoryAction::kFree, .pid = 1, .tid = 1, .ts_ns = 1090, .bytes = -512});
  const Trace trace = Finish();
  EXPECT_EQ(trace.memory_events.slice[0], SliceId(0));
  EXPECT_FALSE(trace.memory_events.slice[1].valid());
}

// One event with an uninitialised clock must not stretch the trace over half a century.
TEST_F(BuilderTest, EventsFarFromAllOthersAreLeftOutAndCounted) {
  constexpr int64_t kNow = 1'700'000'000'000'000'000;
  for (int i = 0; i < 5; ++i) shard.Add(Slice("op", kNow + i * 10, 5));
  shard.Add(Slice("slip", 0, 5));
  shard.Add(Kernel(1, 0, 5));
  shard.Add(CounterRow{.name = StringId::kNone, .ts_ns = 7, .value = 1});
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.size(), 5U);
  EXPECT_EQ(trace.gpu_ops.size(), 0U);
  EXPECT_EQ(trace.info.dur_ns, 45);
  EXPECT_EQ(Stat(trace, "distant_rows"), 3);
}

TEST_F(BuilderTest, ATraceWithoutRowsIsATrace) {
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.size(), 0U);
  EXPECT_EQ(trace.info.dur_ns, 0);
}

TEST_F(BuilderTest, OfAVeryLongNameTheBeginningIsKept) {
  constexpr size_t kMost = TraceBuilder::Shard::kMaxNameBytes;
  const std::string longest(kMost, 'k'), longer = std::string(kMost - 1, 'k') + "é" + std::string(100, 'x');
  EXPECT_EQ(shard.strings[shard.Name(longest)], longest);
  EXPECT_EQ(shard.strings[shard.Name(longer)], std::string(kMost - 1, 'k') + "…") << "no character is cut in two";
}

TEST_F(BuilderTest, ADroppedChunkLeavesNothing) {
  shard.BeginChunk(1);
  shard.Add(Slice("kept", 0, 10));
  shard.BeginChunk(2);
  shard.Add(Slice("dropped", 20, 10));
  shard.Add(Kernel(1, 20, 10));
  shard.DropChunk();
  const Trace trace = Finish();
  EXPECT_EQ(trace.slices.size(), 1U);
  EXPECT_EQ(trace.gpu_ops.size(), 0U);
}

// The result is the same whichever thread read which chunk.
TEST(TraceBuilder, DoesNotDependOnWhoReadWhat) {
  const auto build = [](bool swapped, ThreadPool* pool) {
    TraceBuilder builder;
    TraceBuilder::Shard* shards[2] = {&builder.NewShard(), &builder.NewShard()};
    for (int chunk = 0; chunk < 40; ++chunk) {
      auto& shard = *shards[(chunk % 2 == 0) != swapped ? 0 : 1];
      shard.BeginChunk(static_cast<uint64_t>(chunk));
      for (int i = 0; i < 2'000; ++i)
        shard.Add(SliceRow{.name = shard.Text("op" + std::to_string((chunk * 7 + i) % 50)),
                           .pid = 1,
                           .tid = i % 3,
                           .ts_ns = chunk * 100 + i % 17,
                           .dur_ns = 5});
    }
    return std::move(builder).Finish(pool);
  };
  ThreadPool pool(3);
  const Trace a = build(false, nullptr), b = build(true, &pool);
  ASSERT_EQ(a.slices.size(), b.slices.size());
  for (size_t row = 0; row < a.slices.size(); ++row) {
    ASSERT_EQ(a.slices.name[row], b.slices.name[row]) << row;
    ASSERT_EQ(a.slices.ts_ns[row], b.slices.ts_ns[row]) << row;
    ASSERT_EQ(a.slices.parent[row], b.slices.parent[row]) << row;
    ASSERT_EQ(a.slices.thread[row], b.slices.thread[row]) << row;
  }
}

TEST_F(BuilderTest, ADeviceIsFoundByItsNumber) {
  for (const int32_t device : {7, 0, 3}) builder.AddDevice({.device = device, .name = "A100"});
  const Trace trace = Finish();
  for (size_t row = 0; row < 3; ++row) EXPECT_EQ(FindDevice(trace.devices, trace.devices.device[row]), row);
  EXPECT_EQ(FindDevice(trace.devices, 5), trace.devices.size());
}

// The space that a column takes is decided over all shards: values that are one in each shard may differ between them,
// and texts that have other ids in each shard may be the same.
TEST(TraceBuilder, AColumnOfOneValueInEachShardIsOneOnlyIfTheyAgree) {
  TraceBuilder builder;
  TraceBuilder::Shard &first = builder.NewShard(), &second = builder.NewShard();
  second.Text("only here");  // so that ids of texts differ
  for (int64_t i = 0; i < 4; ++i) {
    first.Add(
        GpuOpRow{.name = first.Text("gemm"), .device = 0, .stream = 7, .ts_ns = 10 * i + 1, .dur_ns = 0, .bytes = 5});
    second.Add(GpuOpRow{.name = second.Text("gemm"),
                        .device = 0,
                        .stream = 9,
                        .ts_ns = 10 * i + 5,
                        .dur_ns = 0,
                        .bytes = i,
                        .registers = 32});
  }
  const Trace trace = std::move(builder).Finish();
  const GpuOpTable& ops = trace.gpu_ops;
  EXPECT_TRUE(ops.name.same());
  EXPECT_TRUE(ops.device.same());
  EXPECT_FALSE(ops.stream.same());
  ASSERT_EQ(ops.size(), 8U);
  for (size_t row = 0; row < ops.size(); ++row) {
    const bool is_first = row % 2 == 0;
    EXPECT_EQ(trace.Text(ops.name[row]), "gemm");
    EXPECT_EQ(ops.stream[row], is_first ? 7 : 9);
    EXPECT_EQ(ops.bytes[row], is_first ? 5 : static_cast<int64_t>(row / 2));
    EXPECT_EQ(ops.registers[row], is_first ? kAbsent32 : 32);
  }
}

}  // namespace
}  // namespace gapless::internal
