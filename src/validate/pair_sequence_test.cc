// SPDX-License-Identifier: Apache-2.0
// Tests the sequential test: examples by hand, the martingale property, false alarms and power.
#include "validate/pair_sequence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validate/testing/effort.h"
#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

// Log ratios of pairs in random order on a machine whose speed wanders.
std::vector<double> Pairs(NoiseKind kind, double cv, double slower, size_t count, double drift, uint64_t seed) {
  NoiseSource noise(seed);
  std::vector<double> times = noise.Series(kind, cv, 2 * count);
  double wandering = 0;
  for (double& time : times) time *= std::exp(wandering += drift * noise.Normal());
  std::vector<double> d;
  for (size_t i = 0; i < count; ++i) {
    const bool swapped = noise.Uniform() < 0.5;
    const double a = times[2 * i + (swapped ? 1 : 0)], b = times[2 * i + (swapped ? 0 : 1)] * (1 + slower);
    d.push_back(std::log(b / a));
  }
  return d;
}

struct Outcome {
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  size_t pairs = 0;
};

Outcome DecideBySequence(std::span<const double> d, double margin) {
  PairSequence sequence({.margin = margin});
  for (const double value : d) {
    sequence.Add(value);
    if (sequence.Verdict() != SpeedVerdict::kCannotTell) break;
  }
  return {sequence.Verdict(), sequence.size()};
}

TEST(SymmetryEvidence, ThreePairsByHand) {
  // One λ would give exp(λ Σw) / Π cosh(λ w); here the mean over the grid and both signs, with w by definition.
  const double d[] = {0.02, 0.01, 0.04};
  const double w[] = {0.02 / (1.4826 * 0.02), 0.01 / (1.4826 * 0.015), 1.2};  // the third is cut off
  double mixed = 0;
  for (int i = 0; i < 8; ++i)
    for (const double sign : {1.0, -1.0}) {
      const double rate = sign * 0.2 * std::pow(7.5, i / 7.0);
      double product = 1;
      for (const double value : w) product *= std::exp(rate * value) / std::cosh(rate * value);
      mixed += product / 16;
    }
  SymmetryEvidence evidence;
  for (const double value : d) evidence.Add(value);
  EXPECT_NEAR(evidence.highest_log(), std::log(mixed), 1e-12);
}

// The expectation over all signs is exactly one: enumerated, not simulated.
TEST(SymmetryEvidence, IsAMartingale) {
  const double sizes[] = {0.01, 0.3, 0.02, 0.0, 0.05, 0.02, 0.011, 0.9};
  // E of the last value is E of exp(highest) only without the maximum; so test the bound that the maximum obeys.
  int exceed = 0;
  for (int signs = 0; signs < 256; ++signs) {
    SymmetryEvidence evidence;
    for (int i = 0; i < 8; ++i) evidence.Add((signs >> i & 1) != 0 ? sizes[i] : -sizes[i]);
    exceed += evidence.highest_log() >= std::log(5.0) ? 1 : 0;
  }
  EXPECT_GT(exceed, 0);
  EXPECT_LE(exceed, 256 / 5);
}

TEST(PairSequence, FindsWhatIsThere) {
  EXPECT_EQ(DecideBySequence(Pairs(NoiseKind::kNormal, 0.02, 0.05, 200, 0, 1), 0.01).verdict, SpeedVerdict::kSlower);
  EXPECT_EQ(DecideBySequence(Pairs(NoiseKind::kNormal, 0.02, -0.05, 200, 0, 1), 0.01).verdict, SpeedVerdict::kFaster);
  EXPECT_EQ(DecideBySequence(Pairs(NoiseKind::kNormal, 0.02, 0, 200, 0, 1), 0.02).verdict, SpeedVerdict::kEquivalent);
  EXPECT_EQ(DecideBySequence(Pairs(NoiseKind::kNormal, 0.02, 0.05, 4, 0, 1), 0.01).verdict, SpeedVerdict::kCannotTell);
}

