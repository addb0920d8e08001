// SPDX-License-Identifier: Apache-2.0
// Tests each rule on a hand-made trace on which it fires, with its texts, and on a trace on which it does not.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"
#include "diagnose/testing/found.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Find;
using testing::HandMade;
using testing::kComm;

bool Advises(const Bottleneck& bottleneck, std::string_view fix) {
  return std::any_of(bottleneck.recommendations.begin(), bottleneck.recommendations.end(),
                     [&](const Recommendation& recommendation) { return recommendation.fix == fix; });
}

std::string AllText(const Bottleneck& bottleneck) {
  std::string text = bottleneck.title + '\n' + bottleneck.description;
  for (const Evidence& item : bottleneck.evidence) text += '\n' + item.text;
  for (const Recommendation& recommendation : bottleneck.recommendations) text += '\n' + recommendation.text;
  return text;
}
#define EXPECT_SAYS(bottleneck, part) \
  EXPECT_NE(AllText(bottleneck).find(part), std::string::npos) << AllText(bottleneck)

// Ten steps of 100 ms; in each the loader takes `load_ms`, then a kernel fills the rest.
void LoadingSteps(HandMade& trace, int64_t load_ms, std::string_view iterator) {
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t t = step * 100 * kMs, loaded = t + load_ms * kMs;
    trace.Step(step, t, t + 100 * kMs).Loader(t, loaded, iterator);
    trace.Copy(CopyKind::kHtoDPageable, {loaded, loaded + 1000, loaded + 2000, loaded + 3000});
    trace.Kernel("k", {loaded + 3000, loaded + 4000, loaded + 5000, t + 100 * kMs});
  }
}

TEST(DataLoadingRule, NamesTheLoaderItsLineAndHowManyWorkersToUse) {
  HandMade trace;
  LoadingSteps(trace, 40, "_SingleProcessDataLoaderIter");
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "data_loading");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->type, BottleneckType::kDataLoading);
  EXPECT_NEAR(*found->share_of_step, 0.4, 0.001);
  EXPECT_NEAR(found->severity, 0.93, 0.005);
  EXPECT_SAYS(*found, "40.0 ms of every step");
  EXPECT_SAYS(*found, "num_workers=2 instead of 0 in train.py:41");
  EXPECT_TRUE(Advises(*found, "workers=2")) << "40 ms a batch in 60 ms of other work, twice over";
  EXPECT_TRUE(Advises(*found, "pin"));
  EXPECT_NEAR(found->gain->high, 1 / 0.6, 0.01);
  EXPECT_NEAR(found->gain->low, 1 / 0.8, 0.01);
  EXPECT_EQ(found->evidence[0].table, "slice");
  EXPECT_EQ(found->evidence[0].source, "train.py:41");
}

TEST(DataLoadingRule, AsksForMoreWhereWorkersExist) {
  HandMade trace;
  LoadingSteps(trace, 40, "_MultiProcessingDataLoaderIter");
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  ASSERT_NE(Find(diagnosis, "data_loading"), nullptr);
  EXPECT_TRUE(Advises(*Find(diagnosis, "data_loading"), "workers"));
}

TEST(DataLoadingRule, IsSilentUnderFivePercent) {
  HandMade trace;
  LoadingSteps(trace, 4, "_SingleProcessDataLoaderIter");
  Analysed run(trace);
  EXPECT_EQ(Find(Diagnose(run.tables()), "data_loading"), nullptr);
}

// One step of `launches` short kernels, each launched by an operator that takes `host_us`.
void LaunchingStep(HandMade& trace, int64_t launches, int64_t host_us, int64_t kernel_us) {
  const int64_t host = host_us * 1000, kernel = kernel_us * 1000;
  trace.Step(0, 0, launches * std::max(host, kernel) + kernel);
  int64_t free = 0;
  for (int64_t i = 0; i < launches; ++i) {
    const int64_t t = i * host, start = std::max(t + host, free);
    trace.Operator("aten::add", t, t + host).Kernel("add", {t + host - 5000, t + host - 1000, start, start + kernel});
    free = start + kernel;
  }
}

