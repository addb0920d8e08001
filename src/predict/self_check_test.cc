// SPDX-License-Identifier: Apache-2.0
// A replay without one of its rules repeats the recording as well as before, or better, and predicts that nothing
// helps. The self-check must refuse it. Each recording below needs one rule.
#include "predict/self_check.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "predict/testing/self_checked.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using testing::kBackward;
using testing::kMain;
using testing::SelfChecked;

constexpr int64_t kPoller = 7;
constexpr int64_t kCheckedSteps = 3, kKernels = 20, kStepNs = 3 * kMs;

// Kernels of 100 µs, launched one every 10 µs from `start` on, that run back to back from `on_device` on.
int64_t AddKernels(HandMade& made, int64_t start, int64_t on_device, int64_t thread = kMain) {
  for (int64_t i = 0; i < kKernels; ++i) {
    const int64_t call = start + i * 10 * kUs, begin = on_device + i * 101 * kUs;
    made.Kernel("gemm", {call, call + 4 * kUs, begin, begin + 100 * kUs}, {}, thread);
  }
  return on_device + (kKernels - 1) * 101 * kUs + 100 * kUs;
}

// The host launches and waits for the device at the end of every step.
std::shared_ptr<const Trace> Waiting(int64_t return_after_ns) {
  HandMade made;
  for (int64_t step = 0; step < kCheckedSteps; ++step) {
    const int64_t start = step * kStepNs, end = AddKernels(made, start, start + 10 * kUs);
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, start + 210 * kUs, end + return_after_ns);
    made.Operator("aten::add", end + return_after_ns, start + kStepNs - 10 * kUs);
    made.Step(step, start, start + kStepNs);
  }
  return made.Finish();
}

TEST(SelfCheck, AcceptsAReplayThatReacts) {
  const auto trace = Waiting(5 * kUs);
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_NEAR(check.error, 0, 0.01);
  ASSERT_EQ(check.responses.size(), 3U);
  EXPECT_NEAR(check.responses[0].share, 1 - 1.0 / 3, 0.03) << "kernels are 2 of the 3 ms";
  EXPECT_NEAR(check.responses[1].share, 1 + 2.0 / 3, 0.03);
}

TEST(SelfCheck, RefusesBlockingCallsTakenForWork) {
  const auto trace = Waiting(5 * kUs);
  const SelfCheck check = SelfChecked(*trace, {.blocking_calls = false});
  EXPECT_NEAR(check.error, 0, 1e-3) << "the recording is repeated all the same";
  EXPECT_NE(check.refusal.find("kernels twice as fast"), std::string::npos) << check.refusal;
}

// Whole microseconds: the call returns in the one in which the last kernel ends.
TEST(SelfCheck, RefusesTiesInTheWrongOrder) {
  const auto trace = Waiting(0);
  EXPECT_EQ(SelfChecked(*trace).refusal, "");
  EXPECT_NE(SelfChecked(*trace, {.order_ties = false}).refusal, "");
}

// After twelve launches the queue is full: each launch returns when a kernel has begun, and nothing else waits.
TEST(SelfCheck, RefusesFullQueuesTakenForWork) {
  constexpr int64_t kRoom = 12, kLaunches = 40;
  HandMade made;
  for (int64_t step = 0; step < kCheckedSteps; ++step) {
    const int64_t start = step * kLaunches * 101 * kUs;
    int64_t host = start;
    for (int64_t i = 0; i < kLaunches; ++i) {
      const int64_t begin = start + 20 * kUs + i * 101 * kUs;
      const int64_t room = i < kRoom ? 0 : start + 21 * kUs + (i - kRoom) * 101 * kUs;
      const int64_t returns = std::max(host + 4 * kUs, room);
      made.Kernel("gemm", {host, returns, begin, begin + 100 * kUs});
      host = returns + 1 * kUs;
    }
    made.Step(step, start, host);
  }
  const auto trace = made.Finish();
  const Graph graph = BuildGraph(*trace);
  EXPECT_GT(graph.facts.full_queues, kCheckedSteps);
  EXPECT_EQ(SelfChecked(*trace).refusal, "");
  EXPECT_NE(SelfChecked(*trace, {.full_queues = false}).refusal, "");
}

