// SPDX-License-Identifier: Apache-2.0
// Every function that SciPy or statsmodels has too, against their answers: tests/oracle/statistics.txt, which
// tests/oracle/make_statistics.py writes.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/strings.h"
#include "validate/dependence.h"
#include "validate/distributions.h"
#include "validate/hypothesis.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

using Numbers = std::vector<double>;
using Groups = std::vector<Numbers>;  // the arguments of a call

Numbers One(std::optional<double> value) { return {value.value_or(NAN)}; }
template <class T>
Numbers OneOf(const Result<T>& result) {
  return {result ? static_cast<double>(*result) : NAN};
}
Numbers OfT(const Result<TTest>& t) { return t ? Numbers{t->statistic, t->df, t->p, t->low, t->high} : Numbers{}; }
Numbers OfRanks(const Result<RankTest>& t) { return t ? Numbers{t->statistic, t->p} : Numbers{}; }
Numbers OfShift(const Result<Shift>& shift) { return shift ? Numbers{shift->estimate} : Numbers{}; }
Numbers OfPower(const Numbers& a, Design design) {
  return OneOf(PowerOf(a[0], 1, static_cast<size_t>(a[1]), {.design = design, .level = a[2], .power = 0.8}));
}
Numbers OfMde(const Numbers& a, Design design) {
  return OneOf(MinimumDetectableEffect(1, static_cast<size_t>(a[0]), {.design = design, .level = 0.05, .power = a[1]}));
}

struct Function {
  std::function<Numbers(const Groups&)> call;
  double tolerance = 1e-9;  // relative
};

const std::map<std::string, Function>& Functions() {
  static const std::map<std::string, Function> functions = {
      {"normalcdf", {[](const Groups& g) { return Numbers{NormalCdf(g[0][0])}; }}},
      {"normaltail", {[](const Groups& g) { return Numbers{NormalUpperTail(g[0][0])}; }}},
      {"normalquantile", {[](const Groups& g) { return Numbers{NormalQuantile(g[0][0])}; }}},
      {"studentcdf", {[](const Groups& g) { return Numbers{StudentCdf(g[0][0], g[0][1])}; }}},
      {"studenttail", {[](const Groups& g) { return Numbers{StudentUpperTail(g[0][0], g[0][1])}; }}},
      {"studentquantile", {[](const Groups& g) { return Numbers{StudentQuantile(g[0][0], g[0][1])}; }}},
      {"binomialcdf", {[](const Groups& g) {
         return Numbers{BinomialCdf(static_cast<int64_t>(g[0][0]), static_cast<int64_t>(g[0][1]), g[0][2])};
       }}},
      {"betacdf", {[](const Groups& g) { return Numbers{BetaCdf(g[0][0], g[0][1], g[0][2])}; }}},
      {"mean", {[](const Groups& g) { return One(Mean(g[0])); }}},
      {"sd", {[](const Groups& g) { return One(StandardDeviation(g[0])); }}},
      {"median", {[](const Groups& g) { return One(Median(g[0])); }}},
      {"mad", {[](const Groups& g) { return One(MedianAbsoluteDeviation(g[0])); }}},
      {"quantile", {[](const Groups& g) { return One(Quantile(g[0], g[1][0])); }}},
      {"welch", {[](const Groups& g) { return OfT(WelchTest(g[0], g[1])); }}},
      {"mannwhitney", {[](const Groups& g) { return OfRanks(MannWhitney(g[0], g[1])); }}},
      {"signedrank", {[](const Groups& g) { return OfRanks(SignedRank(g[0])); }}},
      {"shift1", {[](const Groups& g) { return OfShift(HodgesLehmann(g[0])); }}},
      {"shift2", {[](const Groups& g) { return OfShift(HodgesLehmann(g[0], g[1])); }}},
      {"power1", {[](const Groups& g) { return OfPower(g[0], Design::kPaired); }}},
      {"power2", {[](const Groups& g) { return OfPower(g[0], Design::kTwoSample); }}},
      {"mde1", {[](const Groups& g) { return OfMde(g[0], Design::kPaired); }}},
      {"mde2", {[](const Groups& g) { return OfMde(g[0], Design::kTwoSample); }}},
      {"acf", {[](const Groups& g) { return Autocorrelations(g[0], 8); }}},
      {"longrun", {[](const Groups& g) { return One(LongRunVariance(g[0], g[1][0])); }}},
  };
  return functions;
}

Numbers ReadNumbers(std::string_view text) {
  Numbers out;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) out.push_back(std::strtod(word.c_str(), nullptr));
  return out;
}

// Relative, and absolute for what should be 0.
void ExpectNear(double found, double expected, double tolerance, const std::string& where) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << where << ": " << found;
  } else {
    EXPECT_NEAR(found, expected, expected == 0 ? 1e-13 : tolerance * std::abs(expected)) << where;
  }
}

TEST(StatisticsOracleTest, AnswersAsSciPyDoes) {
  std::ifstream file("tests/oracle/statistics.txt");
  ASSERT_TRUE(file) << "tests/oracle/statistics.txt cannot be read";
  std::map<std::string, int> seen;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    const auto parts = Split(line, '\t');
    ASSERT_GE(parts.size(), 3u) << line;
    const std::string name(parts[0]);
    const std::string where = StrCat("line ", number, ", ", name);
    ASSERT_TRUE(Functions().contains(name)) << where;
    Groups arguments;
    for (size_t i = 1; i + 1 < parts.size(); ++i) arguments.push_back(ReadNumbers(parts[i]));
    const Numbers expected = ReadNumbers(parts.back());
    const Function& function = Functions().at(name);
    const Numbers found = function.call(arguments);
    ASSERT_EQ(found.size(), expected.size()) << where;
    for (size_t i = 0; i < found.size(); ++i) {
      ExpectNear(found[i], expected[i], function.tolerance, StrCat(where, ", number ", i));
    }
    ++seen[name];
  }
  EXPECT_EQ(seen.size(), Functions().size()) << "a function has no answer in the file";
}

}  // namespace
}  // namespace gapless::internal
