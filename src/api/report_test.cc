// SPDX-License-Identifier: Apache-2.0
// The diagnosis of a run, as values and as reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "gapless/run.h"

namespace gapless {
namespace {

class ReportTest : public ::testing::Test {
 protected:
  static const gapless::Run& Sample() {
    static const gapless::Run kRun =
        *gapless::Run::Open("samples/resnet50_v100.pt.trace.json.gz", {.use_cache = false});
    return kRun;
  }
  // Read in no time.
  static const gapless::Run& Small() {
    static const gapless::Run kRun = *gapless::Run::Open("tests/data/two_ranks", {.use_cache = false});
    return kRun;
  }
};

TEST_F(ReportTest, BottlenecksAreRankedByWhatFixingThemBrings) {
  const std::vector<Bottleneck> found = Sample().Diagnose();
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found[0].id, "data_loading");
  EXPECT_EQ(ToString(found[0].type), "DATA_LOADING");
  std::vector<double> gains;  // what the same remedy cures hangs under it, without a gain of its own
  for (const Bottleneck& bottleneck : found)
    if (bottleneck.gain) gains.push_back(bottleneck.gain->expected);
  EXPECT_GE(gains.size(), 3U);
  EXPECT_TRUE(std::is_sorted(gains.rbegin(), gains.rend()));
  EXPECT_TRUE(Sample().RuleFailures().empty());
}

TEST_F(ReportTest, TheSummaryAddsUp) {
  const RunSummary summary = Sample().Summary();
  EXPECT_EQ(summary.steps, 6);
  EXPECT_EQ(summary.run_class, "input bound");
  ASSERT_EQ(summary.breakdown.size(), 1U);
  const DeviceBreakdown& device = summary.breakdown[0];
  EXPECT_FALSE(device.rank) << "the sample has no rank";
  EXPECT_EQ(device.compute_ns + device.exposed_comm_ns + device.exposed_copy_ns + device.idle_ns, device.wall_ns);
  EXPECT_FALSE(summary.scaling);
  const RunSummary scaled = Sample().Summary(summary.step_ns->median);
  ASSERT_TRUE(scaled.scaling);
  EXPECT_FALSE(scaled.scaling->estimated);
  EXPECT_DOUBLE_EQ(scaled.scaling->efficiency, 1);
}

TEST_F(ReportTest, EveryFormThatIsListedRenders) {
  const std::vector<FormatInfo> formats = gapless::Run::Formats();
  EXPECT_GE(formats.size(), 3U);
  for (const FormatInfo& format : formats) {
    const auto report = Small().Render(format.name);
    ASSERT_TRUE(report) << format.name;
    EXPECT_NE(report->find("two_ranks"), std::string::npos) << format.name;
    EXPECT_FALSE(format.help.empty());
  }
}

TEST_F(ReportTest, AnUnknownFormNamesTheOneMeant) {
  const auto report = Small().Render("jsn");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUsage);
  EXPECT_EQ(report.error().hint, "did you mean json?");
  EXPECT_NE(Small().Render("%").error().hint.find("markdown"), std::string::npos);
}

TEST_F(ReportTest, RulesCanBeChosen) {
  const auto only = Small().Render("json", {}, {.only = {"data_loading"}});
  ASSERT_TRUE(only);
  EXPECT_NE(only->find("\"data_loading\""), std::string::npos);
  EXPECT_EQ(only->find("\"id\": \"zero_grad\""), std::string::npos);
  const auto without = Small().Render("markdown", {}, {.without = {"data_loading"}});
  EXPECT_EQ(without->find("DATA_LOADING"), std::string::npos);
  const auto unknown = Small().Render("json", {}, {.only = {"data_loadin"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().hint, "did you mean data_loading?");
}

TEST_F(ReportTest, RatesTellWhatFixesSave) {
  const auto report = Small().Render("json", {}, {.rates = {.price_per_gpu_hour = 2.5}});
  ASSERT_TRUE(report);
  EXPECT_NE(report->find("\"cost\""), std::string::npos);
  EXPECT_EQ(Small().Render("json")->find("\"cost\""), std::string::npos);
}

TEST_F(ReportTest, NumbersThatMeanNothingAreErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const AnalyzeOptions& options :
       {AnalyzeOptions{.rates = {.price_per_gpu_hour = -1}}, AnalyzeOptions{.rates = {.watts_per_gpu = nan}},
        AnalyzeOptions{.rates = {.gpus = 0}}, AnalyzeOptions{.rates = {.hours_per_month = 0}},
        AnalyzeOptions{.single_step_ns = 0}}) {
    const auto report = Small().Render("json", {}, options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kUsage);
  }
}

TEST_F(ReportTest, AnyWidthIsBounded) {
  for (const int width : {std::numeric_limits<int>::min(), 0, std::numeric_limits<int>::max()})
    EXPECT_TRUE(Small().Render("terminal", {.width = width}));
}

TEST_F(ReportTest, ARunWithoutDevicesSaysSo) {
  const auto run = gapless::Run::Open("tests/data/cpu_only.json", {.use_cache = false});
  ASSERT_TRUE(run);
  const RunSummary summary = run->Summary();
  EXPECT_EQ(summary.total.wall_ns, 0);
  EXPECT_FALSE(summary.gpu_busy_share);
  for (const FormatInfo& format : gapless::Run::Formats()) EXPECT_TRUE(run->Render(format.name)) << format.name;
}

}  // namespace
}  // namespace gapless
