// SPDX-License-Identifier: Apache-2.0
// Two files of results: which series are compared, what is said of them, and what is not.
#include "proof/stored.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "report/compare/report.h"

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
ResultSeries Named(std::string name, Values values, Sampling sampling = Sampling::kProcess) {
  ResultSeries series = Series(std::move(values), sampling);
  series.name = std::move(name);
  return series;
}

// Ten values around one, 1 % apart at most, none twice.
Values Around(double level, double shift = 0) {
  Values values;
  for (int i = 0; i < 10; ++i) values.push_back(level * (1 + 0.001 * ((i * 7) % 10 - 4.5) + shift));
  return values;
}

StoredComparison Compare(ResultSeries a, ResultSeries b, const StoredOptions& options = {}) {
  auto found = CompareFiles(File({std::move(a)}), File({std::move(b)}), options);
  EXPECT_TRUE(found) << found.error().ToString();
  return found ? found->all.at(0) : StoredComparison();
}

std::string TextOfOne(const StoredComparison& comparison) {
  return StoredText({.all = {comparison}, .failed = {}, .left_out = {}});
}
std::string JsonOfOne(const StoredComparison& comparison) {
  return StoredJson({.all = {comparison}, .failed = {}, .left_out = {}});
}

std::string Refusal(const ResultFile& a, const ResultFile& b, const StoredOptions& options = {}) {
  const auto found = CompareFiles(a, b, options);
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
  const std::string text = TextOfOne(found);
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
  EXPECT_NE(TextOfOne(Compare(a, b)).find("--values process"), std::string::npos);
  EXPECT_EQ(Compare(a, b, {.sampling = Sampling::kProcess}).verdict, SpeedVerdict::kFaster);
  EXPECT_EQ(Compare(Series(Around(1.0)), Series(Around(0.8), Sampling::kIteration)).sampling, Sampling::kUnknown);
}

TEST(StoredTest, FewProcessesTellNothing) {
  const StoredComparison one = Compare(Series({1.0}), Series({0.5}));
  EXPECT_EQ(one.verdict, SpeedVerdict::kCannotTell);
  EXPECT_DOUBLE_EQ(one.speedup.expected, 2);
  EXPECT_FALSE(one.speedup.low || one.p_welch || one.mde_share);
  const std::string text = TextOfOne(one);
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
  EXPECT_FALSE(JsonOfOne(same).empty());
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
  const ResultFile a = File({Named("p", {1}), Named("q", {1, 2}), Named("r", {1, 2})}),
                   b = File({Named("q", {2, 3}), Named("p", {2})}), c = File({Named("q", {2, 3}), Named("r", {4, 5})}),
                   d = File({Named("z", {2, 3}), Named("y", {1})});
  const auto chosen = [](const ResultFile& x, const ResultFile& y, const std::string& series) {
    const auto found = CompareFiles(x, y, {.series = series});
    if (!found) return found.error().ToString();
    std::string names;
    for (const StoredComparison& comparison : found->all) names += comparison.name;
    return names;
  };
  EXPECT_EQ(chosen(a, b, ""), "q") << "the only one with more than one value";
  EXPECT_EQ(chosen(a, b, "p"), "p");
  EXPECT_EQ(chosen(a, c, ""), "qr") << "all that both have";
  EXPECT_NE(chosen(a, c, "p").find("there are q, r"), std::string::npos);
  EXPECT_NE(chosen(a, d, "").find("no series in common"), std::string::npos);
  EXPECT_EQ(chosen(File({Named("p", {1}), Named("s", {1, 2})}), b, ""), "p") << "one value is better than none";
  const ResultFile bench = File({Named("step_time_ms", {1}), Named("memory_usage_gb", {1}), Named("step_time", {1})});
  EXPECT_EQ(chosen(bench, bench, ""), "step_time") << "of gapless bench the times of steps";
}

TEST(StoredTest, ShortNamesDo) {
  ResultSeries forward = Named("tests/a.py::test_forward", {1.0, 1.1}),
               other = Named("tests/a.py::test_other", {1.0, 1.1});
  forward.short_name = "test_forward", other.short_name = "test_other";
  ResultSeries moved = forward;
  moved.name = "a.py::test_forward";
  const auto by_name = CompareFiles(File({forward, other}), File({forward, other}), {.series = "test_other"});
  ASSERT_TRUE(by_name);
  EXPECT_EQ(by_name->all.at(0).name, other.name);
  const auto from_elsewhere = CompareFiles(File({forward, other}), File({moved, Named("b.py::test_new", {1, 2})}), {});
  ASSERT_TRUE(from_elsewhere) << from_elsewhere.error().ToString();
  EXPECT_EQ(from_elsewhere->all.at(0).b_name, moved.name);
}

TEST(StoredTest, SeveralSeriesAreATableAndTheSlowestDecides) {
  const ResultFile a = File({Named("t.py::x", Around(1.0)), Named("t.py::y", Around(2.0))}),
                   b = File({Named("t.py::x", Around(0.5)), Named("t.py::y", Around(3.0))});
  auto answer = CompareFiles(a, b, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->Verdict(), SpeedVerdict::kSlower);
  EXPECT_EQ(answer->Main().name, "t.py::y");
  answer->threshold = 0.1;
  ASSERT_EQ(answer->BeyondThreshold().size(), 1u);
  EXPECT_NEAR(SlowerBy(*answer->BeyondThreshold()[0]), 0.5, 0.01);
  const std::string text = StoredText(*answer);
  EXPECT_NE(text.find("  y      "), std::string::npos) << text;
  EXPECT_NE(text.find("slower by 50.0 %, more than 10.0 %: t.py::y"), std::string::npos) << text;
  answer->threshold = 0.6;
  EXPECT_NE(StoredText(*answer).find("nothing is slower by more than 60.0 %"), std::string::npos);
}

