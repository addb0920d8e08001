// SPDX-License-Identifier: Apache-2.0
// Tests reading of rings: continuation, overwritten records, hostile headers and shrinking files.
#include "collect/ring.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "collect/ring_keeper.h"
#include "wire/testing/ring_file.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
using wire::RecordKind;
using wire::RingFile;

class Rings : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = ::testing::TempDir() + "/gapless_rings_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_);
    fs::create_directories(run_ + "/rank3");
  }
  void TearDown() override { fs::remove_all(run_); }
  std::string Write(const RingFile& ring, const std::string& name = "agent-42.ring") const {
    const std::string path = run_ + "/rank3/" + name;
    // In place, as a mapped file changes: the reader keeps it open.
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    if (!file) file.open(path, std::ios::binary | std::ios::out);
    file << ring.Bytes();
    return path;
  }
  static std::vector<uint64_t> NumbersOf(RingReader& reader) {
    std::vector<uint64_t> numbers;
    EXPECT_TRUE(reader.ReadNew([&](const wire::RingRecord& record) { numbers.push_back(record.number); }));
    return numbers;
  }
  std::string run_;
};

TEST_F(Rings, AreReadWhereReadingLeftOff) {
  RingFile ring(8);
  ring.AddStep(0, 100, 10);
  ring.AddStep(1, 110, 10);
  auto reader = RingReader::Open(Write(ring));
  ASSERT_TRUE(reader);
  EXPECT_EQ(NumbersOf(*reader), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(NumbersOf(*reader).empty());
  ring.AddStep(2, 120, 10);
  Write(ring);
  EXPECT_EQ(NumbersOf(*reader), std::vector<uint64_t>{3});
  EXPECT_EQ(reader->lost(), 0U);
}

// The record that would be written next takes the place of the oldest one: that one may be half gone.
TEST_F(Rings, CountWhatWasOverwritten) {
  RingFile ring(8);
  for (int step = 0; step < 20; ++step) ring.AddStep(step, 100 + step, 1);
  auto reader = RingReader::Open(Write(ring));
  ASSERT_TRUE(reader);
  EXPECT_EQ(NumbersOf(*reader), (std::vector<uint64_t>{14, 15, 16, 17, 18, 19, 20}));
  EXPECT_EQ(reader->lost(), 13U);
}

TEST_F(Rings, ThatLieAreRefused) {
  for (const auto damage :
       {+[](RingFile& ring) { ring.header.magic[0] = 'X'; }, +[](RingFile& ring) { ring.header.version = 2; },
        +[](RingFile& ring) { ring.header.record_bytes = 63; }}) {
    RingFile ring(8);
    damage(ring);
    EXPECT_FALSE(RingReader::Open(Write(ring)));
  }
  RingFile ring(8);
  ring.header.capacity = 7;  // no power of two
  EXPECT_FALSE(RingReader::Open(Write(ring, "other.ring")));
  EXPECT_FALSE(RingReader::Open(run_ + "/rank3/none.ring"));
}

TEST_F(Rings, ThatShrinkWhileTheyAreReadEndTheReading) {
  RingFile ring(8);
  ring.AddStep(0, 100, 10);
  const std::string path = Write(ring);
  auto reader = RingReader::Open(path);
  ASSERT_TRUE(reader);
  fs::resize_file(path, 4100);
  EXPECT_FALSE(reader->ReadNew([](const wire::RingRecord&) { FAIL() << "there is no whole record"; }));
}

TEST_F(Rings, PutTextsTogether) {
  RingFile ring(64);
  const std::string text = std::string(100, 'a') + "é";
  ring.AddText(7, text);
  auto reader = RingReader::Open(Write(ring));
  ASSERT_TRUE(reader);
  wire::RingTexts texts;
  reader->ReadNew([&](const wire::RingRecord& record) { texts.Add(record); });
  EXPECT_EQ(texts[7], text);
  EXPECT_EQ(texts[8], "");
}

TEST_F(Rings, AreSavedRecordByRecord) {
  RingFile ring(8);
  RingKeeper keeper(run_, true);
  Write(ring);
  uint64_t seen = 0;
  for (int step = 0; step < 30; ++step) {
    ring.AddStep(step, 100 + step, 1);
    Write(ring);
    keeper.Drain(true, [&](AgentProcess& process, const wire::RingRecord&) {
      EXPECT_EQ(process.folder, "rank3");
      ++seen;
    });
  }
  EXPECT_EQ(seen, 30U);
  EXPECT_EQ(keeper.steps(), 30U);
  EXPECT_EQ(fs::file_size(run_ + "/rank3/agent-42.events"), 4096U + 30 * 64);
}

TEST_F(Rings, StepsAreThoseOfTheProcessThatTrains) {
  RingFile learner(8), actor(64);
  learner.AddStep(0, 100, 1);
  actor.header.pid = 43;
  for (int step = 0; step < 30; ++step) actor.AddStep(step, 100 + step, 1).flags = wire::kStepInference;
  Write(actor, "agent-43.ring");
  RingKeeper keeper(run_, true);
  keeper.Drain(true);
  EXPECT_EQ(keeper.steps(), 30U) << "nobody trains";
  Write(learner);
  keeper.Drain(true);
  EXPECT_EQ(keeper.steps(), 1U);
}

TEST_F(Rings, ThatWereSavedWholeGoWhenTheirProcessHasEnded) {
  RingFile ring(8);
  ring.AddStep(0, 100, 1);
  ring.header.state = wire::AgentState::kEnded;
  Write(ring);
  RingKeeper keeper(run_, true);
  keeper.Finish();
  EXPECT_FALSE(fs::exists(run_ + "/rank3/agent-42.ring"));
  EXPECT_TRUE(fs::exists(run_ + "/rank3/agent-42.events"));
}

TEST_F(Rings, AreLeftAloneByWhoOnlyWatches) {
  RingFile ring(8);
  ring.AddStep(0, 100, 1);
  ring.header.state = wire::AgentState::kEnded;
  Write(ring);
  RingKeeper keeper(run_, false);
  keeper.Finish();
  EXPECT_EQ(keeper.steps(), 1U);
  EXPECT_TRUE(fs::exists(run_ + "/rank3/agent-42.ring"));
  EXPECT_FALSE(fs::exists(run_ + "/rank3/agent-42.events"));
}

}  // namespace
}  // namespace gapless::internal
