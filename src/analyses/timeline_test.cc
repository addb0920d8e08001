// SPDX-License-Identifier: Apache-2.0
// Why a device was idle: one short trace for each cause, read as table idle shows it.
#include "analyses/timeline.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kBackward;

// The only idle gap between the two kernels of a trace, as its parts by cause.
struct Parts {
  int64_t data = 0, launch = 0, sync = 0, host = 0, unknown = 0;
  friend bool operator==(const Parts&, const Parts&) = default;
};
void PrintTo(const Parts& parts, std::ostream* out) {
  *out << "data " << parts.data << " launch " << parts.launch << " sync " << parts.sync << " host " << parts.host
       << " unknown " << parts.unknown;
}
Parts GapAfterFirst(Analysed& run) {
  const auto idle = run["idle"];
  for (size_t row = 0; row < idle.rows(); ++row)
    if (!idle.IsNull(row, "previous_id") && !idle.IsNull(row, "next_id"))
      return {idle.Int(row, "data_ns"), idle.Int(row, "launch_ns"), idle.Int(row, "sync_ns"), idle.Int(row, "host_ns"),
              idle.Int(row, "unknown_ns")};
  return {-1, -1, -1, -1, -1};
}

// Every trace here: a kernel on [10, 100), the gap under test, a kernel from 1000 on that was launched on [900, 950).
HandMade& Begin(HandMade& trace) { return trace.Kernel("first", {0, 5, 10, 100}); }
HandMade& End(HandMade& trace) { return trace.Kernel("second", {900, 950, 1000, 1100}); }

TEST(IdleCause, TimeInTheDataLoaderIsDataWhateverRunsInside) {
  HandMade trace;
  Begin(trace)
      .Loader(50, 700)
      .Operator("aten::stack", 200, 300)
      .Call("cudaStreamSynchronize", ApiKind::kStreamSync, 400, 450);
  Analysed run(End(trace));
  EXPECT_EQ(GapAfterFirst(run), (Parts{.data = 600, .launch = 100, .host = 200}));
}

TEST(IdleCause, TimeInACallThatBlocksIsSync) {
  HandMade trace;
  Begin(trace).Operator("aten::item", 80, 500).Call("cudaStreamSynchronize", ApiKind::kStreamSync, 90, 400);
  Analysed run(End(trace));
  EXPECT_EQ(GapAfterFirst(run), (Parts{.launch = 100 + 100, .sync = 300, .host = 400}))
      << "400–500 the operator goes on";
}

TEST(IdleCause, TimeInOperatorsAndCallsIsLaunch) {
  HandMade trace;
  Begin(trace)
      .Operator("aten::linear", 100, 600)
      .Operator("aten::addmm", 200, 500)
      .Call("cudaEventRecord", ApiKind::kEventRecord, 700, 750);
  Analysed run(End(trace));
  EXPECT_EQ(GapAfterFirst(run), (Parts{.launch = 500 + 50 + 100, .host = 100 + 150}));
}

TEST(IdleCause, TimeInPythonOrNothingIsHost) {
  HandMade trace;
  Begin(trace).Python("train.py(7): step", 0, 2000, "train.py:7");
  Analysed run(End(trace));
  EXPECT_EQ(GapAfterFirst(run), (Parts{.launch = 100, .host = 800}));
}

TEST(IdleCause, WhenTheLaunchingThreadDoesNothingTheOthersCount) {
  // The backward thread launches the second kernel; until 700 the main thread is still loading.
  HandMade trace;
  Begin(trace).Loader(50, 700).Kernel("second", {900, 950, 1000, 1100}, {}, kBackward);
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.data = 600, .launch = 100, .host = 200}));
}

TEST(IdleCause, TheLaunchingThreadsOwnWorkComesFirst) {
  // Main waits in the loader for its next batch, but what the device lacks is the backward thread's operator.
  HandMade trace;
  Begin(trace)
      .Loader(50, 2000)
      .Operator("MulBackward0", 60, 800, kBackward)
      .Kernel("second", {900, 950, 1000, 1100}, {}, kBackward);
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.data = 100, .launch = 700 + 100}));
}

