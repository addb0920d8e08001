// SPDX-License-Identifier: Apache-2.0
// Tests the public analyzers and their text on the sample recording.
#include "gapless/analyzers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gapless/version.h"

namespace gapless {
namespace {

Run OpenSample() { return *Run::Open("samples/resnet50_v100.pt.trace.json.gz", {.use_cache = false}); }

bool WorstFirst(const std::vector<Bottleneck>& all) {
  return std::is_sorted(all.begin(), all.end(),
                        [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
}

TEST(KernelAnalyzerTest, AnUnderusedKernelIsNamed) {
  const KernelMetrics kernels[] = {{.name = "slow", .sm_throughput_pct = 30}, {.name = "unmeasured"}};
  const auto found = KernelAnalyzer::Analyze(kernels);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].type, BottleneckType::kKernelEfficiency);
  EXPECT_NE(found[0].title.find("slow"), std::string::npos);
  EXPECT_LT(30, KernelAnalyzer::kThresholds.sm_throughput_critical_pct);
  EXPECT_NEAR(found[0].severity, 0.7, 1e-9);
}

TEST(DataLoadingAnalyzerTest, TheSampleWaitsForItsData) {
  const auto found = DataLoadingAnalyzer::Analyze(OpenSample());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].type, BottleneckType::kDataLoading);
}

TEST(MultiGPUAnalyzerTest, FromFiguresAlone) {
  const NcclMetrics metrics{.total_step_ns = 100,
                            .nccl_ns = 20,
                            .rank_step_ns = {100, 130},
                            .single_gpu_throughput = 10,
                            .total_throughput = 15};
  EXPECT_EQ(MultiGPUAnalyzer::Analyze(metrics, 2).size(), 3U);
  EXPECT_TRUE(MultiGPUAnalyzer::Analyze(metrics, 1).empty());
  EXPECT_EQ(MultiGPUAnalyzer::ScalingEfficiency(metrics, 2), 0.75);
  EXPECT_FALSE(MultiGPUAnalyzer::ScalingEfficiency({}, 2));
}

TEST(MultiGPUAnalyzerTest, SpeaksOfWhatGpusLoseToEachOtherOnly) {
  const auto two = *gapless::Run::Open("tests/data/two_ranks", {.use_cache = false});
  EXPECT_TRUE(MultiGPUAnalyzer::Analyze(two, 1).empty());
  const auto all = MultiGPUAnalyzer::Analyze(two, 2);
  EXPECT_FALSE(all.empty());
  for (const Bottleneck& found : all) EXPECT_EQ(found.type, BottleneckType::kMultiGpuComm) << found.id;
}

TEST(BottleneckAnalyzerTest, TheWorstFiveAndTheirText) {
  const auto worst = BottleneckAnalyzer::AnalyzeAll(OpenSample());
  EXPECT_EQ(worst.size(), BottleneckAnalyzer::kMax);
  EXPECT_TRUE(WorstFirst(worst));
  const std::string report = BottleneckAnalyzer::GenerateReport(worst);
  for (const char* section :
       {"Critical Issues (severity >0.7)", "Warnings (severity 0.4-0.7)", "Estimated Performance Improvement"})
    EXPECT_NE(report.find(section), std::string::npos) << section;
}

TEST(VersionTest, HeadersAndLibraryAgree) {
  EXPECT_EQ(Version(), GAPLESS_VERSION_STRING);
  EXPECT_EQ(Version(), std::to_string(GAPLESS_VERSION_MAJOR) + "." + std::to_string(GAPLESS_VERSION_MINOR) + "." +
                           std::to_string(GAPLESS_VERSION_PATCH));
}

}  // namespace
}  // namespace gapless
