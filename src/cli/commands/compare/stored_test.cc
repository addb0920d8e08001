// SPDX-License-Identifier: Apache-2.0
// Two files of results: which series are compared, what is said of them, and what is not.
#include "cli/commands/compare/stored.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

using Values = std::vector<double>;

ResultSeries Series(Values values, Sampling sampling = Sampling::kProcess) {
  return {
      .name = "x", .unit = "s", .values = std::move(values), .unit_of_sampling = sampling, .higher_is_better = false};
}
ResultFile File(std::vector<ResultSeries> series) {
  return {.tool = "plain", .series = std::move(series), .facts = {}};
}

// Ten values around one, 1 % apart at most, none twice.
Values Around(double level, double shift = 0) {
  Values values;
  for (int i = 0; i < 10; ++i) values.push_back(level * (1 + 0.001 * ((i * 7) % 10 - 4.5) + shift));
  return values;
}

StoredComparison Compare(ResultSeries a, ResultSeries b, const StoredOptions& options = {}) {
  auto found = CompareStored(File({std::move(a)}), File({std::move(b)}), options);
  EXPECT_TRUE(found) << found.error().ToString();
  return found ? *found : StoredComparison();
}

std::string Refusal(const ResultFile& a, const ResultFile& b, const StoredOptions& options = {}) {
  const auto found = CompareStored(a, b, options);
  EXPECT_FALSE(found);
  return found ? "" : found.error().ToString();
}

TEST(StoredTest, FasterAndSlower) {
  const StoredComparison faster = Compare(Series(Around(1.0)), Series(Around(0.8)));
  EXPECT_EQ(faster.verdict, SpeedVerdict::kFaster);
  EXPECT_NEAR(faster.speedup.expected, 1.25, 0.005);
  EXPECT_LT(*faster.speedup.low, 1.25);
  EXPECT_GT(*faster.speedup.high, 1.25);
  EXPECT_LT(*faster.p_mann_whitney, 0.001);
  EXPECT_LT(*faster.p_welch, 0.001);
  const StoredComparison slower = Compare(Series(Around(0.8)), Series(Around(1.0)));
  EXPECT_EQ(slower.verdict, SpeedVerdict::kSlower);
  EXPECT_NEAR(slower.speedup.expected, 0.8, 0.005);
}

TEST(StoredTest, MoreIsFasterWhereMoreIsBetter) {
  ResultSeries a = Series(Around(100)), b = Series(Around(125));
  a.higher_is_better = b.higher_is_better = true;
  const StoredComparison found = Compare(a, b);
  EXPECT_EQ(found.verdict, SpeedVerdict::kFaster);
  EXPECT_NEAR(found.speedup.expected, 1.25, 0.005);
  EXPECT_LE(*found.speedup.low, *found.speedup.high);
  a.higher_is_better.reset(), b.higher_is_better.reset();
  EXPECT_EQ(Compare(a, b).verdict, SpeedVerdict::kSlower) << "without a word, less is better";
  EXPECT_EQ(Compare(a, b, {.higher_is_better = true}).verdict, SpeedVerdict::kFaster);
  b.higher_is_better = true;
  EXPECT_EQ(Compare(a, b).verdict, SpeedVerdict::kFaster) << "one file records it";
}

TEST(StoredTest, EquivalentWithinTheMarginElseItCannotBeTold) {
  const ResultSeries a = Series(Around(1.0)), b = Series(Around(1.0, 0.0004));
  EXPECT_EQ(Compare(a, b, {.margin = 0.02}).verdict, SpeedVerdict::kEquivalent);
  EXPECT_EQ(Compare(a, b, {.margin = 0.001}).verdict, SpeedVerdict::kCannotTell);
  EXPECT_EQ(Compare(a, b, {.margin = 0}).verdict, SpeedVerdict::kCannotTell);
}

TEST(StoredTest, IterationsCarryNoVerdictHoweverMany) {
  Values a, b;
  for (int i = 0; i < 200; ++i) {
    for (const double value : Around(1.0)) a.push_back(value + 1e-7 * i);
    for (const double value : Around(0.5)) b.push_back(value + 1e-7 * i);
  }
  const StoredComparison found = Compare(Series(a, Sampling::kIteration), Series(b, Sampling::kIteration));
  EXPECT_EQ(found.verdict, SpeedVerdict::kCannotTell);
  EXPECT_NEAR(found.speedup.expected, 2, 0.02) << "what they show is said";
  EXPECT_FALSE(found.speedup.low || found.speedup.high || found.p_mann_whitney || found.p_welch || found.mde_share);
  const std::string text = StoredText(found);
  EXPECT_NE(text.find("no number of iterations"), std::string::npos) << text;
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 80) << line;
}

TEST(StoredTest, MorePairsThanCanBeLookedAtStillHaveARatio) {
  const StoredComparison found =
      Compare(Series(Values(5000, 2.0), Sampling::kIteration), Series(Values(5000, 1.0), Sampling::kIteration));
  EXPECT_DOUBLE_EQ(found.speedup.expected, 2);
}