TEST(StoredTest, WhatOnlyOneFileHasIsNamed) {
  const ResultFile a = File({Named("x", Around(1)), Named("gone", Around(1))});
  const ResultFile b = File({Named("new", Around(1)), Named("x", Around(1))});
  const auto answer = CompareFiles(a, b, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->only_in_a, std::vector<std::string>{"gone"});
  EXPECT_EQ(answer->only_in_b, std::vector<std::string>{"new"});
  EXPECT_NE(StoredText(*answer).find("\nonly in A: gone\nonly in B: new\n"), std::string::npos) << StoredText(*answer);
  EXPECT_NE(StoredJson(*answer).find("\"only_in_a\": ["), std::string::npos);
  const auto named = CompareFiles(a, b, {.series = "x"});
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->only_in_a.empty() && named->only_in_b.empty()) << "one series was asked for";
  const std::string refusal =
      Refusal(File({Named("p", {1}), Named("q", {1})}), File({Named("r", {1}), Named("s", {1})}));
  for (const char* part : {"no series in common", "only in A: p, q", "only in B: r, s"})
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
}

TEST(StoredTest, WithinOneFileTheFirstIsA) {
  const auto answer = CompareWithin(File({Named("old", Around(4.0)), Named("new", Around(3.0))}), {});
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->Verdict(), SpeedVerdict::kFaster);
  EXPECT_NEAR(answer->Main().speedup.expected, 4.0 / 3, 0.01);
  ResultSeries bytes = Named("memory", {1, 2});
  bytes.unit = "bytes";
  EXPECT_FALSE(CompareWithin(File({Named("old", {1, 2}), bytes}), {})) << "another quantity is no alternative";
  EXPECT_FALSE(CompareWithin(File({Named("old", {1, 2})}), {}));
  ResultFile bench = File({Named("a", {1}), Named("b", {2})});
  bench.is_one_run = true;
  EXPECT_FALSE(CompareWithin(bench, {}));
}

// The speed at which a run fails is no result, whichever side the run is of.
TEST(StoredTest, AFailedRunLeavesNoVerdict) {
  const ResultFile good = File({Named("x", Around(4.0))});
  ResultFile bad = File({Named("x", Around(0.3))});
  bad.failed.push_back({.series = "x", .failed = 1, .all = 11, .what = "run", .why = "exit status 1"});
  for (const bool is_b : {true, false}) {
    const auto answer = is_b ? CompareFiles(good, bad, {}) : CompareFiles(bad, good, {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->Verdict(), SpeedVerdict::kCannotTell);
    EXPECT_FALSE(answer->all[0].speedup.low || answer->all[0].p_mann_whitney);
    const std::string text = StoredText(*answer);
    EXPECT_EQ(text.find("faster"), std::string::npos) << text;
    EXPECT_NE(text.find(StrCat(is_b ? "  B" : "  A", "  1 of 11 runs of 'x' failed (exit status 1)")),
              std::string::npos)
        << text;
    EXPECT_NE(StoredJson(*answer).find("\"failed\": 1"), std::string::npos);
  }
}

TEST(StoredTest, FailuresOfOtherSeriesDoNotConcernANamedOne) {
  const ResultFile a = File({Named("x", Around(4.0)), Named("y", Around(1.0))});
  ResultFile b = File({Named("x", Around(3.0))});
  b.failed.push_back({.series = "y", .failed = 10, .all = 10, .what = "run", .why = {}});
  EXPECT_EQ(CompareFiles(a, b, {.series = "x"})->Verdict(), SpeedVerdict::kFaster);
  EXPECT_EQ(CompareFiles(a, b, {})->Verdict(), SpeedVerdict::kCannotTell);
  b.failed[0].series = "z", b.failed[0].may_be_left_out = true;
  EXPECT_EQ(CompareFiles(a, b, {})->Verdict(), SpeedVerdict::kFaster) << "what neither measures says nothing";
}

TEST(StoredTest, OneSeriesEachNeedNoNameInCommon) {
  ResultSeries a = Series(Around(1.0)), b = Series(Around(0.8));
  a.name = "old \x1b[31m", b.name = "new";
  const StoredComparison found = Compare(a, b);
  const std::string text = TextOfOne(found);
  EXPECT_NE(text.find("  B  0.8000 s, the median of 10  new\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(JsonOfOne(found).find("\"series_of_b\": \"new\""), std::string::npos);
}

TEST(StoredTest, JsonLeavesOutWhatIsNotKnown) {
  const std::string json = JsonOfOne(Compare(Series({1.0}, Sampling::kIteration), Series({0.5}, Sampling::kIteration)));
  for (const std::string_view key : {"\"low\"", "\"p_welch\"", "nominal", "statistically_significant", "mde_share"})
    EXPECT_EQ(json.find(key), std::string::npos) << json;
  EXPECT_NE(json.find("\"values_are\": \"iteration\""), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
