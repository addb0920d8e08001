// SPDX-License-Identifier: Apache-2.0
#include "trace/cut.h"

#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/trace_check.h"

namespace gapless::internal {
namespace {

// Four steps of 100 ns under one function that spans them all. In each an operator calls a launch, whose kernel runs
// 60 ns later, over the end of the step.
std::shared_ptr<const Trace> FourSteps() {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  const auto slice = [&](std::string_view name, SliceCategory category, int64_t start, int64_t dur_ns) {
    return SliceRow{
        .name = shard.Text(name), .category = category, .pid = 1, .tid = 1, .ts_ns = start, .dur_ns = dur_ns};
  };
  shard.Add(slice("train", SliceCategory::kPython, 0, 400));
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t start = step * 100;
    shard.Add(StepRow{.number = step, .name = shard.Text("step"), .ts_ns = start, .dur_ns = 100, .complete = true});
    shard.Add(slice("aten::add", SliceCategory::kOperator, start + 10, 50));
    SliceRow launch = slice("cudaLaunchKernel", SliceCategory::kRuntime, start + 20, 10);
    launch.api = ApiKind::kKernelLaunch, launch.correlation = step;
    shard.Add(launch);
    shard.Add(GpuOpRow{.name = shard.Text("kernel"), .ts_ns = start + 80, .dur_ns = 60, .correlation = step});
  }
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

constexpr Stretch kStepTwo = {.start_ns = 100, .end_ns = 340, .first = StepId(2), .last = StepId(2)};

TEST(Cut, HoldsTogetherAsATraceOfItsOwn) {
  const CutTrace cut = Cut(FourSteps(), kStepTwo);
  EXPECT_TRUE(HoldsTogether(*cut.trace));
  EXPECT_EQ(cut.trace->info.dur_ns, 440);  // that of the whole: telemetry is looked up by it
}

TEST(Cut, TakesTheRowsThatBeginWithinAndGivesThemDepthsOfTheirOwn) {
  const std::shared_ptr<const Trace> whole = FourSteps();
  const CutTrace cut = Cut(whole, kStepTwo);
  const SliceTable& slices = cut.trace->slices;
  ASSERT_EQ(slices.size(), 6U);  // an operator and a launch of each of three steps; "train" began before
  EXPECT_EQ(cut.trace->Text(slices.name[0]), "aten::add");
  EXPECT_EQ(slices.depth[0], 0);
  EXPECT_EQ(slices.depth[1], 1);
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const auto before = row + static_cast<uint32_t>(cut.rows.slice);
    EXPECT_EQ(slices.ts_ns[row], whole->slices.ts_ns[before]);
    EXPECT_EQ(cut.trace->Text(slices.name[row]), whole->Text(whole->slices.name[before]));
  }
}

TEST(Cut, BeginsOnTheDeviceWithWhatItsOwnCallsLaunched) {
  const CutTrace cut = Cut(FourSteps(), kStepTwo);
  const GpuOpTable& ops = cut.trace->gpu_ops;
  ASSERT_EQ(ops.size(), 2U);  // that of step 0 runs until 140, but was launched before; that of step 3 begins at 380
  EXPECT_EQ(ops.ts_ns[0], 180);
  EXPECT_EQ(cut.rows.gpu_op, 1);
  for (size_t op = 0; op < ops.size(); ++op) {
    ASSERT_TRUE(ops.launch[op].valid());
    EXPECT_EQ(cut.trace->slices.correlation[ops.launch[op].value], ops.correlation[op]);
  }
}

TEST(Cut, CountsOnlyTheStepsThatWereAskedFor) {
  const CutTrace cut = Cut(FourSteps(), kStepTwo);
  const StepTable& steps = cut.trace->steps;
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps.number[0], 1);
  EXPECT_EQ(steps.complete[0], 0);
  EXPECT_EQ(steps.complete[1], 1);
  EXPECT_EQ(steps.complete[2], 0);
}

TEST(Cut, OfEverythingIsTheSameTrace) {
  const std::shared_ptr<const Trace> whole = FourSteps();
  const CutTrace cut = Cut(whole, {.start_ns = 0, .end_ns = 1000, .first = StepId(0), .last = StepId(3)});
  ASSERT_EQ(cut.trace->slices.size(), whole->slices.size());
  for (size_t row = 0; row < whole->slices.size(); ++row) {
    EXPECT_EQ(cut.trace->slices.parent[row], whole->slices.parent[row]);
    EXPECT_EQ(cut.trace->slices.depth[row], whole->slices.depth[row]);
    EXPECT_EQ(cut.trace->slices.step[row], whole->slices.step[row]);
  }
}

}  // namespace
}  // namespace gapless::internal
