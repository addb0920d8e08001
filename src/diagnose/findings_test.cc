// SPDX-License-Identifier: Apache-2.0
// Tests the summary of a run: utilisation, time breakdown, step times, verdicts, and the estimates of gains.
#include "diagnose/findings.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "diagnose/estimate.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

RunSummary SummaryOf(HandMade& trace) {
  Analysed run(trace);
  return Summarise(run.tables(), Diagnose(run.tables()));
}

// Multiprocessor activity by DCGM counts before the driver's share of time with a kernel; the mean over the GPUs.
TEST(Summary, UtilizationHasItsSource) {
  HandMade both;
  both.Format("telemetry").Counter("gpu.utilization", 0, 0.9, 0).Counter("gpu.utilization", 0, 0.7, 1);
  EXPECT_NEAR(*SummaryOf(both).gpu_utilization, 80, 1e-9);
  HandMade dcgm;
  dcgm.Format("gpu_samples").Counter("gpu.utilization", 0, 0.9, 0).Counter("gpu.dcgm.sm_active", 0, 0.4, 0);
  const RunSummary measured = SummaryOf(dcgm);
  EXPECT_NEAR(*measured.gpu_utilization, 40, 1e-9);
  EXPECT_EQ(measured.gpu_utilization_source, "sm_active");
}

TEST(Summary, UtilizationOfARecordingIsItsBusyShareAndOfNoGpuAbsent) {
  HandMade timeline;
  timeline.Kernel("k", {0, 1, 0, 60}).Kernel("k", {2, 3, 80, 100});
  const RunSummary summary = SummaryOf(timeline);
  EXPECT_NEAR(*summary.gpu_utilization, 100 * *summary.gpu_busy_share, 1e-9);
  EXPECT_EQ(summary.gpu_utilization_source, "busy_share");
  HandMade host;
  host.Operator("aten::mm", 0, 10);
  const RunSummary without = SummaryOf(host);
  EXPECT_FALSE(without.gpu_utilization);
  EXPECT_EQ(without.gpu_utilization_source, "");
}

TEST(Severity, IsTheOneOfTheContract) {
  EXPECT_EQ(SeverityOfShare(0), 0);
  EXPECT_NEAR(SeverityOfShare(0.08), 0.41, 0.005);
  EXPECT_NEAR(SeverityOfShare(0.18), 0.70, 0.005);
  EXPECT_NEAR(SeverityOfShare(0.40), 0.93, 0.005);
}

TEST(BottleneckTypes, AreNamedAsRequested) {
  EXPECT_EQ(ToString(BottleneckType::kKernelEfficiency), "KERNEL_EFFICIENCY");
  EXPECT_EQ(ToString(BottleneckType::kDataLoading), "DATA_LOADING");
  EXPECT_EQ(ToString(BottleneckType::kCpuGpuSync), "CPU_GPU_SYNC");
  EXPECT_EQ(ToString(BottleneckType::kMultiGpuComm), "MULTI_GPU_COMM");
}

TEST(Estimate, IsAmdahlOverTheTimeThatGoesAway) {
  const Gain gain = EstimateGain({.wall_ns = 100, .low_ns = 10, .expected_ns = 20, .high_ns = 50, .confidence = 0.5});
  EXPECT_DOUBLE_EQ(gain.low, 1 / 0.9);
  EXPECT_DOUBLE_EQ(gain.expected, 1 / 0.8);
  EXPECT_DOUBLE_EQ(gain.high, 2);
  EXPECT_EQ(gain.method, "amdahl");
}

TEST(Estimate, NeverPromisesMoreThanAFactorOfTwenty) {
  const Gain gain = EstimateGain({.wall_ns = 100, .low_ns = -5, .expected_ns = 100, .high_ns = 500});
  EXPECT_EQ(gain.low, 1);
  EXPECT_NEAR(gain.high, 20, 1e-9);
}

TEST(Estimate, TogetherFixesRemoveAtMostTheTimeThereIs) {
  LedgerView ledger;
  ledger.total = {.wall_ns = 100, .compute_ns = 70, .idle_ns = 30};
  RemovableTime time(ledger);
  time.Take(0.2, BottleneckType::kDataLoading);
  EXPECT_NEAR(time.LeftOf(0.25, BottleneckType::kLaunchBound), 0.1, 1e-12) << "of 30 % that are idle";
  EXPECT_DOUBLE_EQ(time.LeftOf(0.7, BottleneckType::kKernelEfficiency), 0.7) << "kernels are other time";
  EXPECT_DOUBLE_EQ(time.LeftOf(0.2, BottleneckType::kMultiGpuComm), 0.2) << "none communicates: it is other time";
  time.Take(0.1, BottleneckType::kHostBound);
  EXPECT_NEAR(time.LeftOf(0.1, BottleneckType::kLaunchBound), 0, 1e-12);
}

