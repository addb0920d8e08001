// SPDX-License-Identifier: Apache-2.0
// Tests the text, the chart and the page of `gapless trend`, for short and for difficult histories.
#include "report/trend/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/pattern.h"
#include "base/strings.h"
#include "report/trend/view.h"
#include "report/trend/words.h"

namespace gapless::internal {
namespace {

constexpr int64_t kDayNs = 86'400'000'000'000;
constexpr std::string_view kHostile = "<script>alert(1)</script>\x1b[31m\xff' onload=\"x&y";

std::string Hash(size_t number) {
  std::string digits = StrCat("00", number, "abcdef0123456789");
  return digits + digits;
}

// A value a day from 2026-01-01 on, a commit each.
Trend DayByDay(const std::vector<double>& values, std::string metric = "step_time_ms") {
  constexpr int64_t kBegin = int64_t{20454} * kDayNs;
  Trend trend{.metric = std::move(metric), .unit = "ms", .higher_is_better = false};
  for (size_t i = 0; i < values.size(); ++i)
    trend.points.push_back(
        {.unix_ns = kBegin + static_cast<int64_t>(i) * kDayNs, .value = values[i], .commit = Hash(i)});
  FindTrend(trend);
  return trend;
}

// `count` runs at each level, a little apart.
std::vector<double> Steps(std::initializer_list<double> levels, size_t count = 20) {
  std::vector<double> values;
  for (const double level : levels)
    for (size_t i = 0; i < count; ++i)
      values.push_back(level + 0.01 * level * (static_cast<double>(i * 7 % 5) / 5 - 0.4));
  return values;
}

TrendReport ReportOf(std::vector<Trend> trends) {
  TrendReport report{.place = "sqlite:h.db", .branch = "main", .benchmark = "resnet50"};
  report.runs = trends.empty() ? 0 : trends[0].points.size();
  report.trends = std::move(trends);
  return report;
}

size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Attributes that hold numbers hold numbers.
void ExpectFinite(const std::string& svg) {
  static const Pattern& none = *new Pattern(*Pattern::Make("(x|y|x1|x2|y1|y2|cx|cy)=\"[^\"]*(nan|inf)", "the test"));
  EXPECT_FALSE(none.IsIn(svg)) << svg.substr(0, 3000);
}

TEST(TrendTextTest, AChangeSaysWhenHowMuchAndByWhichCommits) {
  const std::string text = TrendText(ReportOf({DayByDay(Steps({100, 120}))}), true);
  EXPECT_TRUE(text.starts_with("40 runs of resnet50 on main, 2026-01-01 to 2026-02-09\n")) << text;
  EXPECT_TRUE(Has(text, "step_time_ms: 40 runs, last ")) << text;
  EXPECT_TRUE(Has(text, "lower is better")) << text;
  EXPECT_TRUE(Has(text, "2026-01-21 0020abcdef  +20.0 %  ")) << text;
  EXPECT_TRUE(Has(text, "regression\n      git log 0019abcdef..0020abcdef\n")) << text;
}

TEST(TrendTextTest, KeepsToEightyColumnsAndToAscii) {
  std::vector<Trend> trends = {DayByDay(Steps({100, 120, 90})), DayByDay(Steps({1e-7, 2e-7})), DayByDay({1, 2})};
  trends[1].unit = "s";
  for (const bool utf8 : {true, false}) {
    const std::string text = TrendText(ReportOf(trends), utf8);
    for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 80) << line;
    for (const char c : text) EXPECT_TRUE(utf8 || c >= 0) << text;
  }
}

TEST(TrendTextTest, HundredsOfChangesAreCut) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i)
    for (const double value : Steps({i % 2 == 0 ? 100.0 : 130.0}, 10)) values.push_back(value);
  const std::string text = TrendText(ReportOf({DayByDay(values)}), true);
  EXPECT_TRUE(Has(text, "87 earlier changes are left out")) << text;
  EXPECT_LT(Count(text, "\n"), 40U);
}

TEST(TrendTextTest, OfWhatThereIsLittleLittleIsSaid) {
  EXPECT_EQ(TrendText(ReportOf({}), true), "no runs in sqlite:h.db\n");
  const std::string one = TrendText(ReportOf({DayByDay({5})}), true);
  EXPECT_TRUE(Has(one, "1 run of")) << one;
  EXPECT_TRUE(Has(one, "too few to find a change of level; needs at least 10")) << one;
  const std::string constant = TrendText(ReportOf({DayByDay(std::vector<double>(50, 3.25))}), true);
  EXPECT_TRUE(Has(constant, "no change of level")) << constant;
}

