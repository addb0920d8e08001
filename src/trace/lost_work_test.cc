// SPDX-License-Identifier: Apache-2.0
// GPU operations whose times cannot be are left out, and launches without an operation are counted. Times are in µs and
// start at 1000, since a start of 0 means that there is none.
#include "trace/lost_work.h"

#include <gtest/gtest.h>

#include <bit>

#include "trace/builder.h"

namespace gapless::internal {
namespace {

class LostWorkTest : public ::testing::Test {
 protected:
  // A launch that takes 5 µs, and its kernel.
  void Kernel(int64_t launch_us, int64_t start_us, int64_t dur_us, GpuOpDraft op = {}) {
    Launch(launch_us);
    op.correlation = correlation_;
    Add(start_us, dur_us, op);
  }
  void Launch(int64_t at_us) { Call("cudaLaunchKernel", ApiKind::kKernelLaunch, at_us, 5); }
  void Call(std::string_view name, ApiKind api, int64_t at_us, int64_t dur_us) {
    shard.Add(SliceRow{.name = shard.Text(name),
                       .category = SliceCategory::kRuntime,
                       .api = api,
                       .pid = 1,
                       .tid = 1,
                       .ts_ns = (1000 + at_us) * 1000,
                       .dur_ns = dur_us * 1000,
                       .correlation = ++correlation_});
  }
  void Add(int64_t start_us, int64_t dur_us, GpuOpDraft op = {}) {
    op.name = shard.Text("kernel"), op.device = 0, op.context = 1;
    if (op.stream == kAbsent) op.stream = 7;
    op.ts_ns = (1000 + start_us) * 1000, op.dur_ns = dur_us * 1000;
    shard.Add(std::bit_cast<GpuOpRow>(op));
  }
  void AddWithoutTime() {
    shard.Add(GpuOpRow{.name = shard.Text("kernel"), .device = 0, .context = 1, .stream = 7, .ts_ns = 0, .dur_ns = 0});
  }
  // Nine kernels of 10 µs, one after the other.
  void NineKernels() {
    for (int64_t i = 0; i < 9; ++i) Kernel(1000 + i * 20, 1010 + i * 20, 10);
  }
  Trace Finish() { return std::move(builder).Finish(); }
  static int64_t Lost(const LostWork& work) { return std::ranges::count(work.is_lost, 1); }

  TraceBuilder builder;
  TraceBuilder::Shard& shard = builder.NewShard();
  int64_t correlation_ = 0;
};

TEST_F(LostWorkTest, AnOperationWithoutATimeIsNoOperationAtTheBeginningOfTime) {
  NineKernels();
  AddWithoutTime();
  const Trace trace = Finish();
  EXPECT_EQ(trace.gpu_ops.size(), 9U);
  EXPECT_EQ(OpsWithoutTime(trace), 1);
  EXPECT_EQ(trace.info.origin_ns, 2'000'000);
}

TEST_F(LostWorkTest, AnOperationThatEndsAfterItsStreamsNextOneIsLeftOut) {
  NineKernels();
  Kernel(1200, 1210, 5'000);  // the next one begins and ends meanwhile
  Kernel(1220, 1230, 10);
  const Trace trace = Finish();
  EXPECT_EQ(trace.gpu_ops.size(), 10U);
  EXPECT_EQ(OpsWithoutTime(trace), 1);
  const LostWork work = FindLostWork(trace);
  EXPECT_EQ(work.launches.size(), 11U);
  EXPECT_EQ(Lost(work), 1);
}

TEST_F(LostWorkTest, OperationsThatOverlapAndEndInOrderAreKept) {
  NineKernels();
  Kernel(1200, 1210, 100);  // programmatic dependent launch: the next one waits within itself
  Kernel(1220, 1215, 300);
  EXPECT_EQ(Finish().gpu_ops.size(), 11U);
}

TEST_F(LostWorkTest, KernelsOfAGraphAndOnOtherStreamsMayEndInAnyOrder) {
  NineKernels();
  Kernel(1200, 1210, 500, {.graph_id = 1});
  Kernel(1220, 1230, 10, {.graph_id = 1});
  Kernel(2000, 2010, 500);
  Kernel(2020, 2030, 10, {.stream = 8});
  EXPECT_EQ(Finish().gpu_ops.size(), 13U);
}

TEST_F(LostWorkTest, AStreamThatDoesNotRunInOrderIsNotJudged) {
  for (int64_t i = 0; i < 8; ++i) Kernel(i * 1000, 10 + i * 1000, i % 2 == 0 ? 5'000 : 10);
  EXPECT_EQ(Finish().gpu_ops.size(), 8U);
}

TEST_F(LostWorkTest, LaunchesIntoACaptureAndAtTheEndAreNotLost) {
  NineKernels();
  Launch(1185);  // whose kernel is missing
  Call("cudaStreamBeginCapture", ApiKind::kOther, 1200, 2);
  for (int64_t i = 0; i < 4; ++i) Launch(1210 + i * 10);
  Call("cudaStreamEndCapture", ApiKind::kOther, 1260, 2);
  Kernel(1300, 1310, 10);
  Launch(1320);  // the recording ends before its kernel begins
  const LostWork work = FindLostWork(Finish());
  EXPECT_EQ(work.launches.size(), 11U);
  EXPECT_EQ(Lost(work), 1);
}

}  // namespace
}  // namespace gapless::internal
