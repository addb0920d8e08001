// SPDX-License-Identifier: Apache-2.0
// A ring may hold anything: whoever reads it neither ends, hangs nor takes more memory than the ring has bytes.
#include "wire/testing/hostile_rings.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "collect/flight_recorder.h"
#include "collect/manifest.h"
#include "collect/metrics.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
using wire::HostileRings;
using wire::RingFile;

class RingsThatLie : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = ::testing::TempDir() + "/gapless_hostile_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_);
    fs::create_directories(run_ + "/rank0");
    path_ = run_ + "/rank0/agent-42.ring";
  }
  void TearDown() override { fs::remove_all(run_); }
  void Write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }
  // Returns the records read, at most `most`: a ring cannot hold more.
  uint64_t Read(uint64_t most) const {
    auto reader = RingReader::Open(path_);
    uint64_t seen = 0;
    if (!reader) return 0;
    reader->ReadNew([&](const wire::RingRecord&) { EXPECT_LE(++seen, most); });
    return seen;
  }
  std::string run_, path_;
};

TEST_F(RingsThatLie, AboutHowMuchWasWritten) {
  for (const uint64_t written : {UINT64_MAX, UINT64_MAX - 1, uint64_t{1} << 63, uint64_t{1} << 40}) {
    RingFile ring(16);
    ring.AddStep(0, 100, 10);
    ring.header.written = written;
    Write(ring.Bytes());
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(Read(16), 0U) << written;
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5)) << written;
  }
}

TEST_F(RingsThatLie, AboutTheirSize) {  // the file is short, whatever its header says
  RingFile ring(16);
  ring.AddStep(0, 100, 10);
  std::string bytes = ring.Bytes();
  const uint32_t capacity = uint32_t{1} << 20;
  bytes.replace(offsetof(wire::RingHeader, capacity), sizeof capacity, reinterpret_cast<const char*>(&capacity),
                sizeof capacity);
  Write(bytes);
  EXPECT_FALSE(RingReader::Open(path_));
}

TEST_F(RingsThatLie, AreNoPipesAndNoLinks) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(RingReader::Open(path_));  // and nobody waits for who writes to it
  fs::remove(path_);
  RingFile ring(16);
  std::ofstream(run_ + "/other", std::ios::binary) << ring.Bytes();
  fs::create_symlink(run_ + "/other", path_);
  EXPECT_FALSE(RingReader::Open(path_));
}

TEST_F(RingsThatLie, OfTextsWithoutEnd) {
  wire::RingTexts texts;
  for (int32_t id = 1; id < 300'000; ++id) {
    RingFile one(16);
    one.AddText(id, std::string(wire::kTextBytes, 'x'));
    texts.Add(one.records.front());
  }
  EXPECT_LE(texts.size(), size_t{1} << 16);
  EXPECT_EQ(texts[299'999].size(), wire::kTextBytes);  // the newest are those that records name
  EXPECT_EQ(texts[1], "");
}

// All that listens to a run gets thousands of such rings.
TEST_F(RingsThatLie, HurtNobodyWhoListens) {
  HostileRings rings(1);
  FlightRecorder flight({});
  RunMetrics metrics(&flight);
  for (int round = 0; round < 3000; ++round) {
    Write(rings.NextBytes());
    RingKeeper keeper(run_, true);
    keeper.Drain(true, [&](AgentProcess& process, const wire::RingRecord& record) {
      flight.OnRecord(process, record);
      metrics.OnRecord(process, record);
    });
    keeper.Finish();
    EXPECT_FALSE(ManifestJson({}, keeper.processes()).empty());
    fs::remove(path_);
    fs::remove(run_ + "/rank0/agent-42.events");
  }
  EXPECT_FALSE(metrics.Text().empty());
  rusage used{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
  EXPECT_LT(used.ru_maxrss, 1'000'000) << "kB";
}

}  // namespace
}  // namespace gapless::internal