TEST(TrendTextTest, ABareSeriesHasPlaces) {
  Trend trend = DayByDay(Steps({100, 120}));
  for (TrendPoint& point : trend.points) point.unix_ns.reset(), point.commit.clear();
  TrendReport report = ReportOf({trend});
  report.is_history = false;
  const std::string text = TrendText(report, true);
  EXPECT_TRUE(Has(text, "value 21")) << text;
  EXPECT_FALSE(Has(text, "git log")) << text;
}

TEST(TrendTextTest, WhatElseChangedAndASteadyCommitAreSaid) {
  Trend trend = DayByDay(Steps({100, 150}));
  for (TrendPoint& point : trend.points) point.commit = Hash(1);
  trend.also_changed = {{"driver 550 to 560"}};
  const std::string text = TrendText(ReportOf({trend}), true);
  EXPECT_TRUE(Has(text, "the commit is the same before and after")) << text;
  EXPECT_TRUE(Has(text, "also changed: driver 550 to 560")) << text;
}

TEST(TrendWordsTest, FourDigitsAndUnits) {
  EXPECT_EQ(FourDigits(0), "0");
  EXPECT_EQ(FourDigits(871.23), "871.2");
  EXPECT_EQ(FourDigits(99.998), "100.0");
  EXPECT_EQ(FourDigits(12345.6), "12,346");
  EXPECT_EQ(FourDigits(-0.0211449), "-0.02114");
  EXPECT_EQ(FourDigits(1e300), "1.000e+300");
  EXPECT_EQ(AmountOf(24.8e-6, "s"), "24.80 µs");
  EXPECT_EQ(AmountOf(1.5, "s"), "1.500 s");
  EXPECT_EQ(AmountOf(0, "s"), "0 s");
  EXPECT_EQ(AmountOf(34.4e9, "bytes"), "34.40 GB");
  EXPECT_EQ(FromTo(0.9e-3, 1.1e-3, "s"), "0.9000 to 1.100 ms");
  EXPECT_EQ(SignedPercent(-0.04), "-4.0 %");
  EXPECT_EQ(SignedPercent(1e300), "+9,999 % or more");
}

TEST(TrendWordsTest, CommandsAreMadeOfHashesOnly) {
  Trend trend = DayByDay(Steps({100, 150}));
  for (TrendPoint& point : trend.points) point.commit = point.value > 120 ? "--output=x" : "$(rm -rf /)";
  const std::string text = CommitsText(trend, trend.changes.at(0));
  EXPECT_FALSE(Has(text, "git log")) << text;
  EXPECT_TRUE(Has(text, "up to --output=x")) << text;
}

TEST(TrendViewTest, SpansTheValuesButNotFarOutliers) {
  std::vector<double> values = Steps({100}, 200);
  values[50] = 1e9;
  const TrendView view = ViewOf(DayByDay(values));
  EXPECT_LT(view.high, 110);
  EXPECT_GT(view.low, 90);
  const TrendView all = ViewOf(DayByDay({1, 2, 3}));
  EXPECT_LT(all.low, 1);
  EXPECT_GT(all.high, 3);
}

TEST(TrendViewTest, TicksAreRoundAndFew) {
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const std::vector<double>& values : std::vector<std::vector<double>>{{5},
                                                                            {0, 0, 0},
                                                                            {-1, 1},
                                                                            {1e-300, 2e-300},
                                                                            {1e9, 1e9 + 1e-6},
                                                                            {0, 5e-324},
                                                                            {-kMax, kMax},
                                                                            {1e18, 1e18 + 512},
                                                                            {0.1, 0.3}}) {
    const TrendView view = ViewOf(DayByDay(values));
    EXPECT_LT(view.low, view.high);
    EXPECT_TRUE(std::isfinite(view.low) && std::isfinite(view.high));
    EXPECT_LE(view.ticks.at.size(), 11U) << values[0];
    for (const double tick : view.ticks.at) EXPECT_FALSE(view.LabelOf(tick).empty());
  }
}

TEST(TrendSvgTest, HasEveryRunLevelAndChange) {
  const std::string svg = TrendSvg(ReportOf({DayByDay(Steps({100, 120})), DayByDay(Steps({7}))}));
  EXPECT_EQ(Count(svg, "<circle class=\"p\""), 60U);
  EXPECT_EQ(Count(svg, "<line class=\"l\""), 3U + 2U) << "levels, and one in each legend";
  EXPECT_EQ(Count(svg, "<line class=\"w\""), 1U + 2U);
  EXPECT_TRUE(Has(svg, "git log 0019abcdef..0020abcdef</title>"));
  EXPECT_TRUE(Has(svg, "prefers-color-scheme:dark"));
  ExpectFinite(svg);
}

