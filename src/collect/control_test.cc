// SPDX-License-Identifier: Apache-2.0
// Tests posting and reading of commands in the control block, also from several processes.
#include "collect/control.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

namespace gapless::internal {
namespace {

class Control : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = ::testing::TempDir() + "/gapless_control_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(run_);
    std::filesystem::create_directories(run_);
  }
  void TearDown() override { std::filesystem::remove_all(run_); }
  wire::ControlSlot Slot(uint64_t sequence) const {
    const std::string bytes = ContentOf(run_ + "/control");
    wire::ControlSlot slot{};
    const size_t at = 4096 + (sequence - 1) % 16 * 256;
    if (bytes.size() >= at + sizeof slot) std::memcpy(&slot, bytes.data() + at, sizeof slot);
    return slot;
  }
  std::string run_;
};

TEST_F(Control, CommandsGetNumbersAndPlaces) {
  auto block = ControlBlock::Make(run_);
  ASSERT_TRUE(block);
  EXPECT_EQ(*block->Post(wire::AgentCommand::kRecord, 3, "slow step"), 1U);
  EXPECT_EQ(*block->Post(wire::AgentCommand::kFixOn, 0, "gc_freeze"), 2U);
  EXPECT_EQ(Slot(1).argument, 3);
  EXPECT_STREQ(Slot(1).text, "slow step");
  EXPECT_EQ(Slot(2).command, wire::AgentCommand::kFixOn);
  EXPECT_EQ(Slot(2).at_step, wire::kStepNotAgreed);
  EXPECT_EQ(block->AgreedStep(2), wire::kStepNotAgreed);
}

TEST_F(Control, AnotherProcessMayPost) {
  auto launcher = ControlBlock::Make(run_);
  ASSERT_TRUE(launcher);
  auto other = ControlBlock::Open(run_);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->launcher_pid(), ::getpid());
  for (uint64_t sequence = 1; sequence <= 40; ++sequence)
    EXPECT_EQ(*(sequence % 2 ? launcher : other)->Post(wire::AgentCommand::kMemory, 0), sequence);
  EXPECT_EQ(Slot(40).sequence, 40U);
}

TEST_F(Control, LongTextsAreCut) {
  auto block = ControlBlock::Make(run_);
  ASSERT_TRUE(block);
  ASSERT_TRUE(block->Post(wire::AgentCommand::kFixOn, 0, std::string(1000, 'x')));
  EXPECT_EQ(std::strlen(Slot(1).text), 215U);
}

TEST_F(Control, IsOnlyThereWhereARunIs) {
  const auto none = ControlBlock::Open(run_);
  ASSERT_FALSE(none);
  EXPECT_FALSE(none.error().hint.empty());
  ASSERT_TRUE(WriteFileAtomically(run_ + "/control", "something else"));
  EXPECT_FALSE(ControlBlock::Open(run_));
}

}  // namespace
}  // namespace gapless::internal
