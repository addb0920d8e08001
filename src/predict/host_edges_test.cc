// SPDX-License-Identifier: Apache-2.0
// Programs of copies from pageable memory, a few kernels and a wait: what was recorded is replayed exactly, and the
// replay reacts to a faster device as it must.
#include "predict/host_edges.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "predict/testing/self_checked.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using testing::SelfChecked;

// A copy to the device whose call fills the staging buffer for the last time 0.1 ms before the copy ends.
void Upload(HandMade& made, int64_t start, int64_t ms) {
  made.Copy(CopyKind::kHtoDPageable, {start, start + ms * kMs, start + 100 * kUs, start + 100 * kUs + ms * kMs});
}
// A copy to the host whose call returns 0.3 ms after the copy has ended.
void Download(HandMade& made, int64_t called, int64_t start, int64_t ms) {
  made.Copy(CopyKind::kDtoHPageable, {called, start + ms * kMs + 300 * kUs, start, start + ms * kMs});
}

TEST(HostEdges, ACallThatFeedsACopyTakesTheTimeOfTheCopy) {
  HandMade made;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t at = step * 70 * kMs;
    Upload(made, at, 32);
    made.Call("cudaStreamSynchronize", ApiKind::kStreamSync, at + 32'010 * kUs, at + 32'110 * kUs);
    Download(made, at + 33 * kMs, at + 33'020 * kUs, 35);
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, at + 68'900 * kUs, at + 68'910 * kUs);
    made.Step(step, at, at + 70 * kMs);
  }
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01);
  EXPECT_NEAR(check.responses[0].share, 1 - 67.0 / 2 / 70, 0.02) << "67 of the 70 ms are copies";
}

TEST(HostEdges, ACallWaitsForItsOwnCopyAndNotForTheOneBefore) {
  HandMade made;
  Upload(made, 0, 20);
  Upload(made, 20'010 * kUs, 20);  // the first copy ends 0.09 ms after this call has begun
  made.Kernel("saxpy", {40'020 * kUs, 40'030 * kUs, 40'120 * kUs, 50 * kMs});
  Download(made, 40'040 * kUs, 50'002 * kUs, 20);
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.responses[0].share, 0.5, 0.03) << "the device works all the time";
}

TEST(HostEdges, WhatIsDoneBeforeAndAfterTheWorkOfADeviceIsNoPartOfIt) {
  HandMade made;
  made.Call("cudaMalloc", ApiKind::kAlloc, 0, 500 * kMs);
  Upload(made, 500 * kMs, 20);
  made.Kernel("saxpy", {520'010 * kUs, 520'020 * kUs, 520'120 * kUs, 530 * kMs});
  Download(made, 520'030 * kUs, 530'002 * kUs, 20);
  made.Call("cudaFree", ApiKind::kFree, 560 * kMs, 900 * kMs);
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(static_cast<double>(check.recorded_step_ns), 50.4 * kMs, 1.0 * kMs);
}

// A launch that loads its kernel is at work while copies of other streams run: the queue is not full.
TEST(HostEdges, ALaunchIntoAnEmptyQueueIsAtWork) {
  HandMade made;
  GpuOpDraft other;
  other.stream = 13;
  made.Copy(CopyKind::kHtoDPinned, {0, 4 * kUs, 10 * kUs, 900 * kUs}, other);
  made.Copy(CopyKind::kHtoDPinned, {5 * kUs, 9 * kUs, 910 * kUs, 1400 * kUs}, other);
  made.Kernel("add", {10 * kUs, 2000 * kUs, 1998 * kUs, 3000 * kUs});
  made.Kernel("add", {2005 * kUs, 2009 * kUs, 3001 * kUs, 4000 * kUs});
  made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 2010 * kUs, 4002 * kUs);
  const auto trace = made.Finish();
  const Graph graph = BuildGraph(*trace);
  EXPECT_EQ(graph.facts.full_queues, 0);
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01);
  EXPECT_NEAR(check.responses[2].share, 0.75, 0.03) << "2 of the 4 ms load the kernel";
}

}  // namespace
}  // namespace gapless::internal
