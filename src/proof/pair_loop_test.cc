// SPDX-License-Identifier: Apache-2.0
// Tests the loop over pairs: random order, seeds, budget and early end.
#include "proof/pair_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace gapless::internal {
namespace {

using std::chrono::seconds;

class PairLoopTest : public ::testing::Test {
 protected:
  PairLoopTest() {
    loop_.max_pairs = 8;
    loop_.now = [this] { return now_; };
    loop_.run = [this](bool is_b) -> Result<std::optional<RunSample>> {
      order_ += is_b ? 'B' : 'A';
      now_ += seconds(1);
      return std::optional(RunSample{.exit_status = is_b ? 1 : 0});
    };
    loop_.add = [this](const RunSample& a, const RunSample& b) -> Result<bool> {
      EXPECT_EQ(a.exit_status, 0);
      EXPECT_EQ(b.exit_status, 1);
      return ++pairs_ < enough_;
    };
  }
  PairLoopEnd End() { return *RunPairLoop(loop_); }

  PairLoop loop_{};
  PairLoop::Clock::time_point now_{};
  std::string order_{};
  size_t pairs_ = 0, enough_ = 1000;
};

TEST_F(PairLoopTest, RunsAllPairsEachInAnOrderOfItsOwn) {
  EXPECT_EQ(End(), PairLoopEnd::kMaxPairs);
  EXPECT_EQ(pairs_, 8U);
  size_t b_first = 0;
  for (size_t i = 0; i < order_.size(); i += 2) b_first += order_.substr(i, 2) == "BA";
  EXPECT_EQ(std::ranges::count(order_, 'B'), 8);
  EXPECT_GT(b_first, 0U);
  EXPECT_LT(b_first, 8U);
}

// Three disturbed pairs are run again; from then on they count, as the machine is never quiet.
TEST_F(PairLoopTest, RunsDisturbedPairsAgainButNotForEver) {
  size_t asked_again = 0;
  loop_.on_repeat = [&] { ++asked_again; };
  loop_.is_disturbed = [&](const RunSample&) { return order_.size() <= 4; };
  EXPECT_EQ(End(), PairLoopEnd::kMaxPairs);
  EXPECT_EQ(asked_again, 2U);
  EXPECT_EQ(order_.size(), 2U * (8 + 2));
  order_.clear(), pairs_ = 0, asked_again = 0;
  loop_.is_disturbed = [](const RunSample& sample) { return sample.exit_status == 1; };
  EXPECT_EQ(End(), PairLoopEnd::kMaxPairs);
  EXPECT_EQ(asked_again, 3U);
  EXPECT_EQ(pairs_, 8U);
}

TEST_F(PairLoopTest, TheSameSeedIsTheSameOrder) {
  End();
  const std::string first = std::exchange(order_, "");
  End();
  EXPECT_EQ(order_, first);
}

TEST_F(PairLoopTest, PairsOfBeforeCount) {
  loop_.done = 6;
  EXPECT_EQ(End(), PairLoopEnd::kMaxPairs);
  EXPECT_EQ(pairs_, 2U);
}

TEST_F(PairLoopTest, EndsWhenItIsEnough) {
  enough_ = 3;
  EXPECT_EQ(End(), PairLoopEnd::kEnough);
  EXPECT_EQ(pairs_, 3U);
}

// A pair takes 2 s. With its time known, none begins that would end after 5 s; without, one may.
TEST_F(PairLoopTest, NoPairBeginsThatEndsTooLate) {
  loop_.deadline = now_ + seconds(5);
  loop_.pair_takes = seconds(0);
  EXPECT_EQ(End(), PairLoopEnd::kNoTime);
  EXPECT_EQ(pairs_, 2U);
  loop_.pair_takes.reset();
  now_ = {}, pairs_ = 0;
  EXPECT_EQ(End(), PairLoopEnd::kNoTime);
  EXPECT_EQ(pairs_, 3U);
}

TEST_F(PairLoopTest, ASideWithoutASampleEndsItAndAnErrorIsPassedOn) {
  loop_.run = [](bool) -> Result<std::optional<RunSample>> { return std::optional<RunSample>(); };
  EXPECT_EQ(End(), PairLoopEnd::kStopped);
  EXPECT_EQ(pairs_, 0U);
  loop_.run = [](bool) -> Result<std::optional<RunSample>> { return Fail(ErrorCode::kCommand, "it failed"); };
  const auto end = RunPairLoop(loop_);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kCommand);
}

}  // namespace
}  // namespace gapless::internal