// 1000 comparisons without an effect, looked at after each of 200 pairs. At 5 % it would be 50, and above 71 once in
// 1000 times.
TEST(PairSequence, NoFalseAlarmsUnderPeeking) {
  for (const NoiseKind kind : kNoiseKinds)
    for (const double drift : {0.0, 0.005}) {
      const Effort effort(1000);
      int rejected = 0;
      for (int seed = 0; seed < effort.tried; ++seed)
        rejected += DecideBySequence(Pairs(kind, 0.02, 0, 200, drift, static_cast<uint64_t>(seed)), 0).verdict !=
                            SpeedVerdict::kCannotTell
                        ? 1
                        : 0;
      EXPECT_LE(rejected, effort.AtMost(0.071) * effort.tried) << NameOf(kind) << " drift " << drift;
    }
}

Outcome DecideAtTheEnd(std::span<const double> d) {
  Outcome early = DecideBySequence(d, 0);
  if (early.verdict != SpeedVerdict::kCannotTell) return early;
  PairSequence sequence({.margin = 0});
  for (const double value : d) sequence.Add(value);
  sequence.End();
  return {sequence.Verdict(), sequence.size()};
}

// 4000 comparisons without an effect that end after so many pairs: looked at after each of them, and once more in the
// end. Measured: 1.4 to 3.9 %.
TEST(PairSequence, TheLastLookKeepsTheError) {
  for (const NoiseKind kind : kNoiseKinds)
    for (const size_t pairs : {size_t{7}, size_t{10}, size_t{15}, size_t{30}}) {
      const Effort effort(4000);
      int rejected = 0;
      for (int seed = 0; seed < effort.tried; ++seed) {
        const auto d = Pairs(kind, 0.02, 0, pairs, 0.002, static_cast<uint64_t>(seed) + 5000);
        rejected += DecideAtTheEnd(d).verdict != SpeedVerdict::kCannotTell ? 1 : 0;
      }
      EXPECT_LE(rejected, effort.AtMost(0.05) * effort.tried) << NameOf(kind) << " " << pairs << " pairs";
    }
}

// Seven pairs are too few for the sequence, however clear they are.
TEST(PairSequence, TheLastLookSeesAClearGainInSevenPairs) {
  int sequence = 0, end = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto d = Pairs(NoiseKind::kNormal, 0.05, -0.2, 7, 0, seed);
    sequence += DecideBySequence(d, 0).verdict == SpeedVerdict::kFaster ? 1 : 0;
    end += DecideAtTheEnd(d).verdict == SpeedVerdict::kFaster ? 1 : 0;
  }
  EXPECT_EQ(sequence, 0);
  EXPECT_GE(end, 95);
}

// The interval and the p value agree with the verdict of the last look.
TEST(PairSequence, TheLastLookHasOneAnswer) {
  PairSequence sequence({.margin = 0.01});
  for (const double value : {-0.20, -0.25, -0.22, -0.27, -0.19, -0.24, -0.26}) sequence.Add(value);
  EXPECT_EQ(sequence.Verdict(), SpeedVerdict::kCannotTell);
  EXPECT_FALSE(sequence.IsDecidedAtTheEnd());
  sequence.End();
  EXPECT_TRUE(sequence.IsDecidedAtTheEnd());
  EXPECT_EQ(sequence.Verdict(), SpeedVerdict::kFaster);
  EXPECT_NEAR(sequence.AnytimeP(), 2 * 2.0 / 128, 1e-12);
  EXPECT_LT(*sequence.Interval().high, 1);
}

