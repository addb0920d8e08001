// SPDX-License-Identifier: Apache-2.0
// Tests table kernel_roofline by hand; tests/ncu_rules_test.py compares it with what Nsight Compute says of the same
// launches.
#include <gtest/gtest.h>

#include <map>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using RooflineCounters = std::map<std::string, double>;

std::shared_ptr<const Trace> WithCounters(const std::vector<RooflineCounters>& launches) {
  TraceBuilder builder;
  for (size_t index = 0; index < launches.size(); ++index)
    for (const auto& [name, value] : launches[index])
      builder.AddKernelMetric(
          {.kernel_name = "k", .launch_index = static_cast<int64_t>(index), .metric = name, .value = value});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

// An addition of matrices on a T4, as a report of ncu has it: memory at 88.39 % of its peak by ncu's own count.
const RooflineCounters kAddition = {
    {"gpu__time_duration.sum", 52576},
    {"dram__bytes.sum.per_second", 262508216676.81073},
    {"dram__bytes.sum.peak_sustained", 64},
    {"dram__cycles_elapsed.avg.per_second", 4640292148.508825},
    {"sm__cycles_elapsed.avg.per_second", 540543213.633597},
    {"smsp__cycles_elapsed.avg.per_second", 540543213.633597},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 2560},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", 35.18698363101522},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed", 0},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", 0},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed", 0}};

TEST(KernelRoofline, AMemoryBoundKernelOfARealReport) {
  Analysed run({WithCounters({kAddition})});
  const auto table = run["kernel_roofline"];
  ASSERT_EQ(table.rows(), 1U) << "it computes nothing in double precision";
  EXPECT_EQ(table.Text(0, "precision"), "fp32");
  EXPECT_NEAR(table.Real(0, "tflops"), 0.0190200852, 1e-9);  // 35.187 additions a cycle, 540.5 MHz
  EXPECT_NEAR(table.Real(0, "peak_tflops"), 2.7675812538, 1e-9);
  EXPECT_NEAR(table.Real(0, "peak_gbps"), 296.9786975, 1e-6);
  EXPECT_NEAR(table.Real(0, "intensity"), 0.0724552, 1e-7);
  EXPECT_NEAR(table.Real(0, "ceiling_share"), 0.8839294, 1e-7);
  EXPECT_EQ(table.Text(0, "bound"), "memory");
  EXPECT_NEAR(table.Real(0, "share"), 1, 1e-9);
}

// Each fused multiply-add is two FLOPs; of halves an instruction has two elements.
TEST(KernelRoofline, WorkIsCountedByPrecisionAndTheNearestToItsPeakIsFirst) {
  RooflineCounters counters = kAddition;
  counters["dram__bytes.sum.per_second"] = 1e9;
  counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"] = 1000;
  counters["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed"] = 2000;
  counters["sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained"] = 2560;
  Analysed run({WithCounters({counters})});
  const auto table = run["kernel_roofline"];
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.Text(0, "precision"), "fp16");
  EXPECT_NEAR(table.Real(0, "tflops"), 540543213.633597 * 8000 / 1e12, 1e-9);
  EXPECT_NEAR(table.Real(0, "ceiling_share"), 2000.0 / 2560, 1e-9);
  EXPECT_EQ(table.Text(0, "bound"), "compute");
  EXPECT_EQ(table.Text(1, "precision"), "fp32");
  EXPECT_NEAR(table.Real(1, "tflops"), 540543213.633597 * 2035.18698363101522 / 1e12, 1e-9);
}

TEST(KernelRoofline, MatrixUnitsAreCountedInOperationsOrInstructions) {
  RooflineCounters newer = {
      {"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum.per_second", 2e14},
      {"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained_elapsed.per_second", 5e14},
      {"sm__ops_path_tensor_src_int8.sum.per_second", 9e14},
      {"sm__ops_path_tensor_src_fp16_dst_fp16.sum.per_second", 0}};
  RooflineCounters older = {{"smsp__inst_executed_pipe_tensor.sum.per_cycle_elapsed", 20},
                            {"sm__inst_executed_pipe_tensor.sum.peak_sustained", 80},
                            {"sm__cycles_elapsed.avg.per_second", 1e9}};
  for (RooflineCounters* of : {&newer, &older})
    of->insert({{"dram__bytes.sum.per_second", 1e9},
                {"dram__bytes.sum.peak_sustained", 1000},
                {"dram__cycles_elapsed.avg.per_second", 1e9}});
  Analysed run({WithCounters({newer, older})});
  const auto table = run["kernel_roofline"];
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.Text(0, "precision"), "tensor_bf16_dst_fp32_sparsity_off");
  EXPECT_NEAR(table.Real(0, "ceiling_share"), 0.4, 1e-9);
  EXPECT_EQ(table.Text(1, "precision"), "tensor");
  EXPECT_NEAR(table.Real(1, "tflops"), 20 * 512 * 1e9 / 1e12, 1e-9);
  EXPECT_NEAR(table.Real(1, "ceiling_share"), 0.25, 1e-9);
}

// Totals over the measured time stand in for what is counted a cycle; without peaks there is no ceiling.
TEST(KernelRoofline, TotalsWithoutPeaksHaveNoCeiling) {
  Analysed run({WithCounters({{{"gpu__time_duration.sum", 1000},
                               {"dram__bytes_read.sum", 3000},
                               {"dram__bytes_write.sum", 1000},
                               {"sm__sass_thread_inst_executed_op_dfma_pred_on.sum", 8000}},
                              {{"gpu__time_duration.sum", 3000}}})});
  const auto table = run["kernel_roofline"];
  ASSERT_EQ(table.rows(), 1U) << "nothing was counted of the second launch";
  EXPECT_EQ(table.Text(0, "precision"), "fp64");
  EXPECT_NEAR(table.Real(0, "tflops"), 0.016, 1e-12);
  EXPECT_NEAR(table.Real(0, "gbps"), 4, 1e-9);
  EXPECT_NEAR(table.Real(0, "intensity"), 4, 1e-9);
  EXPECT_NEAR(table.Real(0, "share"), 0.25, 1e-9);
  EXPECT_TRUE(table.IsNull(0, "ceiling_tflops"));
  EXPECT_TRUE(table.IsNull(0, "bound"));
}

}  // namespace
}  // namespace gapless::internal
