// SPDX-License-Identifier: Apache-2.0
// Tests table host_time: the frame or operator that names each host part of an idle gap.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(HostTime, NamesTheInnermostFrameInTheMiddleOfTheGap) {
  testing::HandMade trace;
  trace.Step(0, 0, 2'000'000).Python("train.py(3): main", 0, 2'000'000, "train.py:3");
  trace.Kernel("a", {0, 1'000, 2'000, 100'000}).Python("log.py(9): write", 50'000, 900'000, "log.py:9");
  trace.Kernel("b", {950'000, 951'000, 952'000, 2'000'000});
  testing::Analysed run(trace);
  const auto host = run["host_time"];
  ASSERT_EQ(host.rows(), 1u);
  EXPECT_EQ(host.Text(0, "name"), "log.py(9): write");
  EXPECT_EQ(host.Text(0, "category"), "python");
  EXPECT_EQ(host.Text(0, "source_line"), "log.py:9");
  EXPECT_EQ(host.Int(0, "while_launching"), 0);
  EXPECT_EQ(host.Int(0, "parts"), 1);
  EXPECT_DOUBLE_EQ(host.Real(0, "parts_per_step"), 1);
  EXPECT_EQ(host.Int(0, "idle_ns"), 850'000) << "100 to 950 µs";
  EXPECT_EQ(host.Int(0, "longest_ns"), 850'000);
}

TEST(HostTime, ALongPartIsNamedByWhatCoversHalfOfIt) {
  testing::HandMade trace;
  trace.Step(0, 0, 9'000'000).Python("train.py(3): main", 0, 9'000'000, "train.py:3");
  trace.Kernel("a", {0, 1'000, 2'000, 100'000}).Python("video.py(9): prepare", 100'000, 4'100'000, "video.py:9");
  trace.Python("video.py(20): normalize", 1'000'000, 1'900'000, "video.py:20");
  trace.Python("video.py(20): normalize", 2'000'000, 2'900'000, "video.py:20");
  trace.Kernel("b", {4'150'000, 4'151'000, 4'152'000, 9'000'000});
  testing::Analysed run(trace);
  ASSERT_EQ(run["host_time"].rows(), 1u);
  EXPECT_EQ(run["host_time"].Text(0, "name"), "video.py(9): prepare") << "not what is open at 2.1 ms, for 0.9 of 4 ms";
}

TEST(HostTime, AnOperatorThatComputesOnTheHostIsHostTime) {
  for (const int64_t end : {5'000'000, 900'000}) {
    testing::HandMade trace;
    trace.Kernel("a", {0, 1'000, 2'000, 100'000}).Operator("aten::max", 100'000, end);
    trace.Kernel("b", {end, end + 1'000, end + 2'000, end + 100'000});
    testing::Analysed run(trace);
    const bool is_long = end - 100'000 >= 1'000'000;
    EXPECT_EQ(run["ledger"].Int(0, "idle_host_ns"), is_long ? end - 100'000 : 0) << "short ones are views";
    EXPECT_EQ(run["ledger"].Int(0, "idle_launch_ns"), (is_long ? 0 : end - 100'000) + 2 * 2'000);
    ASSERT_EQ(run["host_time"].rows(), is_long ? 1u : 0u);
    if (is_long) {
      EXPECT_EQ(run["host_time"].Text(0, "name"), "aten::max");
    }
  }
}

TEST(HostTime, ManyViewsInOneOperatorArePartOfLaunching) {
  testing::HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 100'000}).Operator("aten::unflatten_dense_tensors", 100'000, 5'000'000);
  for (int64_t t = 100'000; t < 4'000'000; t += 100'000) trace.Operator("aten::narrow", t, t + 90'000);
  trace.Kernel("b", {5'000'000, 5'001'000, 5'002'000, 6'000'000});
  testing::Analysed run(trace);
  EXPECT_EQ(run["ledger"].Int(0, "idle_host_ns"), 0);
}

TEST(HostTime, AnOperatorThatCallsTheDeviceLaunches) {
  testing::HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 100'000}).Operator("aten::add", 100'000, 5'000'000);
  trace.Kernel("b", {4'000'000, 4'001'000, 4'002'000, 5'000'000});
  testing::Analysed run(trace);
  EXPECT_EQ(run["ledger"].Int(0, "idle_host_ns"), 0);
}

TEST(HostTime, TheStepItselfIsNoName) {
  testing::HandMade trace;
  for (const int64_t t : {0, 1'000'000}) {
    trace.Step(t / 1'000'000, t, t + 1'000'000).Kernel("k", {t + 400'000, t + 401'000, t + 402'000, t + 990'000});
  }
  testing::Analysed run(trace);
  ASSERT_EQ(run["host_time"].rows(), 1u);
  EXPECT_TRUE(run["host_time"].IsNull(0, "name"));
  EXPECT_EQ(run["host_time"].Int(0, "parts"), 4) << "before and after each kernel";
}

TEST(HostTime, BetweenOperatorsItIsMarkedAsPartOfLaunching) {
  testing::HandMade trace;
  trace.Kernel("a", {0, 1'000, 2'000, 10'000}).Operator("aten::add", 20'000, 60'000);
  trace.Kernel("b", {50'000, 51'000, 52'000, 60'000});
  testing::Analysed run(trace);
  ASSERT_EQ(run["host_time"].rows(), 1u);
  EXPECT_EQ(run["host_time"].Int(0, "while_launching"), 1);
  EXPECT_EQ(run["host_time"].Int(0, "idle_ns"), 10'000);
}

}  // namespace
}  // namespace gapless::internal