TEST(LaunchBoundRule, SpeaksWhenTheHostTakesLongerThanTheKernels) {
  HandMade trace;
  LaunchingStep(trace, 100, 20, 5);
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "launch_bound");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(*found->share_of_step, 0.75, 0.01);
  EXPECT_SAYS(*found, "100 launches a step");
  EXPECT_SAYS(*found, "aten::add");
  EXPECT_SAYS(*found, "half of the kernels are shorter than 5.00 µs");
  EXPECT_TRUE(Advises(*found, "compile"));
  EXPECT_TRUE(Advises(*found, "cudagraph"));
  EXPECT_FALSE(Advises(*found, "fused_optimizer"));
}

TEST(LaunchBoundRule, IsSilentWhenTheHostRunsAhead) {
  HandMade trace;
  LaunchingStep(trace, 100, 20, 100);
  Analysed run(trace);
  EXPECT_EQ(Find(Diagnose(run.tables()), "launch_bound"), nullptr);
}

// A step that reads its loss with .item(), after which the device idles for `idle_us` while Python runs.
void StepWithItem(HandMade& trace, int64_t idle_us) {
  const int64_t idle = idle_us * 1000;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 1'000'000;
    trace.Step(step, t, t + 1'000'000).Kernel("k", {t + idle, t + idle + 2000, t + idle + 3000, t + 990'000});
    trace.Operator("aten::item", t + idle + 10'000, t + 992'000)
        .Call("cudaStreamSynchronize", ApiKind::kStreamSync, t + idle + 11'000, t + 991'000, testing::kMain,
              "train.py:77");
  }
}

TEST(ImplicitSyncRule, NamesTheCallAndItsLine) {
  HandMade trace;
  StepWithItem(trace, 200);
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "implicit_sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->type, BottleneckType::kCpuGpuSync);
  EXPECT_GT(*found->share_of_step, 0.1);
  EXPECT_SAYS(*found, "aten::item (cudaStreamSynchronize) in train.py:77: once a step");
  EXPECT_SAYS(*found, "read the value every N steps");
  EXPECT_EQ(found->evidence[0].source, "train.py:77");
  EXPECT_TRUE(Advises(*found, "sync"));
}

TEST(ImplicitSyncRule, CountsOnePlaceOnceOverAllRanks) {
  HandMade first, second;
  StepWithItem(first.Rank(0), 200);
  StepWithItem(second.Rank(1), 300);
  Analysed run(std::vector{first.Finish(), second.Finish()});
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "implicit_sync");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].rows.size(), 2u) << "the longest wait of each rank";
  EXPECT_EQ(found->recommendations.size(), 1u);
  EXPECT_SAYS(*found, "rank 1 is worst");
}

TEST(ImplicitSyncRule, IsSilentWhenLittleFollowsTheWait) {
  HandMade trace;
  StepWithItem(trace, 10);
  Analysed run(trace);
  EXPECT_EQ(Find(Diagnose(run.tables()), "implicit_sync"), nullptr);
}

