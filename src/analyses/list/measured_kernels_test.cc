// SPDX-License-Identifier: Apache-2.0
// Tests table measured_kernels: matching of profiled kernels with launches by function, grid, block, template arguments
// and order.
#include <gtest/gtest.h>

#include <cmath>

#include "analyses/testing/hand_made.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

// A recording of a kernel profiler: metrics alone.
class Measured {
 public:
  Measured& Launch(std::string_view kernel, std::string_view grid, double sm_pct, double duration_ns = 100) {
    Text(kernel, "grid", grid);
    Text(kernel, "block", "(256, 1, 1)");
    Value(kernel, "sm__throughput.avg.pct_of_peak_sustained_elapsed", sm_pct);
    Value(kernel, "gpu__time_duration.sum", duration_ns);
    ++launch_;
    return *this;
  }
  std::shared_ptr<const Trace> Finish() {
    builder_.info().format = "ncu_csv";
    return std::make_shared<const Trace>(std::move(builder_).Finish());
  }

 private:
  void Value(std::string_view kernel, std::string_view metric, double value) {
    builder_.AddKernelMetric({.kernel_name = kernel, .launch_index = launch_, .metric = metric, .value = value});
  }
  void Text(std::string_view kernel, std::string_view metric, std::string_view text) {
    builder_.AddKernelMetric(
        {.kernel_name = kernel, .launch_index = launch_, .metric = metric, .value = std::nan(""), .text = text});
  }
  TraceBuilder builder_{};
  int64_t launch_ = 0;
};

GpuOpDraft Sized(int32_t grid) {
  GpuOpDraft op;
  op.grid_x = grid, op.grid_y = 1, op.grid_z = 1;
  op.block_x = 256, op.block_y = 1, op.block_z = 1;
  return op;
}

// The table of the timeline and the metrics together.
struct Joined {
  Joined(testing::HandMade& timeline, Measured& metrics) : run({timeline.Finish(), metrics.Finish()}), tables(run) {}
  testing::TableByName table() { return tables.Get("measured_kernels"); }
  Run run;
  Tables tables;
};

TEST(MeasuredKernels, AreFoundByFunctionGridAndBlock) {
  testing::HandMade timeline;
  timeline.Kernel("void ns::scan<4>(float*)", {0, 1, 10, 40}, Sized(8));
  timeline.Kernel("void ns::scan<4>(float*)", {2, 3, 50, 60}, Sized(8));
  timeline.Kernel("void ns::scan<4>(float*)", {4, 5, 70, 170}, Sized(16));  // another grid
  Measured metrics;
  metrics.Launch("scan", "(8, 1, 1)", 30).Launch("scan", "(8, 1, 1)", 50).Launch("other", "(8, 1, 1)", 10);
  Joined joined(timeline, metrics);
  const auto table = joined.table();
  ASSERT_EQ(table.rows(), 2U);
  const size_t scan = table.Text(0, "kernel_name") == "other" ? 1 : 0;
  EXPECT_EQ(table.Text(scan, "kernel_name"), "void ns::scan<4>(float*)");
  EXPECT_EQ(table.Int(scan, "launches"), 2);
  EXPECT_DOUBLE_EQ(table.Real(scan, "sm_pct"), 40);  // their mean
  EXPECT_EQ(table.Int(scan, "calls"), 2);
  EXPECT_EQ(table.Int(scan, "total_ns"), 40);
  EXPECT_TRUE(table.IsNull(1 - scan, "calls"));  // "other" is not in the timeline
  EXPECT_TRUE(table.IsNull(1 - scan, "dram_pct"));
}

// Both profilers have template arguments: kernels that differ in them alone are kept apart.
TEST(MeasuredKernels, AreKeptApartByTemplateArguments) {
  testing::HandMade timeline;
  timeline.Kernel("void add<float, 4>(float*)", {0, 1, 10, 20}, Sized(8));
  timeline.Kernel("void add<half, 4>(half*)", {2, 3, 20, 50}, Sized(8));
  Measured metrics;
  metrics.Launch("void add<half, (int)4>(half *)", "(8, 1, 1)", 30);
  Joined joined(timeline, metrics);
  ASSERT_EQ(joined.table().rows(), 1U);
  EXPECT_EQ(joined.table().Int(0, "total_ns"), 30);
}

// ncu prints the function alone, and two kernels have it: as many launches as there are operations pair in order.
TEST(MeasuredKernels, ArePairedInOrder) {
  testing::HandMade timeline;
  timeline.Kernel("void add<float>(float*)", {0, 1, 10, 20}, Sized(8));
  timeline.Kernel("void add<half>(half*)", {2, 3, 20, 50}, Sized(8));
  Measured metrics;
  metrics.Launch("add", "(8, 1, 1)", 30).Launch("add", "(8, 1, 1)", 60);
  Joined joined(timeline, metrics);
  const auto table = joined.table();
  ASSERT_EQ(table.rows(), 2U);
  const size_t half = table.Text(0, "kernel_name") == "void add<half>(half*)" ? 0 : 1;
  EXPECT_DOUBLE_EQ(table.Real(half, "sm_pct"), 60);
  EXPECT_EQ(table.Int(half, "total_ns"), 30);
}

// Other numbers of launches: which is which is not known, so all that fit are meant.
TEST(MeasuredKernels, MeanAllThatFitWhereTheOrderIsNotKnown) {
  testing::HandMade timeline;
  timeline.Kernel("void add<float>(float*)", {0, 1, 10, 20}, Sized(8));
  timeline.Kernel("void add<half>(half*)", {2, 3, 20, 50}, Sized(8));
  Measured metrics;
  metrics.Launch("add", "(8, 1, 1)", 30);
  Joined joined(timeline, metrics);
  ASSERT_EQ(joined.table().rows(), 1U);
  EXPECT_EQ(joined.table().Text(0, "kernel_name"), "add");
  EXPECT_EQ(joined.table().Int(0, "total_ns"), 40);
}

}  // namespace
}  // namespace gapless::internal
