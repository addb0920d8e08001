// SPDX-License-Identifier: Apache-2.0
// Operations that no call of their own launched: those of a graph, those of a recording without a host, and pages of
// managed memory.
#include "predict/device_edges.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "predict/testing/self_checked.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using testing::SelfChecked;

TEST(DeviceEdges, ARecordingWithoutAHostIsReplayedFromTheDevice) {
  HandMade made;
  for (int64_t i = 0; i < 100; ++i) made.Unlaunched("gemm", i * 40 * kUs, i * 40 * kUs + 30 * kUs);
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01) << "gaps of 10 µs stay, though nothing explains them";
  EXPECT_NEAR(check.responses[0].share, 1 - 30.0 / 2 / 40, 0.01);
}

TEST(DeviceEdges, StreamsOfARecordingWithoutAHostKeepTheirDistance) {
  HandMade made;
  GpuOpDraft other;
  other.stream = 20;
  for (int64_t i = 0; i < 50; ++i) {
    made.Unlaunched("gemm", i * 200 * kUs, i * 200 * kUs + 90 * kUs);
    made.Unlaunched("ncclDevKernel_AllReduce", i * 200 * kUs + 110 * kUs, i * 200 * kUs + 190 * kUs, other);
  }
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01);
}

TEST(DeviceEdges, KernelsOfAGraphKeepTheirDistance) {
  HandMade made;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t at = step * 2000 * kUs;
    for (int64_t i = 0; i < 100; ++i)
      made.Unlaunched("gemm", at + 10 * kUs + i * 19 * kUs, at + 10 * kUs + i * 19 * kUs + 12 * kUs);
    made.Call("cudaGraphLaunch", ApiKind::kGraphLaunch, at, at + 8 * kUs);
    made.Call("cudaStreamSynchronize", ApiKind::kStreamSync, at + 10 * kUs, at + 1910 * kUs);
    made.Step(step, at, at + 2000 * kUs);
  }
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_NEAR(check.error, 0, 0.01);
  EXPECT_EQ(check.refusal, "");
}

// A small graph once, a large one whose launch takes 1.5 ms, and a wait: the device begins when the launch is done, and
// not 10 µs after it began, as the small one did.
TEST(DeviceEdges, AGraphBeginsWhenItsLaunchIsDone) {
  HandMade made;
  made.Graph("copy", {0, 8 * kUs, 10 * kUs, 12 * kUs});
  made.Graph("gemm", {100 * kUs, 1600 * kUs, 1602 * kUs, 1700 * kUs});
  for (int64_t i = 0; i < 20; ++i) made.SameLaunch("gemm", 1702 * kUs + i * 100 * kUs, 1800 * kUs + i * 100 * kUs);
  made.Call("cudaStreamSynchronize", ApiKind::kStreamSync, 1610 * kUs, 3702 * kUs);
  made.Step(0, 0, 3703 * kUs);
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01);
}

// Two branches of a graph on one stream: every second kernel begins while the one before it runs.
TEST(DeviceEdges, BranchesOfAGraphThatOverlapGetFasterWithTheirKernels) {
  HandMade made;
  for (int64_t i = 0; i < 50; ++i) {
    const int64_t at = 10 * kUs + i * 101 * kUs;
    made.Unlaunched("gemm", at, at + 100 * kUs);
    made.Unlaunched("norm", at + 40 * kUs, at + 98 * kUs);
  }
  made.Call("cudaGraphLaunch", ApiKind::kGraphLaunch, 0, 8 * kUs);
  made.Call("cudaStreamSynchronize", ApiKind::kStreamSync, 10 * kUs, 5061 * kUs);
  made.Step(0, 0, 5062 * kUs);
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.responses[0].share, 0.5, 0.03) << check.responses[0].what;
}

// The recording begins while the device still works on the graph before: the graph's first kernel begins 6 ms after its
// launch, and nothing that was recorded says why.
TEST(DeviceEdges, TheFirstOperationMayWaitForWhatWasNotRecorded) {
  HandMade made;
  made.Kernel("gather", {0, 5 * kUs, 6000 * kUs, 6010 * kUs});
  for (int64_t i = 0; i < 100; ++i)
    made.Kernel("gemm", {10 * kUs + i * 10 * kUs, 14 * kUs + i * 10 * kUs, 6011 * kUs + i * 50 * kUs,
                         6060 * kUs + i * 50 * kUs});
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01);
}

// A kernel of 60 ms touches pages while it runs, and the host reads its results for 30 ms after it has waited: with
// kernels twice as fast the program takes 30 ms less, with a host twice as fast 15.
TEST(DeviceEdges, PagesOfManagedMemoryFollowWhoeverTouchesThem) {
  HandMade made;
  made.Kernel("add", {0, 10 * kUs, 20 * kUs, 60 * kMs});
  const auto page = [&](CopyKind kind, int64_t at) {
    made.Unlaunched("Memcpy", at, at + 5 * kUs, {.kind = GpuOpKind::kMemcpy, .copy_kind = kind, .stream = 0});
  };
  for (int64_t i = 0; i < 100; ++i) page(CopyKind::kHtoDManaged, kMs + i * 500 * kUs);
  made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 15 * kUs, 60 * kMs + 5 * kUs);
  for (int64_t i = 0; i < 100; ++i) page(CopyKind::kDtoHManaged, 60 * kMs + 300 * kUs * (i + 1));
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.001);
  EXPECT_NEAR(check.responses[0].share, 60.0 / 90, 0.005) << check.responses[0].what;
  const auto host = std::find_if(check.responses.begin(), check.responses.end(),
                                 [](const auto& item) { return item.what == "the host twice as fast"; });
  ASSERT_NE(host, check.responses.end());
  EXPECT_NEAR(host->share, 75.0 / 90, 0.005);
}

}  // namespace
}  // namespace gapless::internal
