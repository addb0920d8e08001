// SPDX-License-Identifier: Apache-2.0
// Tests the search on simulated runs, including the calibration of its stated probability.
#include "validate/commit_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validate/testing/effort.h"
#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

struct Scene {
  size_t commits = 100, bad = 40;
  double cv = 0.03, slower = 0.05;
  NoiseKind noise = NoiseKind::kNormal;
};

// The whole search on simulated runs; commits for which `runs` is false are skipped.
template <class Runs>
CommitSearch Search(const Scene& scene, uint64_t seed, const Runs& runs, const CommitSearchOptions& options = {}) {
  NoiseSource noise(seed);
  const std::vector<double> series = noise.Series(scene.noise, scene.cv, 600);
  CommitSearch search(scene.commits, options);
  while (search.state() == SearchState::kGoesOn) {
    const size_t commit = search.next();
    if (!runs(commit)) {
      search.Skip(commit);
      continue;
    }
    search.Add(commit, std::log(series[search.runs()] * (commit >= scene.bad ? 1 + scene.slower : 1)));
  }
  return search;
}
CommitSearch Search(const Scene& scene, uint64_t seed, const CommitSearchOptions& options = {}) {
  return Search(
      scene, seed, [](size_t) { return true; }, options);
}

TEST(CommitSearch, BeginsWithTheEnds) {
  CommitSearch search(10);
  EXPECT_EQ(search.next(), 0U);
  search.Add(0, 0);
  EXPECT_EQ(search.next(), 9U);
  EXPECT_EQ(search.state(), SearchState::kGoesOn);
  EXPECT_EQ(search.best().probability, 0);
}

TEST(CommitSearch, WithoutNoiseItIsABinarySearch) {
  const CommitSearch search = Search({.commits = 1024, .bad = 700, .cv = 1e-5, .slower = 0.1}, 1);
  ASSERT_EQ(search.state(), SearchState::kFound);
  EXPECT_EQ(search.best().first, 700U);
  EXPECT_EQ(search.best().last, 700U);
  EXPECT_LE(search.runs(), 6U + 14);
  EXPECT_NEAR(*search.ratio(), 1.1, 0.001);
}

TEST(CommitSearch, OfTwoCommits) {
  const CommitSearch search = Search({.commits = 2, .bad = 1, .cv = 0.01, .slower = 0.1}, 1);
  EXPECT_EQ(search.state(), SearchState::kFound);
  EXPECT_EQ(search.best().last, 1U);
}

// At CV 3 % and a change of 5 %: right as often as the answer says, within what 12 searches can show.
TEST(CommitSearch, IsAsSureAsItIsRight) {
  for (const NoiseKind kind : {NoiseKind::kNormal, NoiseKind::kOutliers}) {
    int right = 0;
    double runs = 0;
    const Effort effort(12, 4);
    for (int number = 1; number <= effort.tried; ++number) {
      const auto seed = static_cast<uint64_t>(number);
      const size_t bad = 1 + seed * 37 % 199;
      const CommitSearch search = Search({.commits = 200, .bad = bad, .noise = kind}, seed);
      right += search.state() == SearchState::kFound && search.best().first <= bad && bad <= search.best().last ? 1 : 0;
      runs += static_cast<double>(search.runs()) / effort.tried;
    }
    EXPECT_GE(right, effort.tried * 3 / 4)
        << NameOf(kind);  // bench/bisect_quality.cc has the figures; this is what can be run each time
    EXPECT_LE(runs, 75) << NameOf(kind);
  }
}

TEST(CommitSearch, SaysThatNothingChanged) {
  int none = 0;
  const Effort effort(60, 12);
  for (int seed = 1; seed <= effort.tried; ++seed)
    none += Search({.slower = 0}, static_cast<uint64_t>(seed)).state() == SearchState::kNoChange ? 1 : 0;
  EXPECT_GE(none, effort.AtLeast(56.0 / 60) * effort.tried);
}

TEST(CommitSearch, ImprovementsAreNoRegression) {
  EXPECT_EQ(Search({.cv = 0.01, .slower = -0.1}, 1).state(), SearchState::kNoChange);
}

TEST(CommitSearch, CommitsThatCannotRunLeaveARange) {
  const auto runs = [](size_t commit) { return commit < 38 || commit > 41; };
  const CommitSearch search = Search({.cv = 0.005, .slower = 0.1}, 3, runs);
  ASSERT_EQ(search.state(), SearchState::kFound);
  EXPECT_EQ(search.best().first, 38U);
  EXPECT_EQ(search.best().last, 42U);
}

TEST(CommitSearch, GivesUp) {
  const CommitSearch search = Search({.cv = 0.2, .slower = 0.03}, 1, {.most_runs = 30});
  EXPECT_EQ(search.state(), SearchState::kCannotTell);
  EXPECT_EQ(search.runs(), 30U);
}

// A search is a function of the runs: made again from a list it is the same.
TEST(CommitSearch, CanBeResumed) {
  NoiseSource noise(4);
  CommitSearch first(50);
  std::vector<std::pair<size_t, double>> runs;
  while (first.state() == SearchState::kGoesOn) {
    const size_t commit = first.next();
    runs.emplace_back(commit, (commit >= 20 ? 0.1 : 0) + 0.02 * noise.Normal());
    first.Add(commit, runs.back().second);
  }
  CommitSearch again(50);
  for (const auto& [commit, time] : runs) again.Add(commit, time);
  EXPECT_EQ(again.best().last, first.best().last);
  EXPECT_EQ(again.best().probability, first.best().probability);
}

}  // namespace
}  // namespace gapless::internal
