// SPDX-License-Identifier: Apache-2.0
// Tests the report: its sections, the estimate of all fixes together, and findings that are part of others.
#include "diagnose/bottleneck_analyzer.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

Bottleneck Made(std::string id, double severity, double factor, std::string part_of = {}) {
  Bottleneck one;
  one.id = std::move(id);
  one.type = BottleneckType::kDataLoading;
  one.severity = severity;
  one.title = "title of " + one.id;
  one.description = "It waits.";
  one.evidence.push_back({"40 ms", {}, "", "", {}, "train.py:3"});
  one.recommendations.push_back({"do this", "", "", "minutes"});
  if (factor > 1) one.gain = Gain{.low = 1, .expected = factor, .high = factor, .confidence = 0.5, .method = "amdahl"};
  one.part_of = std::move(part_of);
  return one;
}

TEST(BottleneckAnalyzer, ReportHasCriticalIssuesWarningsAndAnEstimate) {
  const std::vector<Bottleneck> all = {Made("a", 0.9, 2), Made("b", 0.5, 1.25), Made("c", 0.2, 1)};
  EXPECT_EQ(BottleneckAnalyzer::GenerateReport(all),
            "Critical Issues (severity >0.7)\n"
            "1. DATA_LOADING (severity 0.90): title of a\n"
            "   It waits.\n"
            "   - 40 ms (train.py:3)\n"
            "   -> do this\n"
            "\n"
            "Warnings (severity 0.4-0.7)\n"
            "1. DATA_LOADING (severity 0.50): title of b\n"
            "   It waits.\n"
            "   - 40 ms (train.py:3)\n"
            "   -> do this\n"
            "\n"
            "Estimated Performance Improvement\n"
            "2.50x (1.00-2.50x) if all of the above are fixed\n")
      << "half of the time goes, and then a fifth";
}

TEST(BottleneckAnalyzer, WhatIsPartOfAnotherIsNotCountedTwice) {
  const std::vector<Bottleneck> all = {Made("a", 0.9, 2), Made("b", 0.5, 1.25, "a")};
  EXPECT_NE(BottleneckAnalyzer::GenerateReport(all).find("2.00x (1.00-2.00x)"), std::string::npos);
}

TEST(BottleneckAnalyzer, SaysSoWhenThereIsNothing) {
  EXPECT_EQ(BottleneckAnalyzer::GenerateReport({}),
            "Critical Issues (severity >0.7)\nnone\n\nWarnings (severity 0.4-0.7)\nnone\n\n"
            "Estimated Performance Improvement\nnone can be estimated\n");
}

TEST(BottleneckAnalyzer, TakesTheWorstFive) {
  testing::HandMade trace;
  trace.Step(0, 0, 1'000'000).Loader(0, 400'000).Kernel("k", {400'000, 400'010, 400'020, 1'000'000});
  testing::Analysed run(trace);
  const std::vector<Bottleneck> all = BottleneckAnalyzer::AnalyzeAll(run.tables());
  ASSERT_FALSE(all.empty());
  EXPECT_LE(all.size(), BottleneckAnalyzer::kMax);
  EXPECT_EQ(all[0].id, "data_loading");
  for (size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i - 1].severity, all[i].severity);
}

}  // namespace
}  // namespace gapless::internal
