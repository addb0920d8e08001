// SPDX-License-Identifier: Apache-2.0
// Tests the three tests of data loading, and that a run with data in time has no finding.
#include "diagnose/data_loading_analyzer.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Steps of 100 ms: loading, a copy, then a kernel to the end.
void Steps(HandMade& trace, int64_t load_ms, int64_t copy_ms) {
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t t = step * 100 * kMs, loaded = t + load_ms * kMs, copied = loaded + copy_ms * kMs;
    trace.Step(step, t, t + 100 * kMs).Loader(t, loaded);
    trace.Copy(CopyKind::kHtoDPageable, {loaded, loaded + 100, loaded + 100, copied});
    trace.Kernel("k", {loaded + 200, loaded + 300, copied, t + 100 * kMs});
  }
}

TEST(DataLoadingAnalyzer, NamesTheLoaderAndItsLongGaps) {
  HandMade trace;
  Steps(trace, 60, 1);
  Analysed run(trace);
  const auto figures = DataLoadingAnalyzer::FiguresOf(run.tables());
  EXPECT_EQ(figures.long_gaps, 4);
  EXPECT_EQ(*figures.loader_ns, 240 * kMs);
  EXPECT_GT(*figures.loader_ns, *figures.gpu_ns);
  const auto found = DataLoadingAnalyzer::Analyze(run.tables());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "data_loading");
  std::string text;
  for (const Evidence& item : found[0].evidence) text += item.text + '\n';
  EXPECT_NE(text.find("4 gaps of more than 5 ms while a batch is made, the longest 60.0 ms"), std::string::npos)
      << text;
  EXPECT_NE(text.find("longer than the GPU works"), std::string::npos) << text;
}

TEST(DataLoadingAnalyzer, CopiesThatTakeMoreThanHalfOfTheStep) {
  HandMade trace;
  Steps(trace, 2, 60);
  Analysed run(trace);
  const auto found = DataLoadingAnalyzer::Analyze(run.tables());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "copies_to_device");
  EXPECT_NEAR(*found[0].share_of_step, 0.6, 0.01);
}

TEST(DataLoadingAnalyzer, SilentWhereDataComesInTimeOrNothingWasRecorded) {
  HandMade trace;
  Steps(trace, 2, 1);
  Analysed run(trace);
  EXPECT_TRUE(DataLoadingAnalyzer::Analyze(run.tables()).empty());
  Analysed nothing{std::vector<std::shared_ptr<const Trace>>{}};
  EXPECT_TRUE(DataLoadingAnalyzer::Analyze(nothing.tables()).empty());
  EXPECT_FALSE(DataLoadingAnalyzer::FiguresOf(nothing.tables()).loader_ns);
  EXPECT_FALSE(DataLoadingAnalyzer::FiguresOf(nothing.tables()).copy_share);
}

}  // namespace
}  // namespace gapless::internal
