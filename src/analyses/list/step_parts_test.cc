// SPDX-License-Identifier: Apache-2.0
// The parts of a step: who has the time when work runs at once, what is hidden, and the sums, which are the ledger's.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

std::map<std::string, int64_t> NsByName(Analysed& run) {
  std::map<std::string, int64_t> ns;
  const auto parts = run["step_parts"];
  for (size_t row = 0; row < parts.rows(); ++row) ns[std::string(parts.Text(row, "name"))] += parts.Int(row, "time_ns");
  return ns;
}

int64_t SumOf(Analysed& run, std::string_view part) {
  int64_t ns = 0;
  const auto parts = run["step_parts"];
  for (size_t row = 0; row < parts.rows(); ++row)
    if (parts.Text(row, "part") == part) ns += parts.Int(row, "time_ns");
  return ns;
}

TEST(StepParts, TheKernelThatBeganFirstHasTheTime) {
  HandMade trace;
  trace.Kernel("a", {0, 1, 10, 100}, {.stream = 1})
      .Kernel("b", {1, 2, 20, 130}, {.stream = 2})
      .Kernel("c", {2, 3, 30, 90}, {.stream = 3});
  Analysed run(trace);
  auto ns = NsByName(run);
  EXPECT_EQ(ns["a"], 90);
  EXPECT_EQ(ns["b"], 30) << "from 100 on";
  EXPECT_EQ(ns["c"], 0);
  EXPECT_EQ(SumOf(run, "compute"), run["ledger"].Int(0, "compute_ns"));
}

TEST(StepParts, WhatIsHiddenCountsForNothing) {
  HandMade trace;
  trace.Kernel("gemm", {0, 1, 10, 100}).Kernel("nccl", {1, 2, 50, 150}, kComm).Copy(CopyKind::kDtoD, {2, 3, 90, 200});
  Analysed run(trace);
  auto ns = NsByName(run);
  EXPECT_EQ(ns["nccl"], 50);
  EXPECT_EQ(ns["d2d"], 50);
}

TEST(StepParts, LaunchingAfterAWaitIsMarked) {
  HandMade trace;
  trace.Kernel("a", {0, 1, 10, 100}).Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 20, 110);
  trace.Kernel("b", {115, 125, 130, 200}).Kernel("c", {201, 212, 220, 300});
  Analysed run(trace);
  const auto parts = run["step_parts"];
  int64_t after = 0, plain = 0;
  for (size_t row = 0; row < parts.rows(); ++row)
    if (parts.Text(row, "part") == "idle_launch")
      (parts.Int(row, "after_wait") == 1 ? after : plain) += parts.Int(row, "time_ns");
  EXPECT_GT(after, 0);
  EXPECT_GT(plain, 0);
  EXPECT_EQ(after + plain, run["ledger"].Int(0, "idle_launch_ns"));
}

TEST(StepParts, WithoutDevicesTheyAreThoseOfTheHost) {
  HandMade trace;
  trace.Step(0, 0, 1000).Loader(0, 300).Operator("aten::mm", 300, 700).Operator("aten::dot", 350, 400);
  Analysed run(trace);
  auto ns = NsByName(run);
  EXPECT_EQ(ns["aten::mm"], 400) << "the outermost operator has all";
  EXPECT_EQ(SumOf(run, "data"), 300);
  EXPECT_EQ(SumOf(run, "python"), 300);
  EXPECT_TRUE(run["step_parts"].IsNull(0, "device"));
}

// Frames of a profiler may overlap by a little without nesting.
TEST(StepParts, NothingTakesLessThanNoTime) {
  HandMade trace;
  trace.Step(0, 0, 1000).Loader(0, 300).Python("a.py(1): a", 100, 250, "").Python("a.py(2): b", 200, 320, "");
  trace.Python("a.py(3): c", 280, 310, "").Operator("aten::mm", 400, 700);
  Analysed run(trace);
  const auto parts = run["step_parts"];
  for (size_t row = 0; row < parts.rows(); ++row) EXPECT_GE(parts.Int(row, "time_ns"), 0) << parts.Text(row, "name");
  EXPECT_EQ(SumOf(run, "data"), 300);
  auto ns = NsByName(run);
  EXPECT_EQ(ns["a.py(1): a"], 100);
  EXPECT_EQ(ns["a.py(2): b"], 80 + 10);
  EXPECT_EQ(ns["a.py(3): c"], 20 + 10);
}

}  // namespace
}  // namespace gapless::internal
