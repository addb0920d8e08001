// SPDX-License-Identifier: Apache-2.0
// Values that no benchmark measures but a file may contain: values at the ends of what a double holds, nothing at all,
// all the same. Every function of the room answers: a value, nothing, or an error. None throws, none gives an interval
// upside down.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/strings.h"
#include "validate/change_points.h"
#include "validate/commit_search.h"
#include "validate/dependence.h"
#include "validate/distributions.h"
#include "validate/drift.h"
#include "validate/history_gate.h"
#include "validate/hypothesis.h"
#include "validate/interval.h"
#include "validate/optimal_partition.h"
#include "validate/pair_sequence.h"
#include "validate/rank_tests.h"
#include "validate/series_noise.h"
#include "validate/simulate.h"
#include "validate/steady.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

using Limits = std::numeric_limits<double>;
constexpr double kInf = Limits::infinity(), kNan = Limits::quiet_NaN(), kMin = Limits::denorm_min();
const std::vector<double> kNumbers = {
    kNan,      kInf, -kInf, 0,  -0.0, kMin, -kMin, Limits::min(), 1e-300, 1e-17,         0.05,           0.5, 0.999,
    1 - 1e-16, 1,    2,     30, 1e9,  1e17, 1e300, 1e308,         -1e308, Limits::max(), -Limits::max(), -1,  -30};

std::vector<std::vector<double>> Samples() {
  std::vector<std::vector<double>> samples = {{}};
  for (const double value : kNumbers)
    for (const size_t n : {1U, 2U, 3U, 12U, 40U, 230U}) samples.emplace_back(n, value);  // all the same
  for (const double number : kNumbers)
    for (const double other : {0.0, 1.0, kMin, 1e308, -1e308, kNan}) {
      std::vector<double> mixed;
      for (int i = 0; i < 60; ++i) mixed.push_back(i % 3 == 0 ? number : other);
      samples.push_back(std::move(mixed));
    }
  std::vector<double> rising, jump(100, 1e-308), near(100, 1e308);
  for (int i = 0; i < 100; ++i) rising.push_back(std::ldexp(1, 10 * i - 500));
  for (size_t i = 50; i < 100; ++i) jump[i] = 1e308, near[i] = std::nextafter(1e308, kInf);
  samples.insert(samples.end(), {rising, jump, near});
  return samples;
}

template <class Act>
void Answers(const std::string& what, std::span<const double> sample, const Act& act) {
  EXPECT_NO_THROW(act()) << what << " of " << sample.size() << " values from "
                         << (sample.empty() ? std::string("none") : StrCat(sample.front(), " to ", sample.back()));
}

TEST(Extremes, DistributionsGiveANumberOrNone) {
  for (const double a : kNumbers)
    for (const double b : kNumbers) {
      const std::vector<double> both = {a, b};
      Answers("normal", both, [&] { NormalCdf(a), NormalUpperTail(a), NormalQuantile(a); });
      Answers("Student", both, [&] {
        for (const double p : {StudentCdf(a, b), StudentUpperTail(a, b)})
          EXPECT_TRUE(std::isnan(p) || (p >= 0 && p <= 1)) << a << " " << b << ": " << p;
        StudentQuantile(a, b);
      });
      for (const double c : {kNan, kInf, -kInf, 0.0, 1e-300, 2.5, 40.0, 1e4, 1e308, -1e308}) {
        Answers("noncentral Student", both, [&] {
          const double p = NoncentralStudentCdf(c, b, a);
          EXPECT_TRUE(std::isnan(p) || (p >= -1e-9 && p <= 1 + 1e-9)) << c << " " << b << " " << a << ": " << p;
        });
        Answers("beta", both, [&] {
          const double p = BetaCdf(c, a, b);
          EXPECT_TRUE(std::isnan(p) || (p >= 0 && p <= 1)) << c << " " << a << " " << b << ": " << p;
        });
      }
      for (const int64_t n : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1} << 40, INT64_MAX})
        Answers("binomial", both, [&] { BinomialCdf(n / 2, n, a), BinomialCdf(n, n, b), BinomialCdf(0, n, a); });
    }
}

TEST(Extremes, SummariesAndDependence) {
  for (const auto& sample : Samples()) {
    Answers("summary", sample, [&] {
      (void)CheckFinite(sample), Sorted(sample), Mean(sample), StandardDeviation(sample), Median(sample);
      Quantile(sample, 0.05), Quantile(sample, kNan), Quantile(sample, -1), Quantile(sample, 1e308);
      MedianAbsoluteDeviation(sample);
      (void)Summarize(sample);
    });
    Answers("dependence", sample, [&] {
      Autocorrelations(sample, 40), Lag1(sample), AutocorrelationTime(sample), EffectiveSampleSize(sample);
      LongRunVariance(sample), AndrewsBandwidth(sample);
      for (const double bandwidth : {kNan, kInf, 0.0, -1.0, 1e308}) LongRunVariance(sample, bandwidth);
      LooksDependent(sample.empty() ? kNan : sample[0], sample.size());
    });
  }
}

