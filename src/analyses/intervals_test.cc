// SPDX-License-Identifier: Apache-2.0
// Tests the interval operations by examples, and against a painted array with one element per nanosecond.
#include "analyses/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Intervals, MergingJoinsWhatOverlapsOrTouchesAndDropsWhatIsEmpty) {
  EXPECT_EQ(Merge({{5, 9}, {0, 2}, {2, 4}, {7, 8}, {20, 20}}), (Intervals{{0, 4}, {5, 9}}));
  EXPECT_EQ(Merge({}), Intervals{});
}

TEST(Intervals, SubtractionLeavesThePartsOfTheFirst) {
  EXPECT_EQ(Subtract({{0, 10}}, {{2, 3}, {5, 6}}), (Intervals{{0, 2}, {3, 5}, {6, 10}}));
  EXPECT_EQ(Subtract({{0, 4}, {6, 10}}, {{2, 8}}), (Intervals{{0, 2}, {8, 10}})) << "one may cut two";
  EXPECT_EQ(Subtract({{0, 4}}, {{0, 4}}), Intervals{});
}

TEST(Intervals, TimeWithinWindowsIsCountedInTheWindowItLiesIn) {
  const std::array<Interval, 3> windows{{{0, 10}, {10, 20}, {30, 40}}};
  std::array<int64_t, 3> sums{};
  AddWithin({{5, 12}, {15, 35}}, windows, sums);
  EXPECT_EQ(sums, (std::array<int64_t, 3>{5, 7, 5})) << "20 to 30 lies in no window";
}

TEST(Intervals, SubtractionFindsIntervalsThatAreFarApart) {
  Intervals many;
  for (int64_t i = 0; i < 1000; ++i) many.push_back({10 * i, 10 * i + 4});
  EXPECT_EQ(Subtract({{0, 5}, {5'000, 5'010}, {5'012, 5'013}, {9'985, 9'995}, {20'000, 20'001}}, many),
            (Intervals{{4, 5}, {5'004, 5'010}, {9'985, 9'990}, {9'994, 9'995}, {20'000, 20'001}}));
}

TEST(Intervals, SumsOfOverlapsFitHoweverManyAndHoweverLate) {
  constexpr int64_t kLate = int64_t{1} << 62;
  const std::vector<Interval> intervals(10, {kLate, kLate + 100});
  EXPECT_EQ(OverlapSums(intervals).In({0, kLate + 30}), 300);
  EXPECT_EQ(OverlapSums(intervals).In({-kLate, kLate + 1'000}), 1'000);
}

// Every operation against painting each nanosecond of a short axis.
TEST(Intervals, AgreeWithPaintingEachNanosecond) {
  constexpr int64_t kAxis = 64;
  std::mt19937 random(7);
  const auto paint = [](const Intervals& list) {
    std::array<bool, kAxis> painted{};
    for (const Interval interval : list)
      for (int64_t at = interval.start; at < interval.end; ++at) painted[static_cast<size_t>(at)] = true;
    return painted;
  };
  const auto some = [&] {
    Intervals list;
    for (unsigned i = random() % 8; i > 0; --i) {
      const int64_t start = static_cast<int64_t>(random() % kAxis), length = static_cast<int64_t>(random() % 12);
      list.push_back({start, std::min(kAxis, start + length)});
    }
    return list;
  };
  for (int round = 0; round < 2000; ++round) {
    const Intervals raw = some(), a = Merge(raw), b = Merge(some());
    const Intervals c = Merge(some());
    const auto in_a = paint(a), in_b = paint(b), in_raw = paint(raw);
    EXPECT_EQ(in_a, in_raw);
    const auto both = paint(Intersect(a, b)), either = paint(Unite(a, b)), only_a = paint(Subtract(a, b));
    const auto clipped = paint(Clip(a, {10, 50}));
    int64_t total = 0;
    for (size_t at = 0; at < kAxis; ++at) {
      ASSERT_EQ(both[at], in_a[at] && in_b[at]);
      ASSERT_EQ(either[at], in_a[at] || in_b[at]);
      ASSERT_EQ(only_a[at], in_a[at] && !in_b[at]);
      ASSERT_EQ(clipped[at], in_a[at] && at >= 10 && at < 50);
      total += in_a[at];
    }
    ASSERT_EQ(Total(a), total);
    UnionLength length;
    Intervals by_start = raw;
    std::ranges::sort(by_start, {}, &Interval::start);
    for (const Interval next : by_start) length.Add(next);
    ASSERT_EQ(length.total(), total);
    ASSERT_EQ(Subtract(Subtract(c, a), b), Subtract(c, Unite(a, b)));
    const IntervalSums sums_of_a(a);
    const OverlapSums sums_of_raw(raw);
    for (int64_t start = 0; start < 60; start += 7) {
      const Interval window{start, start + round % 20};
      int64_t overlaps = 0;
      for (const Interval interval : raw)
        overlaps += std::max<int64_t>(0, std::min(interval.end, window.end) - std::max(interval.start, window.start));
      ASSERT_EQ(sums_of_a.In(window), TotalIn(a, window));
      ASSERT_EQ(sums_of_raw.In(window), overlaps);
      ASSERT_EQ(IsSomeIn(a, {start, start + round % 20}), !Clip(a, {start, start + round % 20}).empty());
      ASSERT_EQ(TotalIn(a, {start, start + round % 20}), Total(Clip(a, {start, start + round % 20})));
    }
    for (const Intervals& list : {a, Intersect(a, b), Unite(a, b), Subtract(a, b)})
      for (size_t i = 1; i < list.size(); ++i) ASSERT_GT(list[i].start, list[i - 1].end) << "sorted, apart";
  }
}

}  // namespace
}  // namespace gapless::internal
