// SPDX-License-Identifier: Apache-2.0
#include "predict/rank_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gapless::internal {
namespace {

std::vector<RankTraits> Alike(size_t count) {
  return std::vector<RankTraits>(count, {.collectives = 30, .gpu_ops = 5000, .own_ns = 100'000'000});
}

TEST(RankClasses, ReplayEachOfAFewRanks) {
  EXPECT_EQ(FindRepresentatives(Alike(kMaxReplayedRanks)).size(), kMaxReplayedRanks);
  EXPECT_TRUE(FindRepresentatives({}).empty());
}

TEST(RankClasses, TakeOneForAllThatAreAlikeAndEachThatDiffers) {
  std::vector<RankTraits> ranks = Alike(1024);
  ranks[7].own_ns = 110'000'000;
  ranks[9].collectives = 29;
  EXPECT_EQ(FindRepresentatives(ranks), (std::vector<size_t>{0, 7, 9}));
}

// In a collective all wait for the last to come: the slowest of a class stands for it.
TEST(RankClasses, AreRepresentedByTheirSlowest) {
  std::vector<RankTraits> ranks = Alike(100);
  ranks[60].own_ns += 1000;
  EXPECT_EQ(FindRepresentatives(ranks), (std::vector<size_t>{0, 60}));
}

// Ranks without any kinship are still few: the slowest of all is always there.
TEST(RankClasses, StayFewWhereAllDiffer) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<RankTraits> ranks = Alike(33 + random() % 2000);
    for (RankTraits& rank : ranks) rank.own_ns = 1'000'000 + static_cast<int64_t>(random() % 900'000'000);
    const std::vector<size_t> chosen = FindRepresentatives(ranks);
    EXPECT_LE(chosen.size(), kMaxReplayedRanks);
    const auto slowest = std::ranges::max_element(ranks, {}, [](const RankTraits& rank) { return rank.own_ns; });
    EXPECT_TRUE(std::ranges::binary_search(chosen, static_cast<size_t>(slowest - ranks.begin())));
    EXPECT_EQ(chosen.front(), 0U);
  }
}

}  // namespace
}  // namespace gapless::internal
