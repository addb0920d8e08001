// SPDX-License-Identifier: Apache-2.0
// Tests table summed_ops: both sides of a summary, and their shares.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

std::shared_ptr<const Trace> SummaryOf(bool is_summary) {
  TraceBuilder builder;
  builder.info().format = "op_table";
  if (is_summary) builder.AddEnvironment("summary", "key_averages");
  builder.AddEnvironment("summary.device_ns", "2000");
  builder.AddHostFunction({.file = "", .function = "aten::mm", .calls = 4, .self_ns = 3'000, .total_ns = 9'000});
  for (int64_t row = 0; row < 2; ++row) {
    const std::string_view name = row == 0 ? "Memcpy HtoD" : "gemm";
    builder.AddKernelMetric({.kernel_name = name, .launch_index = row, .metric = "summary.calls", .value = 2});
    builder.AddKernelMetric(
        {.kernel_name = name, .launch_index = row, .metric = "summary.total", .value = row == 0 ? 500.0 : 1'000.0});
  }
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

TEST(SummedOps, HaveASideEachAndTheLargestFirst) {
  testing::Analysed run({SummaryOf(true)});
  const auto ops = run["summed_ops"];
  ASSERT_EQ(ops.rows(), 3U);
  EXPECT_EQ(ops.Text(0, "name"), "gemm");
  EXPECT_EQ(ops.Real(0, "share"), 0.5) << "of the total that the profiler gives";
  EXPECT_EQ(ops.Int(0, "mean_ns"), 500);
  EXPECT_EQ(ops.Text(1, "class"), "copy");
  EXPECT_EQ(ops.Text(2, "side"), "host");
  EXPECT_EQ(ops.Int(2, "total_ns"), 3'000) << "its own time";
}

TEST(SummedOps, OfARecordingThatIsNoSummaryThereAreNone) {
  testing::Analysed run({SummaryOf(false)});
  EXPECT_EQ(run["summed_ops"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