TEST(TrendSvgTest, LabelsKeepApart) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i)
    for (const double value : Steps({i % 2 == 0 ? 100.0 : 130.0}, 10)) values.push_back(value);
  const std::string svg = TrendSvg(ReportOf({DayByDay(values)}));
  const auto label = Pattern::Make("class=\"[wbc]t h\" text-anchor=\"middle\" x=\"([0-9.]+)\"", "the test");
  std::vector<double> places;
  label->ForEach(svg, [&](std::string_view place) { places.push_back(std::stod(std::string(place))); });
  std::sort(places.begin(), places.end());
  ASSERT_GT(places.size(), 5U);
  for (size_t i = 1; i < places.size(); ++i) EXPECT_GT(places[i] - places[i - 1], 60);
}

TEST(TrendSvgTest, StaysSmallHoweverManyRuns) {
  std::vector<double> values = Steps({100, 104, 99}, 7000);
  const Trend trend = DayByDay(values);
  const std::string svg = TrendSvg(ReportOf({trend}));
  EXPECT_LT(svg.size(), 100'000U);
  EXPECT_EQ(Count(svg, "<circle"), 0U);
  ExpectFinite(svg);
}

TEST(TrendSvgTest, OddValuesGiveNumbers) {
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const std::vector<double>& values : std::vector<std::vector<double>>{
           {}, {5}, {0, 0}, {-kMax, kMax}, std::vector<double>(30, -1e-300), {1e9, 1e9 + 1e-6}, {0, 5e-324}}) {
    const TrendReport report = values.empty() ? ReportOf({}) : ReportOf({DayByDay(values)});
    ExpectFinite(TrendSvg(report));
    EXPECT_FALSE(TrendHtml(report).empty());
    EXPECT_FALSE(TrendText(report, true).empty());
  }
}

TEST(TrendReportTest, HostileNamesAreTextEverywhere) {
  Trend trend = DayByDay(Steps({100, 120}), std::string(kHostile));
  trend.unit = kHostile;
  for (TrendPoint& point : trend.points) point.commit = StrCat(point.value > 110 ? "a" : "b", kHostile);
  trend.also_changed = {{StrCat("driver ", kHostile)}};
  TrendReport report = ReportOf({trend});
  report.benchmark = report.place = report.branch = kHostile;
  report.notes.emplace_back(kHostile);
  const std::string svg = TrendSvg(report), text = TrendText(report, true), html = TrendHtml(report);
  EXPECT_FALSE(Has(svg, "<script") || Has(svg, "\"x&y") || Has(svg, "\x1b")) << svg.substr(0, 2000);
  EXPECT_FALSE(Has(text, "\x1b")) << text;
  EXPECT_FALSE(Has(html, "<script>alert") || Has(html, "\x1b"));
  EXPECT_FALSE(Has(TrendJson(report), "\x1b"));
}

TEST(TrendHtmlTest, HoldsTheDataOnceAndAsTextForThoseWithoutScripts) {
  const std::string html = TrendHtml(ReportOf({DayByDay(Steps({100, 120})), DayByDay(Steps({7, 9}), "other")}));
  EXPECT_EQ(Count(html, "{\"trend\":"), 1U);
  EXPECT_EQ(Count(html, "\"times\":"), 1U + Count(TrendHtml(ReportOf({})), "\"times\":")) << "both have the same runs";
  const size_t begin = html.find("<noscript>"), end = html.find("</noscript>");
  ASSERT_LT(begin, end);
  const std::string without = html.substr(begin, end - begin);
  EXPECT_TRUE(Has(without, "<svg") && Has(without, "git log 0019abcdef..0020abcdef")) << without.substr(0, 500);
}

TEST(TrendJsonTest, AbsentIsAbsent) {
  Trend trend = DayByDay(std::vector<double>(5, 1.0));
  trend.higher_is_better.reset(), trend.unit.clear();
  const std::string json = TrendJson(ReportOf({trend}));
  for (const std::string_view key : {"higher_is_better", "unit", "drift", "commits_after"})
    EXPECT_FALSE(Has(json, StrCat("\"", key, "\""))) << json;
  EXPECT_TRUE(Has(json, "\"changes\": []")) << json;
}

}  // namespace
}  // namespace gapless::internal