TEST(Estimate, WithoutADeviceThereIsOnlyTheHostsTime) {
  RemovableTime time{LedgerView{}};
  time.Take(0.5, BottleneckType::kDataLoading);
  EXPECT_DOUBLE_EQ(time.LeftOf(0.9, BottleneckType::kKernelEfficiency), 0.45);
}

TEST(Diagnosis, APartNamesAWholeThatIsFound) {
  constexpr int64_t kMs = 1'000'000;
  const auto wholes = [](int64_t other_ms) {  // 5 ms of each step are idle while saving, `other_ms` in other Python
    HandMade trace;
    for (int64_t step = 0; step < 6; ++step) {
      const int64_t t = step * 100 * kMs, saved = t + 5 * kMs, free = saved + other_ms * kMs;
      trace.Step(step, t, t + 100 * kMs).Python("torch/serialization.py(965): save", t, saved, "train.py:9");
      if (free > saved) trace.Python("train.py(12): prepare", saved, free, "train.py:12");
      trace.Kernel("k", {free, free + 1000, free + 2000, t + 100 * kMs});
    }
    Analysed run(trace);
    std::string text;
    for (const Bottleneck& bottleneck : Diagnose(run.tables()).bottlenecks)
      text += bottleneck.id + " < " + bottleneck.part_of + "; ";
    return text;
  };
  EXPECT_EQ(wholes(30), "host_bound < ; checkpoint_save < host_bound; ");
  EXPECT_EQ(wholes(0), "checkpoint_save < ; ") << "host_bound does not fire";
}

TEST(Summary, StepTimesAndRanks) {
  HandMade trace;
  trace.Rank(3);
  int64_t t = 0;
  for (int64_t step = 0; step < 4; ++step, t += 1000) trace.Step(step, t, t + 1000);
  trace.Step(4, t, t + 2000);
  const RunSummary summary = SummaryOf(trace);
  EXPECT_EQ(summary.ranks, std::vector<int64_t>{3});
  EXPECT_EQ(summary.steps, 5);
  ASSERT_TRUE(summary.step_ns);
  EXPECT_EQ(summary.step_ns->median, 1000);
  EXPECT_EQ(summary.step_ns->p95, 1800) << "between the last two, as numpy has it";
  EXPECT_TRUE(summary.run_class.empty()) << "no device did work";
  EXPECT_FALSE(summary.gpu_busy_share);
  EXPECT_FALSE(summary.estimated_speedup);
}

TEST(Summary, TheBreakdownIsTheLedgers) {
  HandMade trace;
  trace.Device({.device = 0, .name = "Tesla V100"}).Step(0, 0, 1000).Kernel("a", {0, 10, 20, 900});
  const RunSummary summary = SummaryOf(trace);
  ASSERT_EQ(summary.breakdown.size(), 1u);
  EXPECT_EQ(summary.breakdown[0].device_name, "Tesla V100");
  EXPECT_EQ(summary.breakdown[0].compute_ns, 880);
  EXPECT_EQ(summary.breakdown[0].idle_ns, 120);
  EXPECT_EQ(summary.total.wall_ns, 1000);
  EXPECT_NEAR(*summary.gpu_busy_share, 0.88, 1e-12);
}

TEST(Summary, WithoutADeviceTheHostHasALedger) {
  HandMade trace;
  trace.Rank(2).Step(0, 0, 1000).Loader(0, 250).Operator("aten::mm", 300, 500);
  trace.Annotation("Optimizer.step#AdamW.step", 600, 800).Operator("aten::mul_", 650, 750);
  const RunSummary summary = SummaryOf(trace);
  ASSERT_EQ(summary.host_breakdown.size(), 1u);
  const HostBreakdown& host = summary.host_breakdown[0];
  EXPECT_EQ(host.rank, 2);
  EXPECT_EQ(host.steps, 1);
  EXPECT_EQ(host.data_ns, 250);
  EXPECT_EQ(host.python_ns, 350);
  EXPECT_EQ(host.optimizer_ns, 200);
  EXPECT_EQ(host.operator_ns + host.optimizer_ns + host.collective_ns + host.data_ns + host.python_ns + host.save_ns +
                host.gc_ns + host.compile_ns,
            host.wall_ns);
  HandMade device;
  device.Step(0, 0, 1000).Loader(0, 300).Kernel("k", {500, 510, 520, 600});
  EXPECT_TRUE(SummaryOf(device).host_breakdown.empty()) << "a device's ledger has the say";
}