TEST(IdleCause, AQueuedOperationStartsWithinTheDevicesOwnTime) {
  HandMade trace;
  trace.Kernel("first", {0, 5, 100, 1'000}).Kernel("second", {10, 20, 1'000 + kQueuedStartNs, 20'000});
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.launch = kQueuedStartNs}));
}

TEST(IdleCause, AQueuedOperationThatStartsLaterWaitedForSomethingUnknown) {
  HandMade trace;
  trace.Kernel("first", {0, 5, 100, 1'000}).Kernel("second", {10, 20, 1'001 + kQueuedStartNs, 20'000});
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.unknown = kQueuedStartNs + 1}));
}

TEST(IdleCause, AFreshLaunchMayTakeLongerToArrive) {
  HandMade trace;
  trace.Kernel("first", {0, 5, 10, 100})
      .Kernel("second", {100, 150, 150 + kFreshStartNs, 200'000})
      .Kernel("third", {200'000, 200'010, 200'020 + kFreshStartNs, 400'000});
  Analysed run(trace);
  const auto idle = run["idle"];
  ASSERT_EQ(idle.rows(), 3u);
  EXPECT_EQ(idle.Int(1, "launch_ns"), 50 + kFreshStartNs);
  EXPECT_EQ(idle.Int(2, "launch_ns"), 10) << "the call";
  EXPECT_EQ(idle.Int(2, "unknown_ns"), kFreshStartNs + 10) << "10 more than a launch takes";
}

TEST(IdleCause, ACopyCallThatStagesPageableMemoryBlocks) {
  HandMade trace;
  Begin(trace).Copy(CopyKind::kHtoDPageable, {300, 900, 950, 1000});
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.launch = 50, .sync = 600, .host = 200}));
}