// The backward thread launches and waits; the main thread waits for it without a word in the recording. Another thread
// asks the device every 200 µs, and happens to be the last to do something before the main thread goes on.
std::shared_ptr<const Trace> TwoThreads(bool polls) {
  HandMade made;
  for (int64_t step = 0; step < kCheckedSteps; ++step) {
    const int64_t start = step * kStepNs;
    made.Operator("aten::mm", start, start + 100 * kUs);
    const int64_t end = AddKernels(made, start + 110 * kUs, start + 120 * kUs, kBackward);
    made.Call("cudaStreamSynchronize", ApiKind::kStreamSync, start + 320 * kUs, end + 5 * kUs, kBackward);
    made.Operator("aten::add", end + 30 * kUs, start + kStepNs - 10 * kUs);
    made.Step(step, start, start + kStepNs);
    for (int64_t at = start; polls && at < start + kStepNs; at += 200 * kUs)
      made.Call("cudaEventQuery", ApiKind::kEventQuery, at, at + 2 * kUs, kPoller);
    if (polls) made.Call("cudaEventQuery", ApiKind::kEventQuery, end + 10 * kUs, end + 12 * kUs, kPoller);
  }
  return made.Finish();
}

TEST(SelfCheck, RefusesWaitsForThreadsTakenForWork) {
  const auto trace = TwoThreads(false);
  EXPECT_EQ(SelfChecked(*trace).refusal, "");
  EXPECT_NE(SelfChecked(*trace, {.thread_waits = false}).refusal, "");
}

TEST(SelfCheck, RefusesPollersTakenForTheProgram) {
  const auto trace = TwoThreads(true);
  EXPECT_EQ(SelfChecked(*trace).refusal, "");
  EXPECT_NE(SelfChecked(*trace, {.drop_pollers = false}).refusal, "");
}

// Without a device all there is to react to is the host's speed.
TEST(SelfCheck, TakesRecordingsOfTheHostAlone) {
  HandMade made;
  for (int64_t step = 0; step < kCheckedSteps; ++step) {
    made.Operator("aten::mm", step * kStepNs, step * kStepNs + 2 * kMs);
    made.Step(step, step * kStepNs, (step + 1) * kStepNs);
  }
  const auto trace = made.Finish();
  const SelfCheck check = SelfChecked(*trace);
  EXPECT_EQ(check.refusal, "");
  EXPECT_EQ(check.recorded_step_ns, kStepNs);
  EXPECT_NEAR(check.responses[2].share, 0.5, 0.01);
}

TEST(SelfCheck, RefusesARecordingOfNothing) {
  HandMade made;
  const auto trace = made.Finish();
  EXPECT_EQ(SelfChecked(*trace).refusal, "no step takes any time in it");
}

// The host launches for 3 of 10 ms while the device works, and then both wait for a thread that is only seen later: the
// time in which neither works is 10 − 3 ms, not 10 − 3 − 2.5.
TEST(SelfCheck, HostAndDeviceThatWorkAtTheSameTimeCountOnce) {
  constexpr int64_t kLoader = 9;
  HandMade made;
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t start = step * 10 * kMs;
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t call = start + (20 + 300 * i) * kUs;
      made.Operator("aten::mm", call, call + 290 * kUs);
      made.Kernel("gemm", {call + 20 * kUs, call + 28 * kUs, call + 40 * kUs, call + 290 * kUs});
    }
    made.Operator("aten::stack", start + 5 * kMs, start + 5'300 * kUs, kLoader);
    made.Step(step, start, start + 9'990 * kUs);
  }
  EXPECT_EQ(SelfChecked(*made.Finish()).refusal, "");
}

}  // namespace
}  // namespace gapless::internal
