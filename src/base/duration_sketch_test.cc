// SPDX-License-Identifier: Apache-2.0
// Tests sketches against exact quantiles, on random and on hostile durations, and that merging knows no order.
#include "base/duration_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace gapless::internal {
namespace {

using Durations = std::vector<int64_t>;

DurationSketch SketchOf(const Durations& durations) {
  DurationSketch sketch;
  for (const int64_t ns : durations) sketch.Add(ns);
  return sketch;
}

// Kernels around one duration, of two kinds, of all lengths there are, the same throughout, and one beside many.
std::vector<Durations> Examples() {
  std::mt19937_64 rng(7);
  std::vector<Durations> all(6);
  std::lognormal_distribution<double> near(std::log(50'000), 0.05), wide(std::log(50'000), 3);
  for (int i = 0; i < 4000; ++i) {
    all[0].push_back(std::llround(near(rng)));
    all[1].push_back(i % 3 == 0 ? 2'000'000 + static_cast<int64_t>(rng() % 9000)
                                : 4000 + static_cast<int64_t>(rng() % 50));
    all[2].push_back(std::llround(wide(rng)));
    all[3].push_back(1'234'567);
    all[4].push_back(i == 77 ? int64_t{1} << 62 : 1);
    all[5].push_back(int64_t{1} << (i % 63));
  }
  return all;
}

TEST(DurationSketch, QuantilesAreWithinTheStatedError) {
  for (const Durations& durations : Examples()) {
    const DurationSketch sketch = SketchOf(durations);
    Durations sorted = durations;
    std::ranges::sort(sorted);
    EXPECT_LE(sketch.buckets(), DurationSketch::kMaxBuckets);
    for (const double share : {0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto exact =
          static_cast<double>(sorted[static_cast<size_t>(std::floor(share * static_cast<double>(sorted.size() - 1)))]);
      EXPECT_NEAR(static_cast<double>(sketch.Quantile(share)), exact, exact * sketch.error() * 1.0001 + 0.51) << share;
    }
  }
}

TEST(DurationSketch, DurationsOfOneKernelKeepOnePerCent) {
  const auto examples = Examples();
  for (const size_t example : {0U, 1U, 3U, 4U, 5U})
    EXPECT_NEAR(SketchOf(examples[example]).error(), DurationSketch::kError, 1e-12) << example;
  EXPECT_LT(SketchOf(examples[2]).error(), 0.17) << "durations over ten orders of magnitude";
}

TEST(DurationSketch, MergingKnowsNoOrderAndNoGrouping) {
  std::mt19937_64 rng(11);
  for (int round = 0; round < 50; ++round) {
    Durations all;
    std::vector<DurationSketch> parts(5);
    std::lognormal_distribution<double> spread(std::log(20'000), 0.1 * round);
    for (int i = 0; i < 600; ++i) {
      const int64_t ns = i % 97 == 0 ? 0 : std::llround(spread(rng));
      all.push_back(ns), parts[rng() % parts.size()].Add(ns);
    }
    DurationSketch left, right;
    for (const DurationSketch& part : parts) left.Merge(part);
    DurationSketch last = parts[3];
    last.Merge(parts[4]), right = parts[2], right.Merge(last), right.Merge(parts[0]), right.Merge(parts[1]);
    EXPECT_EQ(left, right);
    EXPECT_EQ(left, SketchOf(all)) << "the same as of all durations at once";
  }
}

TEST(DurationSketch, ATextGivesItBack) {
  for (const Durations& durations : Examples()) {
    const DurationSketch sketch = SketchOf(durations);
    const auto read = DurationSketch::FromText(sketch.ToText());
    ASSERT_TRUE(read) << sketch.ToText();
    EXPECT_EQ(*read, sketch);
  }
  EXPECT_EQ(*DurationSketch::FromText(DurationSketch().ToText()), DurationSketch());
}

TEST(DurationSketch, ATextOfSomebodyElseIsRefused) {
  for (const char* text : {"", "0", "0 0", "0 0 1", "99 0 1:1", "0 -1 1:1", "0 0 -5:1", "0 0 1:x", "0 0 1:0",
                           "0 0 1:99999999999999999999", "0 0 5000:1", "0 0 1:1;2"})
    EXPECT_FALSE(DurationSketch::FromText(text)) << text;
  EXPECT_FALSE(DurationSketch::FromText("0 0 1:" + std::string(100'000, ',')));
}

TEST(DurationSketch, WithoutDurationsThereIsNoQuantile) { EXPECT_EQ(DurationSketch().Quantile(0.5), 0); }

}  // namespace
}  // namespace gapless::internal