TEST(Extremes, TestsAndIntervals) {
  const std::vector<double> steady = {1, 2, 1.5, 1.7, 1.2, 1.9};
  const auto check = [](const auto& interval) {
    if (interval && !std::isnan(interval->low) && !std::isnan(interval->high)) {
      EXPECT_LE(interval->low, interval->high);
    }
  };
  for (const auto& sample : Samples()) {
    Answers("tests", sample, [&] {
      check(WelchTest(sample, steady)), check(WelchTest(steady, sample)), check(WelchTest(sample, sample));
      for (const double level : kNumbers) (void)HodgesLehmann(sample, level);
      (void)MannWhitney(sample, steady), (void)MannWhitney(sample, sample);
      (void)SignedRank(sample), (void)HodgesLehmann(sample, steady);
    });
    Answers("interval", sample, [&] {
      for (const double level : kNumbers)
        for (const Location location : {Location::kMedian, Location::kMean})
          (void)OfferInterval(sample, {.level = level, .location = location});
    });
  }
}

TEST(Extremes, Power) {
  for (const double effect : kNumbers)
    for (const double sd : kNumbers)
      for (const Design design : {Design::kPaired, Design::kTwoSample}) {
        const std::vector<double> both = {effect, sd};
        Answers("power", both, [&] {
          for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{30}, size_t{1} << 40})
            (void)PowerOf(effect, sd, n, {.design = design}), (void)MinimumDetectableEffect(sd, n, {.design = design});
          (void)NeededN(effect, sd, {.design = design});
          (void)NeededN(0.1, 1, {.design = design, .level = effect, .power = sd});
          (void)PowerOf(0.1, 1, 30, {.design = design, .level = effect, .power = sd});
          (void)MinimumDetectableEffect(1, 30, {.design = design, .level = effect, .power = sd});
        });
      }
}

TEST(Extremes, SeriesAndTheirChanges) {
  for (const auto& sample : Samples()) {
    Answers("series", sample, [&] {
      (void)FindDrift(sample), FindChangePoints(sample), OptimalPartition(sample, 3), OptimalPartition(sample, kNan);
      (void)FindSteadyState(sample), Mser5(sample);
      if (!sample.empty()) RunningMedian(sample, 5), Winsorise(sample, 5, 3, 1e-9), ResolutionFloor(sample);
      SdByDifferences(sample, 1e-9);
    });
    Answers("pairs", sample, [&] {
      PairSequence pairs;
      for (const double value : sample)
        if (std::isfinite(value)) pairs.Add(value);
      (void)pairs.Verdict(), (void)pairs.AnytimeP(), (void)pairs.Interval(), (void)pairs.DetectableShare();
    });
  }
}

TEST(Extremes, AHistoryIsJudgedOrRefused) {
  for (const auto& sample : Samples()) {
    std::vector<GateRun> history;
    for (const double value : sample) history.push_back({value, GateMark::kUnmarked});
    for (const double current : {1.0, 1e308, kMin, kNan})
      Answers("history", sample, [&] {
        for (const bool higher : {false, true}) {
          (void)JudgeAgainstHistory(history, current, {.higher_is_better = higher});
          (void)JudgeAgainstHistory(history, current, {.higher_is_better = higher}, sample);
        }
        (void)NaiveGate(history, current, {}, 10);
      });
  }
  std::vector<GateRun> plain;
  for (int i = 0; i < 40; ++i) plain.push_back({100 + i % 7 * 0.1, GateMark::kUnmarked});
  for (const double number : kNumbers)
    Answers("options of a history", std::vector<double>{number}, [&] {
      for (const size_t horizon : {size_t{0}, size_t{1}, size_t{1} << 60}) {
        (void)JudgeAgainstHistory(plain, 110, {.effect = number, .horizon_runs = horizon});
        (void)JudgeAgainstHistory(plain, 110, {.false_alarm_rate = number, .horizon_runs = horizon, .min_baseline = 0});
      }
    });
}

TEST(Extremes, ASearchOfCommitsEnds) {
  for (const double value : {0.0, kMin, 1e300, -1e300, 1e-300}) {
    Answers("commits", std::vector<double>{value}, [&] {
      CommitSearch search(9, {.most_runs = 60});
      for (int i = 0; i < 80 && search.state() == SearchState::kGoesOn; ++i)
        search.Add(search.next(), search.next() % 2 == 0 ? value : 0);
      EXPECT_NE(search.state(), SearchState::kGoesOn);
    });
  }
}

}  // namespace
}  // namespace gapless::internal