TEST(Summary, TheLargestWasteGivesTheClass) {
  HandMade computing, loading, communicating, dark;
  computing.Step(0, 0, 1000).Kernel("a", {0, 10, 20, 950});
  loading.Step(0, 0, 1000).Loader(0, 300).Kernel("a", {310, 320, 330, 1000});
  communicating.Step(0, 0, 1000)
      .Kernel("a", {0, 10, 20, 500})
      .Kernel("nccl", {10, 20, 500, 1000}, {.op_class = GpuOpClass::kCommunication});
  dark.Unlaunched("a", 0, 100).Unlaunched("b", 900, 1000);
  EXPECT_EQ(SummaryOf(computing).run_class, "compute bound");
  EXPECT_EQ(SummaryOf(loading).run_class, "input bound");
  EXPECT_EQ(SummaryOf(communicating).run_class, "communication bound");
  EXPECT_EQ(SummaryOf(dark).run_class, "unknown");
  HandMade again;
  again.Step(0, 0, 1000).Loader(0, 300).Kernel("a", {310, 320, 330, 1000});
  EXPECT_EQ(SummaryOf(again).class_evidence,
            "the GPU spends 30.0 % of the time idle while the host loads data; it computes for 67.0 %");
}

// The class agrees with the bars: a waste of a fifth does not name a run that computes for four fifths, one of a third
// does, and many small wastes together are idling, which is named after the largest of them.
TEST(Summary, TheClassAgreesWithTheBars) {
  const auto loads = [](int64_t loading) {
    HandMade trace;
    trace.Step(0, 0, 1'000'000).Loader(0, loading);
    trace.Kernel("gemm", {loading + 1'000, loading + 2'000, loading + 10'000, 1'000'000});
    return SummaryOf(trace);
  };
  EXPECT_EQ(loads(200'000).run_class, "compute bound");
  EXPECT_NE(loads(200'000).class_evidence.find("the largest waste, 20.0 %, is idle while the host loads data"),
            std::string::npos)
      << loads(200'000).class_evidence;
  EXPECT_EQ(loads(330'000).run_class, "input bound");
  EXPECT_EQ(loads(330'000).limit, "I/O");
  HandMade small_wastes;
  small_wastes.Step(0, 0, 1000).Loader(0, 250).Kernel("a", {300, 500, 500, 700});
  small_wastes.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 700, 950).Kernel("b", {960, 970, 980, 1000});
  EXPECT_EQ(SummaryOf(small_wastes).run_class, "input bound") << "idle for 78 %, a quarter of it each";
}

TEST(Summary, ComputingIsTheMemorysMatterWhenMostKernelsMoveData) {
  HandMade trace;
  trace.Step(0, 0, 1000).Kernel("gemm", {0, 10, 20, 400}, {.op_class = GpuOpClass::kGemm});
  trace.Kernel("relu", {1, 11, 400, 1000}, {.op_class = GpuOpClass::kPointwise});
  const RunSummary summary = SummaryOf(trace);
  EXPECT_EQ(summary.run_class, "memory bound");
  EXPECT_EQ(summary.limit, "GPU memory");
}

TEST(Summary, SharesOfMatrixUnitsAndPageableCopies) {
  HandMade trace;
  trace.Kernel("gemm", {0, 10, 20, 100}, {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes});
  trace.Kernel("relu", {1, 11, 100, 120})
      .Copy(CopyKind::kHtoDPageable, {12, 13, 120, 150})
      .Copy(CopyKind::kHtoDPinned, {14, 15, 150, 160});
  const RunSummary summary = SummaryOf(trace);
  EXPECT_DOUBLE_EQ(*summary.matrix_time_share, 0.8);
  EXPECT_DOUBLE_EQ(*summary.matrix_unit_share, 1);
  EXPECT_DOUBLE_EQ(*summary.pageable_share, 0.75);
}

}  // namespace

namespace {

Diagnosis Three() {
  Diagnosis diagnosis;
  for (const char* id : {"a", "b", "c"}) diagnosis.bottlenecks.push_back({.id = id});
  return diagnosis;
}

std::string IdsOf(const Diagnosis& diagnosis) {
  std::string ids;
  for (const Bottleneck& bottleneck : diagnosis.bottlenecks) ids += bottleneck.id;
  return ids;
}

class FindingsTest : public ::testing::Test {
 protected:
  gapless::internal::Run run;  // testing::Test has a Run of its own
  Tables tables{run};
};

TEST(Findings, AreThoseOfTheRulesAskedForInTheOrderOfTheDiagnosis) {
  EXPECT_EQ(IdsOf(Choose(Three(), {})), "abc");
  EXPECT_EQ(IdsOf(Choose(Three(), {.only = {"c", "a"}})), "ac");
  EXPECT_EQ(IdsOf(Choose(Three(), {.without = {"b"}})), "ac");
  EXPECT_EQ(IdsOf(Choose(Three(), {.only = {"a", "b"}, .without = {"b"}})), "a");
}

TEST_F(FindingsTest, NothingIsCostedWithoutARate) { EXPECT_FALSE(Conclude(tables, Three(), {}).cost); }

}  // namespace

}  // namespace gapless::internal
