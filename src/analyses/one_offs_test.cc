// SPDX-License-Identifier: Apache-2.0
// Tests FindOneOffs: first launches, compilation and captures count; habits, waits and full queues do not.
#include "analyses/one_offs.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

std::vector<OneOff> Find(const Trace& trace) { return FindOneOffs(trace, DeviceWork(trace)); }

// Launches of 10 µs, one every 20 µs, from `start`.
void Launches(HandMade& made, int64_t start, int count) {
  for (int i = 0; i < count; ++i) {
    const int64_t at = start + i * 20'000;
    made.Kernel("gemm", {at, at + 10'000, at + 12'000, at + 18'000});
  }
}

TEST(OneOffs, AFirstLaunchThatLoadsCodeIsOne) {
  HandMade made;
  made.Kernel("gemm", {0, 1300 * kMs, 1300 * kMs + 10, 1300 * kMs + 100});
  Launches(made, 1301 * kMs, 50);
  const auto trace = made.Finish();
  const auto found = Find(*trace);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, OneOffKind::kFirstCall);
  EXPECT_EQ(found[0].span, (Interval{0, 1300 * kMs}));
}

TEST(OneOffs, ALaunchThatWaitsForAFullQueueIsNone) {
  HandMade made;
  made.Kernel("gemm", {0, 10'000, 12'000, 30 * kMs});  // the device works meanwhile
  made.Kernel("gemm", {20'000, 25 * kMs, 30 * kMs, 31 * kMs});
  EXPECT_TRUE(Find(*made.Finish()).empty());
}

TEST(OneOffs, LaunchesThatAllTakeLongAreAHabit) {
  HandMade made;
  for (int i = 0; i < 20; ++i) {
    const int64_t at = i * 3 * kMs;
    made.Kernel("gemm", {at, at + 2 * kMs, at + 2 * kMs + 10, at + 2 * kMs + 1000});
  }
  EXPECT_TRUE(Find(*made.Finish()).empty());
}

TEST(OneOffs, CompilingAndCapturingAreFoundByTheirNames) {
  HandMade made;
  made.Annotation("entire_frame_compile (dynamo_timed)", 0, 500 * kMs);
  made.Annotation("compile_inner (dynamo_timed)", 10 * kMs, 400 * kMs);  // inside the other one
  made.Call("cudaStreamBeginCapture", ApiKind::kOther, 600 * kMs, 600 * kMs + 10);
  made.Call("cudaStreamEndCapture", ApiKind::kOther, 690 * kMs, 700 * kMs);
  Launches(made, 800 * kMs, 3);
  const auto trace = made.Finish();
  const auto found = Find(*trace);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, OneOffKind::kCompilation);
  EXPECT_EQ(found[1].kind, OneOffKind::kCapture);
  EXPECT_EQ(found[1].span, (Interval{600 * kMs, 700 * kMs}));
  EXPECT_EQ(Total(IdleInOneOffs(found, DeviceWork(*trace))), 600 * kMs);
}

TEST(OneOffs, WaitingIsNone) {
  HandMade made;
  made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 0, 400 * kMs);
  made.Call("cudaMemcpy", ApiKind::kBlockingMemcpy, 400 * kMs, 800 * kMs);
  Launches(made, 800 * kMs, 3);
  EXPECT_TRUE(Find(*made.Finish()).empty());
}

}  // namespace
}  // namespace gapless::internal
