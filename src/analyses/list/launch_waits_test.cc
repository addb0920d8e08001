// SPDX-License-Identifier: Apache-2.0
// Tests table launch_waits: idle time by operator and between operators, single long calls, and graph captures.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

int64_t IdleOf(const testing::TableByName& waits, std::string_view kind) {
  return testing::IntWhere(waits, "kind", kind, "idle_ns");
}

TEST(LaunchWaits, ByOperatorAndBetweenThem) {
  HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 10'000}).Operator("aten::add", 20'000, 60'000);
  trace.Operator("aten::fill_", 30'000, 55'000).Kernel("b", {50'000, 51'000, 52'000, 60'000});
  testing::Analysed run(trace);
  const auto waits = run["launch_waits"];
  ASSERT_EQ(waits.rows(), 3u) << "and the first kernel's call";
  EXPECT_EQ(waits.Text(0, "operator"), "aten::add") << "the outermost";
  EXPECT_EQ(IdleOf(waits, "operator"), 32'000) << "20 to 52 µs";
  EXPECT_EQ(waits.Int(0, "parts"), 3) << "in the operator, in the call, until the device starts";
  EXPECT_EQ(IdleOf(waits, "between"), 10'000);
  EXPECT_EQ(waits.Text(0, "call"), "aten::fill_");
  EXPECT_EQ(waits.Int(0, "call_ns"), 20'000) << "30 to 50 µs: at work itself";
}

TEST(LaunchWaits, NoSingleCallWhereManyFollowEachOther) {
  HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 10'000}).Operator("model", 10'000, 60'000);
  for (int64_t t = 10'000; t < 50'000; t += 5'000) trace.Operator("aten::view", t, t + 5'000);
  trace.Kernel("b", {50'000, 51'000, 52'000, 60'000});
  testing::Analysed run(trace);
  EXPECT_TRUE(run["launch_waits"].IsNull(0, "call"));
  EXPECT_TRUE(run["launch_waits"].IsNull(0, "call_ns"));
}

TEST(LaunchWaits, WhileAGraphIsCapturedNothingIsLaunched) {
  HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 10'000});
  trace.Call("cudaStreamBeginCapture", ApiKind::kOther, 20'000, 21'000);
  trace.Operator("aten::mm", 22'000, 48'000).Call("cudaStreamEndCapture_v10000", ApiKind::kOther, 50'000, 52'000);
  trace.Call("cudaGraphInstantiateWithFlags", ApiKind::kOther, 55'000, 65'000);
  trace.Kernel("b", {70'000, 71'000, 72'000, 80'000});
  testing::Analysed run(trace);
  const auto waits = run["launch_waits"];
  EXPECT_EQ(IdleOf(waits, "capture"), 32'000 + 10'000);
  EXPECT_EQ(IdleOf(waits, "between"), 10'000 + 3'000 + 5'000);
  EXPECT_EQ(IdleOf(waits, "operator"), 2 * 2'000) << "both calls until their kernels start";
}

TEST(LaunchWaits, ACaptureWithoutAnEndIsNone) {
  HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 10'000});
  trace.Call("cudaStreamBeginCapture", ApiKind::kOther, 20'000, 21'000);
  trace.Operator("aten::mm", 25'000, 60'000).Kernel("b", {50'000, 51'000, 52'000, 60'000});
  testing::Analysed run(trace);
  EXPECT_EQ(IdleOf(run["launch_waits"], "capture"), kAbsent);
}

}  // namespace
}  // namespace gapless::internal