// A step that waits for the device twice: in an operator, after which it idles for `implicit_us`, and in a synchronise
// call, after which it idles for `explicit_us`.
void StepWithBothWaits(HandMade& trace, int64_t implicit_us, int64_t explicit_us) {
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * kMs, first = t + implicit_us * 1000, second = t + 500'000 + explicit_us * 1000;
    trace.Step(step, t, t + kMs).Kernel("a", {first, first + 1000, first + 2000, t + 500'000});
    trace.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, first + 3000, t + 501'000);
    trace.Kernel("b", {second, second + 1000, second + 2000, t + 999'000});
    trace.Operator("aten::item", second + 3000, t + 999'900)
        .Call("cudaStreamSynchronize", ApiKind::kStreamSync, second + 4000, t + 999'800);
  }
}

TEST(SyncRules, TellWaitsTheProgramAskedForFromThoseOfOperators) {
  HandMade trace;
  StepWithBothWaits(trace, 150, 100);
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck *asked = Find(diagnosis, "explicit_sync"), *hidden = Find(diagnosis, "implicit_sync");
  ASSERT_NE(asked, nullptr);
  ASSERT_NE(hidden, nullptr);
  EXPECT_NEAR(*asked->share_of_step, 0.102, 0.002);
  EXPECT_NEAR(*hidden->share_of_step, 0.102, 0.003) << "two of three steps: the last has none after it";
  EXPECT_SAYS(*asked, "cudaDeviceSynchronize");
  EXPECT_SAYS(*hidden, "aten::item");
}

TEST(SyncRules, SpeakFromFivePercentTogetherAndTwoAlone) {
  HandMade both, little;
  StepWithBothWaits(both, 35, 30);
  StepWithBothWaits(little, 15, 15);
  Analysed run(both), quiet(little);
  const Diagnosis diagnosis = Diagnose(run.tables()), nothing = Diagnose(quiet.tables());
  EXPECT_NE(Find(diagnosis, "explicit_sync"), nullptr) << "3 %";
  EXPECT_NE(Find(diagnosis, "implicit_sync"), nullptr) << "a bit more than 2 %";
  EXPECT_EQ(Find(nothing, "explicit_sync"), nullptr);
  EXPECT_EQ(Find(nothing, "implicit_sync"), nullptr);
}

// One rank: computes for 600 µs, communicates for `exposed_us` after it.
std::shared_ptr<const Trace> ExposedRank(int64_t rank, int64_t exposed_us) {
  HandMade trace;
  const int64_t end = 600'000 + exposed_us * 1000;
  trace.Rank(rank)
      .Step(0, 0, 1'000'000)
      .Kernel("gemm", {0, 1000, 2000, 600'000})
      .Kernel("nccl", {2000, 3000, 500'000, end}, kComm);
  trace.Collective("all_reduce", 500'000, end, 1 << 20).Kernel("optimizer", {3000, 4000, end, 1'000'000});
  return trace.Finish();
}

TEST(ExposedCommunicationRule, TellsTheStragglerFromTheTransfer) {
  Analysed run(std::vector{ExposedRank(0, 300), ExposedRank(1, 100)});
  const Diagnosis diagnosis = Diagnose(run.tables());
  const Bottleneck* found = Find(diagnosis, "exposed_communication");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->type, BottleneckType::kMultiGpuComm);
  EXPECT_NEAR(*found->share_of_step, 0.2, 0.001) << "the mean over the ranks";
  EXPECT_SAYS(*found, "rank 0 is worst with 30.0 %");
  EXPECT_SAYS(*found, "all_reduce: 2 calls");
  EXPECT_SAYS(*found, "find out what delays rank 1");
  EXPECT_TRUE(Advises(*found, "straggler"));
  EXPECT_TRUE(Advises(*found, "ddp_bucket=50"));
}

TEST(ExposedCommunicationRule, IsSilentWhenComputationHidesIt) {
  Analysed run(std::vector{ExposedRank(0, 0), ExposedRank(1, 10)});
  EXPECT_EQ(Find(Diagnose(run.tables()), "exposed_communication"), nullptr);
}

std::shared_ptr<const Trace> MatrixTrace(DeviceRow device, MatrixUnit unit, std::string_view types = R"(["float"])") {
  HandMade trace;
  trace.Device(std::move(device)).Step(0, 0, 1'000'000).Operator("aten::mm", 0, 10'000, testing::kMain, types);
  trace.Kernel("volta_sgemm", {1000, 2000, 3000, 800'000}, {.op_class = GpuOpClass::kGemm, .matrix_unit = unit});
  return trace.Finish();
}
const DeviceRow kV100{.vendor = Vendor::kNvidia, .name = "Tesla V100", .compute_major = 7, .compute_minor = 0};
const DeviceRow kA100{.vendor = Vendor::kNvidia, .name = "NVIDIA A100", .compute_major = 8, .compute_minor = 0};
const DeviceRow kP100{.vendor = Vendor::kNvidia, .name = "Tesla P100", .compute_major = 6, .compute_minor = 0};
const DeviceRow kMi300{.vendor = Vendor::kAmd, .name = "AMD Instinct MI300X", .compute_major = 9, .compute_minor = 4};

TEST(NoTensorCoresRule, AdvisesWhatTheDeviceCanDo) {
  Analysed v100(std::vector{MatrixTrace(kV100, MatrixUnit::kNo)}),
      a100(std::vector{MatrixTrace(kA100, MatrixUnit::kNo)});
  Analysed mi300(std::vector{MatrixTrace(kMi300, MatrixUnit::kNo)});
  const Diagnosis on_v100 = Diagnose(v100.tables()), on_a100 = Diagnose(a100.tables()),
                  on_mi300 = Diagnose(mi300.tables());
  const Bottleneck* found = Find(on_v100, "no_tensor_cores");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(*found->share_of_step, 0.797, 0.001);
  EXPECT_SAYS(*found, "Tesla V100, on float32 tensors");
  EXPECT_SAYS(*found, "volta_sgemm");
  EXPECT_TRUE(Advises(*found, "amp=fp16"));
  EXPECT_FALSE(Advises(*found, "tf32")) << "compute capability 7 has none";
  ASSERT_NE(Find(on_a100, "no_tensor_cores"), nullptr);
  EXPECT_TRUE(Advises(*Find(on_a100, "no_tensor_cores"), "amp=bf16"));
  EXPECT_TRUE(Advises(*Find(on_a100, "no_tensor_cores"), "tf32"));
  ASSERT_NE(Find(on_mi300, "no_tensor_cores"), nullptr);
  EXPECT_TRUE(Advises(*Find(on_mi300, "no_tensor_cores"), "amp=bf16"));
  EXPECT_FALSE(Advises(*Find(on_mi300, "no_tensor_cores"), "tf32"));
}

TEST(NoTensorCoresRule, HalfPrecisionThatMissesTheUnitsIsAMatterOfShapes) {
  Analysed run(std::vector{MatrixTrace(kA100, MatrixUnit::kNo, R"(["c10::Half"])")});
  const Diagnosis diagnosis = Diagnose(run.tables());
  ASSERT_NE(Find(diagnosis, "no_tensor_cores"), nullptr);
  EXPECT_SAYS(*Find(diagnosis, "no_tensor_cores"), "multiples of 8");
  EXPECT_FALSE(Advises(*Find(diagnosis, "no_tensor_cores"), "amp=bf16"));
}

std::shared_ptr<const Trace> NotDescribed(std::string_view kernel) {
  HandMade trace;
  trace.Step(0, 0, 1'000'000).Operator("aten::mm", 0, 10'000);
  trace.Kernel(kernel, {1000, 2000, 3000, 800'000}, {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo});
  return trace.Finish();
}

TEST(NoTensorCoresRule, ReadsTheGenerationFromNamesOfKernelsAndSaysSo) {
  Analysed volta(std::vector{NotDescribed("volta_sgemm_128x64_nn")});
  Analysed ampere(std::vector{NotDescribed("ampere_sgemm_128x64_nn")});
  const Diagnosis on_volta = Diagnose(volta.tables()), on_ampere = Diagnose(ampere.tables());
  const Bottleneck *old = Find(on_volta, "no_tensor_cores"), *newer = Find(on_ampere, "no_tensor_cores");
  ASSERT_NE(old, nullptr);
  EXPECT_SAYS(*old, "does not describe the GPU");
  EXPECT_SAYS(*old, "volta_sgemm_128x64_nn is made for compute capability 7, which has matrix units on all but GTX 16");
  EXPECT_SAYS(*old, "if the GPU has matrix units, use mixed precision");
  EXPECT_TRUE(Advises(*old, "amp=fp16"));
  ASSERT_NE(newer, nullptr);
  EXPECT_SAYS(*newer, "compute capability 8 and newer");
  EXPECT_TRUE(Advises(*newer, "amp=bf16"));
  EXPECT_TRUE(Advises(*newer, "tf32"));
  EXPECT_LT(old->gain->confidence, newer->gain->confidence);
  Analysed described(std::vector{MatrixTrace(kA100, MatrixUnit::kNo)});
  EXPECT_LT(newer->gain->confidence, Find(Diagnose(described.tables()), "no_tensor_cores")->gain->confidence);
  for (const std::string_view kernel : {"maxwell_sgemm_128x64_nn", "sgemm_nn"}) {
    Analysed run(std::vector{NotDescribed(kernel)});
    EXPECT_EQ(Find(Diagnose(run.tables()), "no_tensor_cores"), nullptr) << kernel;
  }
}

TEST(NoTensorCoresRule, IsSilentWhereThereAreNoneOrAllIsOnThemOrNobodyKnows) {
  for (const auto& trace : {MatrixTrace(kP100, MatrixUnit::kNo), MatrixTrace(kV100, MatrixUnit::kYes),
                            MatrixTrace(kV100, MatrixUnit::kUnknown)}) {
    Analysed run(std::vector{trace});
    EXPECT_EQ(Find(Diagnose(run.tables()), "no_tensor_cores"), nullptr);
  }
}

TEST(Diagnosis, IsRankedByExpectedGain) {
  HandMade trace;  // loading idles a tenth of the time; matrix kernels off the units take the rest
  trace.Device(kV100);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 100 * kMs;
    trace.Step(step, t, t + 100 * kMs).Loader(t, t + 10 * kMs);
    trace.Kernel("volta_sgemm", {t + 10 * kMs, t + 10 * kMs + 1000, t + 10 * kMs + 2000, t + 100 * kMs},
                 {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo});
  }
  Analysed run(trace);
  const Diagnosis diagnosis = Diagnose(run.tables());
  ASSERT_EQ(diagnosis.bottlenecks.size(), 2u);
  EXPECT_EQ(diagnosis.bottlenecks[0].id, "no_tensor_cores");
  EXPECT_EQ(diagnosis.bottlenecks[1].id, "data_loading");
  EXPECT_GT(diagnosis.bottlenecks[0].gain->expected, diagnosis.bottlenecks[1].gain->expected);
}

// --- what every rule promises
// -------------------------------------------------------------------------------------------

TEST(EveryRule, IsDescribedAndNeedsWhatExists) {
  ASSERT_FALSE(AllRules().empty());
  for (const Rule* rule : AllRules()) {
    SCOPED_TRACE(std::string(rule->id));
    EXPECT_FALSE(rule->title.empty());
    EXPECT_LE(rule->title.size(), 72u);
    EXPECT_FALSE(rule->why.empty());
    EXPECT_FALSE(rule->needs.empty());
    for (const std::string_view need : rule->needs)
      EXPECT_TRUE(std::any_of(AllAnalyses().begin(), AllAnalyses().end(), [&](const Analysis* analysis) {
        return analysis->name == need;
      })) << need;
  }
}

TEST(EveryRule, IsSilentOnAnEmptyRun) {
  Analysed run{std::vector<std::shared_ptr<const Trace>>{}};
  const Diagnosis diagnosis = Diagnose(run.tables());
  EXPECT_TRUE(diagnosis.bottlenecks.empty());
  EXPECT_TRUE(diagnosis.failures.empty());
}

TEST(EveryBottleneck, IsCompleteAndItsEvidenceNamesRowsThatExist) {
  HandMade loading, launching, waiting;
  LoadingSteps(loading, 40, "_SingleProcessDataLoaderIter");
  LaunchingStep(launching, 100, 20, 5);
  StepWithItem(waiting, 200);
  const std::vector<std::vector<std::shared_ptr<const Trace>>> runs = {{loading.Finish()},
                                                                       {launching.Finish()},
                                                                       {waiting.Finish()},
                                                                       {ExposedRank(0, 300), ExposedRank(1, 100)},
                                                                       {MatrixTrace(kV100, MatrixUnit::kNo)}};
  for (const auto& traces : runs) {
    Analysed run(traces);
    for (const Bottleneck& bottleneck : Diagnose(run.tables()).bottlenecks) {
      SCOPED_TRACE(bottleneck.id);
      EXPECT_TRUE(std::any_of(AllRules().begin(), AllRules().end(), [&](const Rule* rule) {
        return rule->id == bottleneck.id && (rule->type == bottleneck.type || bottleneck.id == "other_waste");
      }));
      EXPECT_FALSE(bottleneck.title.empty());
      EXPECT_TRUE(bottleneck.description.ends_with('.'));
      EXPECT_NEAR(bottleneck.severity, SeverityOfShare(*bottleneck.share_of_step), 1e-12);
      EXPECT_EQ(bottleneck.gain.has_value(), bottleneck.id != "other_waste") << "it knows no remedy";
      if (bottleneck.gain) {
        EXPECT_LE(1, bottleneck.gain->low);
        EXPECT_LE(bottleneck.gain->low, bottleneck.gain->expected);
        EXPECT_LE(bottleneck.gain->expected, bottleneck.gain->high);
      }
      EXPECT_FALSE(bottleneck.recommendations.empty());
      EXPECT_FALSE(bottleneck.evidence.empty());
      for (const Evidence& evidence : bottleneck.evidence) {
        EXPECT_FALSE(evidence.text.empty());
        EXPECT_LE(evidence.rows.size(), 20u);
        for (const int64_t row : evidence.rows) EXPECT_GE(row, 0);
      }
    }
  }
}

}  // namespace
}  // namespace gapless::internal