TEST(StoredTest, TheUserMaySayWhatAValueIs) {
  const ResultSeries a = Series(Around(1.0), Sampling::kUnknown), b = Series(Around(0.8), Sampling::kUnknown);
  EXPECT_EQ(Compare(a, b).verdict, SpeedVerdict::kCannotTell);
  EXPECT_NE(StoredText(Compare(a, b)).find("--values process"), std::string::npos);
  EXPECT_EQ(Compare(a, b, {.sampling = Sampling::kProcess}).verdict, SpeedVerdict::kFaster);
  EXPECT_EQ(Compare(Series(Around(1.0)), Series(Around(0.8), Sampling::kIteration)).sampling, Sampling::kUnknown);
}

TEST(StoredTest, FewProcessesTellNothing) {
  const StoredComparison one = Compare(Series({1.0}), Series({0.5}));
  EXPECT_EQ(one.verdict, SpeedVerdict::kCannotTell);
  EXPECT_DOUBLE_EQ(one.speedup.expected, 2);
  EXPECT_FALSE(one.speedup.low || one.p_welch || one.mde_share);
  const std::string text = StoredText(one);
  EXPECT_NE(text.find("a verdict takes 4"), std::string::npos) << text;
  EXPECT_EQ(text.find("median of 1"), std::string::npos) << text;
  EXPECT_EQ(Compare(Series({1.0, 1.01, 0.99}), Series(Around(0.5))).verdict, SpeedVerdict::kCannotTell);
  EXPECT_EQ(Compare(Series({1.0, 1.01, 0.99, 1.02}), Series(Around(0.5))).verdict, SpeedVerdict::kFaster)
      << "the counts may differ";
}

TEST(StoredTest, ConstantValuesCompare) {
  const StoredComparison same = Compare(Series(Values(8, 1.0)), Series(Values(8, 1.0)));
  EXPECT_EQ(same.speedup.expected, 1);
  EXPECT_NE(same.verdict, SpeedVerdict::kFaster);
  EXPECT_NE(same.verdict, SpeedVerdict::kSlower);
  EXPECT_FALSE(StoredJson(same).empty());
  EXPECT_EQ(Compare(Series(Values(8, 1.0)), Series(Values(8, 0.5))).verdict, SpeedVerdict::kFaster);
}

TEST(StoredTest, WhatHasNoRatioIsRefused) {
  for (const double value : {0.0, -1.0})
    EXPECT_NE(Refusal(File({Series({1, 2, value})}), File({Series({1, 2})})).find("above zero"), std::string::npos);
}

TEST(StoredTest, DifferentQuantitiesAreRefused) {
  ResultSeries seconds = Series({1, 2}), bytes = Series({1, 2}), none = Series({1, 2}), rate = Series({1, 2});
  bytes.unit = "bytes", none.unit = "", rate.higher_is_better = true;
  EXPECT_NE(Refusal(File({seconds}), File({bytes})).find("cannot compare: the units differ: s and bytes"),
            std::string::npos);
  EXPECT_NE(Refusal(File({seconds}), File({none})).find("s and none"), std::string::npos);
  EXPECT_NE(Refusal(File({seconds}), File({rate})).find("worse in the other"), std::string::npos);
}

TEST(StoredTest, WhichSeries) {
  const auto named = [](std::string name, Values values) {
    ResultSeries series = Series(std::move(values));
    series.name = std::move(name);
    return series;
  };
  const ResultFile a = File({named("p", {1}), named("q", {1, 2}), named("r", {1, 2})}),
                   b = File({named("q", {2, 3}), named("p", {2})}), c = File({named("q", {2, 3}), named("r", {4, 5})}),
                   d = File({named("z", {2, 3}), named("y", {1})});
  const auto chosen = [](const ResultFile& x, const ResultFile& y, const std::string& series) {
    const auto found = CompareStored(x, y, {.series = series});
    return found ? found->name : found.error().ToString();
  };
  EXPECT_EQ(chosen(a, b, ""), "q") << "the only one with more than one value";
  EXPECT_EQ(chosen(a, b, "p"), "p");
  EXPECT_NE(chosen(a, c, "").find("--series names one of q, r"), std::string::npos);
  EXPECT_NE(chosen(a, c, "p").find("there are q, r"), std::string::npos);
  EXPECT_NE(chosen(a, d, "").find("no series in common"), std::string::npos);
  EXPECT_EQ(chosen(File({named("p", {1}), named("s", {1, 2})}), b, ""), "p") << "one value is better than none";
  const ResultFile bench = File({named("step_time_ms", {1}), named("memory_usage_gb", {1}), named("step_time", {1})});
  EXPECT_EQ(chosen(bench, bench, ""), "step_time") << "of gapless bench the times of steps";
}

TEST(StoredTest, OneSeriesEachNeedNoNameInCommon) {
  ResultSeries a = Series(Around(1.0)), b = Series(Around(0.8));
  a.name = "old \x1b[31m", b.name = "new";
  const StoredComparison found = Compare(a, b);
  const std::string text = StoredText(found);
  EXPECT_NE(text.find("  B  0.8000 s, the median of 10  new\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(StoredJson(found).find("\"series_of_b\": \"new\""), std::string::npos);
}

TEST(StoredTest, JsonLeavesOutWhatIsNotKnown) {
  const std::string json =
      StoredJson(Compare(Series({1.0}, Sampling::kIteration), Series({0.5}, Sampling::kIteration)));
  for (const std::string_view key : {"\"low\"", "\"p_welch\"", "nominal", "statistically_significant", "mde_share"})
    EXPECT_EQ(json.find(key), std::string::npos) << json;
  EXPECT_NE(json.find("\"values_are\": \"iteration\""), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
