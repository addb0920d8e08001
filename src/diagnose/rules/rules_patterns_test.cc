// SPDX-License-Identifier: Apache-2.0
// Tests what rules about launching and copying leave out, and their texts about it.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/testing/found.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Find;
using testing::HandMade;
using testing::Says;

// A step of `launches` kernels of 5 µs, one each 20 µs; the call of the first takes `first_us` longer.
void LaunchingStep(HandMade& trace, int64_t launches, int64_t first_us) {
  trace.Step(0, 0, (launches * 20 + first_us + 20) * kUs);
  for (int64_t i = 0; i < launches; ++i) {
    const int64_t t = (i * 20 + (i > 0 ? first_us : 0)) * kUs, end = t + (i == 0 ? first_us + 15 : 15) * kUs;
    trace.Operator("aten::add", t, end).Kernel("add", {t + 5 * kUs, end - kUs, end, end + 5 * kUs});
  }
}

TEST(LaunchBoundRule, OneCallThatTakesMostIsWarmUp) {
  HandMade trace;
  LaunchingStep(trace, 50, 20'000);
  Analysed run(trace);
  EXPECT_EQ(Find(Diagnose(run.tables()), "launch_bound"), nullptr) << "0.75 of 21 ms is left";
}

TEST(LaunchBoundRule, SaysWhatItLeftOut) {
  HandMade trace;
  LaunchingStep(trace, 50, 900);
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "launch_bound");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(*found->share_of_step, 0.39, 0.01) << "15 of 20 µs, 50 times, of 1.92 ms";
  EXPECT_TRUE(Says(*found, "not counted: one call of cudaLaunchKernel that alone keeps the GPU waiting for 909.0 µs"));
  EXPECT_TRUE(Says(*found, "half of the calls take less than 9.00 µs"));
}

// A start of 20 ms beside 15 s of which nothing was recorded: the gap is named first, not the call.
TEST(WarmUpRule, NamesTheGapWhereNoCallExplainsIt) {
  constexpr int64_t kSecond = 1000 * kMs;
  HandMade trace;
  trace.Call("cudaMallocManaged", ApiKind::kAlloc, 0, 20 * kMs);
  trace.Kernel("a", {20 * kMs, 20 * kMs + 5 * kUs, 20 * kMs + 10 * kUs, 21 * kMs});
  trace.Kernel("b", {15 * kSecond, 15 * kSecond + 5 * kUs, 15 * kSecond + 10 * kUs, 15 * kSecond + kMs});
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "warm_up");
  ASSERT_NE(found, nullptr);
  ASSERT_FALSE(found->evidence.empty());
  EXPECT_EQ(found->evidence[0].text, "longest time without work for the GPU: 14.98 s");
}

// The same two operations ten times, with half a second of host work before each: that is the program, not its start.
TEST(WarmUpRule, IsSilentWhereFewOperationsRepeat) {
  HandMade trace;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = i * 500 * kMs;
    trace.Operator("aten::randn", at, at + 460 * kMs);
    trace.Call("cudaMalloc", ApiKind::kAlloc, at + 460 * kMs, at + (i == 0 ? 485 : 461) * kMs);
    trace.Kernel("pow", {at + 486 * kMs, at + 487 * kMs, at + 487 * kMs, at + 495 * kMs});
  }
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  EXPECT_EQ(Find(diagnosis, "warm_up"), nullptr);
  EXPECT_NE(Find(diagnosis, "host_bound"), nullptr);
}

TEST(LaunchBoundRule, IsSilentWhileAGraphIsCaptured) {
  HandMade trace;
  trace.Step(0, 0, 1'000 * kUs).Kernel("k", {0, kUs, 2 * kUs, 10 * kUs});
  trace.Call("cudaStreamBeginCapture", ApiKind::kOther, 10 * kUs, 11 * kUs).Operator("model", 11 * kUs, 900 * kUs);
  trace.Call("cudaStreamEndCapture", ApiKind::kOther, 900 * kUs, 950 * kUs);
  trace.Kernel("k", {950 * kUs, 951 * kUs, 952 * kUs, 1'000 * kUs});
  Analysed run(trace);
  EXPECT_GT(run["ledger"].Int(0, "idle_launch_ns"), 900 * kUs);
  EXPECT_EQ(Find(Diagnose(run.tables()), "launch_bound"), nullptr);
}

TEST(NeedlessCopiesRule, TellsTheCompiledWrapperFromTheModelAndAdvisesOnce) {
  HandMade trace;
  trace.Step(0, 0, 1'000 * kUs).Operator("CompiledFunction", 0, 1'000 * kUs);
  for (const auto& [name, t] : {std::pair{"aten::clone", 0}, {"aten::copy_", 500}}) {
    trace.Operator(name, t * kUs, (t + 90) * kUs);
    trace.Copy(CopyKind::kDtoD, {t * kUs, (t + 10) * kUs, (t + 20) * kUs, (t + 300) * kUs}, {.bytes = 1 << 20});
  }
  Analysed run(trace);
  EXPECT_TRUE(SeesCompiler(run.tables()));
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "needless_copies");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->evidence.size(), 2u);
  ASSERT_EQ(found->recommendations.size(), 1u);
  EXPECT_NE(found->recommendations[0].code.find("mark_static_address"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
