// SPDX-License-Identifier: Apache-2.0
#include "collect/recording_account.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

using wire::RecordKind;

class RecordingAccountTest : public ::testing::Test {
 protected:
  void Step(int64_t dur_ns, uint16_t flags = 0) { Add(RecordKind::kStep, dur_ns, flags); }
  void HeldUp(uint16_t part, int64_t dur_ns) { Add(RecordKind::kRecorder, dur_ns, part, 6); }
  void Add(RecordKind kind, int64_t dur_ns, uint16_t flags = 0, int32_t value = 0) {
    wire::RingRecord record{};
    record.kind = kind, record.dur_ns = dur_ns, record.flags = flags, record.value = value;
    cost_.Add(record);
  }
  RecordingAccount cost_;
};

TEST_F(RecordingAccountTest, IsWhatTheProfilerTakesAndWhatItAddsToSteps) {
  Step(9000, wire::kStepFirst);
  for (int step = 0; step < 5; ++step) Step(100);
  HeldUp(1, 400);
  Step(530, wire::kStepRecorded);  // 400 of it to start
  Step(130, wire::kStepRecorded);
  HeldUp(2, 20), HeldUp(3, 700);
  Step(830);
  for (int step = 0; step < 5; ++step) Step(100);
  HeldUp(4, 50), HeldUp(5, 7);
  EXPECT_TRUE(cost_.recorded());
  const RecordingParts parts = cost_.Parts(10);
  EXPECT_EQ(parts.start_ns, 400);
  EXPECT_EQ(parts.slow_steps_ns, 60);
  EXPECT_EQ(parts.stop_ns, 20);
  EXPECT_EQ(parts.export_ns, 700);
  EXPECT_EQ(parts.end_ns, 50);
  EXPECT_EQ(parts.Total(), 10 + 400 + 60 + 20 + 700 + 50 + 7);
}

TEST_F(RecordingAccountTest, LeavesOutWorkBesideTheTrainingButNotThatOfThreads) {
  for (int step = 0; step < 5; ++step) Step(100);
  Add(RecordKind::kSave, 1000);
  Add(RecordKind::kEvaluation, 3000);
  Add(RecordKind::kBeside, 500);
  Add(RecordKind::kBeside, 800, wire::kInThread);
  Step(4630, wire::kStepRecorded);
  EXPECT_EQ(cost_.Parts(0).slow_steps_ns, 30);
}

TEST_F(RecordingAccountTest, IsPartlyUnknownWithoutOtherSteps) {
  HeldUp(1, 400);
  Step(530, wire::kStepRecorded);
  EXPECT_FALSE(cost_.Parts(0).slow_steps_ns);
  EXPECT_EQ(cost_.Parts(0).Total(), 400);
}

}  // namespace
}  // namespace gapless::internal
