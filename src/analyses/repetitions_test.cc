// SPDX-License-Identifier: Apache-2.0
// Tests RepeatedSpan: it finds repetitions at their usual pace without marks. A recording is a list of repetitions.
#include "analyses/repetitions.h"

#include <gtest/gtest.h>

#include "analyses/one_offs.h"
#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

constexpr int64_t kKernelNs = 300'000;

class Recording {
 public:
  // `count` kernels of the names "conv_0" to "conv_6" in turn, each followed by a pause.
  void Repetition(int64_t pause_ns, int count = 60) {
    for (int i = 0; i < count; ++i) Kernel("conv_" + std::to_string(i % 7), pause_ns);
  }
  void Kernel(const std::string& name, int64_t pause_ns) {
    made_.Kernel(name, {at_, at_ + 5'000, at_ + 6'000, at_ + 6'000 + kKernelNs}, {.device = 0, .stream = 7});
    at_ += 6'000 + kKernelNs + pause_ns;
  }
  void Pause(int64_t ns) { at_ += ns; }
  int64_t at() const { return at_; }
  std::optional<Interval> Found() {
    const auto trace = made_.Finish();
    return RepeatedSpan(*trace, DeviceWork(*trace), {0, at_});
  }

 private:
  HandMade made_;
  int64_t at_ = 0;
};

TEST(RepeatedSpan, LeavesOutTheSlowStartAndWhatComesBefore) {
  Recording recording;
  for (int i = 0; i < 40; ++i) recording.Kernel("upload", 1'000'000);
  recording.Repetition(5'000'000);  // the first one loads code
  recording.Pause(20'000'000);
  const int64_t begin = recording.at();
  for (int i = 0; i < 5; ++i) recording.Repetition(0), recording.Pause(60'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(found->start), static_cast<double>(begin), 10'000);
  EXPECT_NEAR(static_cast<double>(found->end), static_cast<double>(recording.at()), 100'000);
}

TEST(RepeatedSpan, IsAllOfARecordingThatRepeatsFromTheFirstOperationOn) {
  Recording recording;
  for (int i = 0; i < 5; ++i) recording.Repetition(10'000), recording.Pause(60'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_LT(found->start, 20'000);
}

TEST(RepeatedSpan, IsNothingWhereMostWorkIsDoneOnce) {
  Recording recording;
  for (int i = 0; i < 200; ++i) recording.Kernel("once_" + std::to_string(i), 10'000);
  for (int i = 0; i < 5; ++i) recording.Repetition(10'000, 14);
  EXPECT_FALSE(recording.Found());
}

TEST(RepeatedSpan, KeepsWhatIsAsFastAsTheRepetitions) {
  Recording recording;
  for (int i = 0; i < 60; ++i) recording.Kernel("forward_" + std::to_string(i), 10'000);
  for (int i = 0; i < 12; ++i) recording.Repetition(10'000, 14);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->start, 0);
}

// Three iterations of which the first loads code: what is alike in sixty operations is no chance.
TEST(RepeatedSpan, TwoLongOnesBehindASlowOneAreEnough) {
  Recording recording;
  recording.Repetition(1'000'000);
  recording.Pause(100'000);
  const int64_t begin = recording.at();
  for (int i = 0; i < 2; ++i) recording.Repetition(10'000), recording.Pause(100'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(found->start), static_cast<double>(begin), 10'000);
}

TEST(RepeatedSpan, IsNothingOfTwoRepetitions) {
  Recording recording;
  for (int i = 0; i < 2; ++i) recording.Repetition(10'000), recording.Pause(60'000);
  EXPECT_FALSE(recording.Found());
}

TEST(RepeatedSpan, OfOneKernelAgainAndAgainIsAllOfIt) {
  Recording recording;
  for (int i = 0; i < 50; ++i) recording.Kernel("gemm", 10'000);
  const auto found = recording.Found();
  ASSERT_TRUE(found);
  EXPECT_LT(found->start, 20'000);
}

}  // namespace
}  // namespace gapless::internal