// A change as large as the sequence says it could have seen is seen in four comparisons of five; the noise is known
// here, as it is of many pairs.
TEST(PairSequence, TheDetectableShareIsSeenInFourOfFive) {
  for (const size_t pairs : {size_t{7}, size_t{8}, size_t{10}, size_t{20}, size_t{40}}) {
    PairSequence many({.margin = 0});
    for (const double value : Pairs(NoiseKind::kNormal, 0.02, 0, 20'000, 0, 77)) many.Add(value);
    const auto share = many.DetectableShare(pairs);
    ASSERT_TRUE(share);
    int seen = 0;
    for (uint64_t seed = 0; seed < 1000; ++seed)
      seen += DecideAtTheEnd(Pairs(NoiseKind::kNormal, 0.02, *share, pairs, 0, seed)).verdict == SpeedVerdict::kSlower;
    EXPECT_NEAR(seen, 800, 50) << pairs << " pairs";
  }
}

// Six pairs decide nothing, however large the change is.
TEST(PairSequence, TooFewPairsDetectNothing) {
  PairSequence sequence;
  for (const double value : {-0.20, -0.25, -0.22, -0.27, -0.19, -0.24}) sequence.Add(value);
  sequence.End();
  EXPECT_EQ(sequence.Verdict(), SpeedVerdict::kCannotTell);
  EXPECT_FALSE(sequence.DetectableShare());
  EXPECT_EQ(FewestPairsToDecide(0.05), 7U);
  EXPECT_TRUE(sequence.DetectableShare(7));
}

TEST(PairSequence, PairsNeeded) {
  const auto mean_pairs = [](NoiseKind kind, double slower) {
    double pairs = 0;
    for (uint64_t seed = 0; seed < 200; ++seed)
      pairs += static_cast<double>(DecideBySequence(Pairs(kind, 0.02, slower, 200, 0, seed), 0).pairs) / 200;
    return pairs;
  };
  EXPECT_LE(mean_pairs(NoiseKind::kNormal, 0.05), 12);
  EXPECT_LE(mean_pairs(NoiseKind::kNormal, 0.02), 30);
  EXPECT_LE(mean_pairs(NoiseKind::kNormal, 0.01), 90);
  EXPECT_LE(mean_pairs(NoiseKind::kOutliers, 0.05), 20);
  EXPECT_LE(mean_pairs(NoiseKind::kOutliers, 0.02), 40);
}

// At every look at once, the true ratio is inside in 95 %.
TEST(PairSequence, IntervalCoversAtEveryLook) {
  for (const NoiseKind kind : kNoiseKinds) {
    int missed = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const auto d = Pairs(kind, 0.02, 0.03, 60, 0.002, seed + 1000);
      SymmetryEvidence truth(std::log(1.03));
      for (const double value : d) truth.Add(value);
      missed += truth.highest_log() >= std::log(20.0) ? 1 : 0;
    }
    EXPECT_LE(missed, 10) << NameOf(kind);
  }
}

TEST(PairSequence, Interval) {
  PairSequence sequence;
  EXPECT_FALSE(sequence.Interval().low);
  const auto d = Pairs(NoiseKind::kOutliers, 0.02, 0.05, 40, 0, 5);
  for (const double value : d) sequence.Add(value);
  const RatioInterval interval = sequence.Interval();
  ASSERT_TRUE(interval.low && interval.high);
  EXPECT_LT(*interval.low, 1.05);
  EXPECT_GT(*interval.high, 1.05);
  EXPECT_GT(*interval.low, 1.02);
  EXPECT_LT(*interval.high, 1.08);
  EXPECT_LT(sequence.AnytimeP(), 0.05);
  EXPECT_NEAR(*sequence.DetectableShare(), 3.15 * 0.028 / std::sqrt(37), 0.006);
}

TEST(PairSequence, WithoutNoise) {
  PairSequence same({.margin = 0.01}), longer;
  for (int i = 0; i < 12; ++i) same.Add(0), longer.Add(0.001);
  EXPECT_EQ(same.Verdict(), SpeedVerdict::kEquivalent);
  EXPECT_EQ(longer.Verdict(), SpeedVerdict::kSlower);
  EXPECT_NEAR(*longer.Interval().low, std::exp(0.001), 1e-9);
}

}  // namespace
}  // namespace gapless::internal
