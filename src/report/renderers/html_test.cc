// SPDX-License-Identifier: Apache-2.0
// Checks that need no browser: the data are complete and inert. tests/html_report.py compares them with SQL, and
// web/test/ reads the page as a person does.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "diagnose/findings.h"
#include "report/page.h"
#include "report/renderer.h"

namespace gapless::internal {
namespace {

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string ReportOf(testing::HandMade& trace) {
  const Run run({trace.Finish()});
  Tables tables(run);
  const Diagnosis diagnosis = Diagnose(tables);
  const RunSummary summary = Summarise(tables, diagnosis);
  return FindRenderer("html")->render(Report{run, tables, diagnosis, summary, {}}, {});
}

std::string_view DataOf(std::string_view page) {
  constexpr std::string_view kStart = "<script type=\"application/json\" id=\"data\">";
  const size_t start = page.find(kStart) + kStart.size();
  return page.substr(start, page.find("</script>", start) - start);
}

TEST(Html, ThePageHasOnePlaceForTheDataAndAllowsItsOwnScriptOnly) {
  const std::string_view page = PageWithCharts();
  EXPECT_EQ(Count(page, "<!--data-->"), 1u);
  EXPECT_EQ(Count(page, "default-src 'none'; script-src 'sha256-"), 1u);
  EXPECT_EQ(Count(page, "src=\""), 0u) << "nothing is loaded from elsewhere";
}

TEST(Html, TheReportIsThePageAroundTheData) {
  testing::HandMade trace;
  trace.Step(0, 0, 1'000).Operator("aten::mm", 100, 600).Kernel("mm", {200, 300, 400, 900});
  const std::string report = ReportOf(trace);
  const std::string_view page = PageWithCharts(), data = DataOf(report);
  EXPECT_EQ(Count(report, "<!--data-->"), 0u);
  EXPECT_EQ(report.size(), page.size() - std::string_view("<!--data-->").size() + data.size());
  EXPECT_TRUE(data.starts_with("{\"page\":") && data.ends_with("}"));
  EXPECT_EQ(Count(data, "\"name\": \"kernels\", \"help\""), 1u);
}

TEST(Html, ATextOfMegabytesIsCut) {
  testing::HandMade trace;
  trace.Step(0, 0, 1'000).Operator("aten::mm", 100, 600);
  trace.Kernel(std::string(5'000'000, 'k'), {200, 300, 400, 900});
  EXPECT_LT(ReportOf(trace).size(), PageWithCharts().size() + 1'000'000);
}

TEST(Html, TextsOfARecordingCannotLeaveTheData) {
  testing::HandMade trace;
  trace.Step(0, 0, 1'000).Operator("</script><script>alert(1)</script><!--", 100, 600);
  trace.Kernel("<img src=x onerror=alert(1)>", {200, 300, 400, 900});
  const std::string report = ReportOf(trace);
  EXPECT_EQ(Count(report, "alert(1)"), Count(DataOf(report), "alert(1)"));
  EXPECT_GE(Count(DataOf(report), "alert(1)"), 2u);
  EXPECT_EQ(Count(DataOf(report), "<"), 0u);
}

}  // namespace
}  // namespace gapless::internal