TEST(IdleCause, OfSlicesThatOverlapWithoutNestingTheStrongerCounts) {
  HandMade trace;
  trace.Kernel("first", {0, 5, 10, 100'000})
      .Operator("aten::item", 100'000, 500'000)
      .Annotation("late", 300'000, 800'000);
  trace.Kernel("second", {900'000, 910'000, 920'000, 950'000});
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.launch = 400'000 + 20'000, .host = 400'000}));
}

TEST(IdleCause, WithoutALaunchNothingIsKnown) {
  HandMade trace;
  Begin(trace).Loader(50, 700).Unlaunched("second", 1000, 1100);
  Analysed run(trace);
  EXPECT_EQ(GapAfterFirst(run), (Parts{.unknown = 900}));
}

TEST(Idle, ADeviceIsIdleOnlyWhenAllItsStreamsAre) {
  HandMade trace;
  trace.Kernel("a", {0, 1, 10, 100}, {.stream = 7})
      .Kernel("b", {1, 2, 50, 300}, {.stream = 8})
      .Kernel("c", {2, 3, 290, 400}, {.stream = 7});
  Analysed run(trace);
  const auto idle = run["idle"];
  ASSERT_EQ(idle.rows(), 1u) << "only before the first kernel";
  EXPECT_EQ(idle.Int(0, "dur_ns"), 10);
  EXPECT_TRUE(idle.IsNull(0, "previous_id"));
}

TEST(Idle, EachDeviceHasItsOwnGaps) {
  HandMade trace;
  trace.Kernel("a", {0, 1, 10, 100}, {.device = 0})
      .Kernel("b", {1, 2, 10, 50}, {.device = 3})
      .Kernel("c", {60, 61, 70, 100}, {.device = 3});
  Analysed run(trace);
  const auto idle = run["idle"];
  ASSERT_EQ(idle.rows(), 3u);
  EXPECT_EQ(idle.Int(2, "device"), 3);
  EXPECT_EQ(idle.Int(2, "ts_ns"), 50);
  EXPECT_EQ(idle.Int(2, "dur_ns"), 20);
}

TEST(Idle, NamesWhatTheHostHadOpen) {
  HandMade trace;
  trace.Step(3, 0, 2000).Kernel("first", {0, 5, 10, 100});
  trace.Annotation("Optimizer.step#SGD.step", 90, 950);
  trace.Operator("aten::add_", 100, 850).Operator("aten::empty", 200, 800);
  End(trace);
  Analysed run(trace);
  const auto idle = run["idle"];
  ASSERT_EQ(idle.rows(), 3u) << "before, between and after the kernels";
  EXPECT_EQ(idle.Text(1, "cause"), "launch");
  EXPECT_EQ(idle.Text(1, "operator"), "aten::add_") << "the outermost operator";
  EXPECT_EQ(idle.Text(1, "annotation"), "Optimizer.step#SGD.step") << "the innermost annotation that is not the step";
  EXPECT_EQ(idle.Int(1, "step"), 3);
}

TEST(Idle, NamesTheInnermostPythonFrameWhenOnlyPythonRuns) {
  HandMade trace;
  Begin(trace).Python("train.py(1): <module>", 0, 2000, "train.py:1").Python("log.py(9): write", 150, 850, "log.py:9");
  Analysed run(End(trace));
  EXPECT_EQ(run["idle"].Text(1, "cause"), "host");
  EXPECT_EQ(run["idle"].Text(1, "source_line"), "log.py:9");
}

TEST(Idle, AFrameThatIsOverIsNotWhatTheHostHasOpen) {
  HandMade trace;
  Begin(trace).Python("train.py(1): <module>", 0, 2000, "train.py:1").Python("log.py(9): write", 150, 300, "log.py:9");
  Analysed run(End(trace));
  EXPECT_EQ(run["idle"].Text(1, "source_line"), "train.py:1") << "in the middle of the longest part of host time";
}

TEST(Timeline, OfMoreDevicesThanAHostHasNoCauseIsGiven) {
  for (const int32_t devices : {2, static_cast<int32_t>(kMaxAttributedDevices) + 1}) {
    testing::HandMade trace;
    for (int32_t device = 0; device < devices; ++device) {
      const int64_t t = device * 100;
      trace.Kernel("k", {t, t + 10, t + 20, t + 30}, {.device = device});
    }
    testing::Analysed run(trace);
    const std::vector<TraceTimeline>& timelines = run.tables().Timelines();
    ASSERT_EQ(timelines[0].devices.size(), static_cast<size_t>(devices));
    const DeviceTimeline& last = timelines[0].devices.back();
    ASSERT_FALSE(last.parts.empty());
    EXPECT_EQ(last.parts[0].cause == IdleCause::kUnknown, devices > 2);
  }
}

// Compared with a look at every operation of the trace.
TEST(Timeline, RowsInWindowAreTheOperationsOfOneDevice) {
  testing::HandMade trace;
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t t = i * 100;
    trace.Kernel("k", {t, t + 10, t + 20, t + 30}, {.device = static_cast<int32_t>(i * i % 7)});
  }
  trace.Step(1, 1000, 3000).Step(2, 3000, 5000);
  testing::Analysed run(trace);
  const TraceTimeline& timeline = run.tables().Timelines()[0];
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  const RowRange window = RowsWithin(ops.ts_ns, timeline.window.span);
  ASSERT_LT(window.size(), ops.size()) << "the steps leave something out";
  size_t found = 0;
  for (const DeviceTimeline& device : timeline.devices) {
    std::vector<uint32_t> expected;
    for (size_t row = window.first; row < window.last; ++row)
      if (ops.device[row] == device.device) expected.push_back(static_cast<uint32_t>(row));
    const std::span<const uint32_t> rows = device.RowsInWindow();
    EXPECT_EQ(std::vector<uint32_t>(rows.begin(), rows.end()), expected) << device.device;
    found += rows.size();
  }
  EXPECT_EQ(found, window.size());
}

}  // namespace
}  // namespace gapless::internal
