// SPDX-License-Identifier: Apache-2.0
// Operations that no call of their own launched: those of a graph, and those of a recording without a host.
#include "predict/device_edges.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "predict/self_check.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

constexpr int64_t kUs = 1000;

SelfCheck Check(const Trace& trace) {
  const Graph graph = BuildGraph(trace);
  return CheckReplay(trace, graph, StepSpan(trace, graph));
}

TEST(DeviceEdges, ARecordingWithoutAHostIsReplayedFromTheDevice) {
  HandMade made;
  for (int64_t i = 0; i < 100; ++i) made.Unlaunched("gemm", i * 40 * kUs, i * 40 * kUs + 30 * kUs);
  const auto trace = made.Finish();
  const SelfCheck check = Check(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01) << "gaps of 10 µs stay, though nothing explains them";
  EXPECT_NEAR(check.responses[0].share, 1 - 30.0 / 2 / 40, 0.01);
}

TEST(DeviceEdges, StreamsOfARecordingWithoutAHostKeepTheirDistance) {
  HandMade made;
  GpuOpRow other;
  other.stream = 20;
  for (int64_t i = 0; i < 50; ++i) {
    made.Unlaunched("gemm", i * 200 * kUs, i * 200 * kUs + 90 * kUs);
    made.Unlaunched("ncclDevKernel_AllReduce", i * 200 * kUs + 110 * kUs, i * 200 * kUs + 190 * kUs, other);
  }
  const auto trace = made.Finish();
  const SelfCheck check = Check(*trace);
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
  const SelfCheck check = Check(*trace);
  EXPECT_NEAR(check.error, 0, 0.01);
  EXPECT_EQ(check.refusal, "");
}

}  // namespace
}  // namespace gapless::internal
