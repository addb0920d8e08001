// SPDX-License-Identifier: Apache-2.0
// The file of the native collector: for its owner only, in the run and nowhere else, and a full disk costs records
// alone.
#include "inject/stream_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace gapless::internal::inject {
namespace {

namespace fs = std::filesystem;

class Streams : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = ::testing::TempDir() + "/gapless_stream_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_);
    fs::create_directories(run_);
    file_.Prepare(run_.c_str(), {.rank = 3, .world_size = 4}, 1);
  }
  void TearDown() override { fs::remove_all(run_); }
  void Write() { file_.Write(block_, sizeof block_, 2); }
  std::string Path() const { return run_ + "/rank3/cupti-" + std::to_string(::getpid()) + ".gcs"; }
  static mode_t ModeOf(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 07777U;
  }
  // Returns the number of lost records in the first block of the file.
  uint64_t LostByFile() const {
    std::ifstream file(Path(), std::ios::binary);
    file.seekg(sizeof(wire::FileHeader));
    wire::BlockHeader header{};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    std::string payload(wire::Padded(header.payload_bytes), '\0');
    file.read(payload.data(), static_cast<std::streamsize>(payload.size()));
    const auto* const bytes = reinterpret_cast<const uint8_t*>(payload.data());
    EXPECT_EQ(header.magic, wire::kBlockMagic);
    EXPECT_EQ(header.checksum, wire::Checksum(bytes, payload.size()));
    EXPECT_EQ(bytes[0], static_cast<uint8_t>(wire::RecordType::kDropped));
    EXPECT_EQ(bytes[1] + 2U, header.payload_bytes);
    wire::FieldReader fields(bytes + 2, bytes + header.payload_bytes);
    const uint64_t count = fields.Next();
    EXPECT_EQ(fields.Next(), static_cast<uint64_t>(wire::DropCause::kFailed));
    return count;
  }
  std::string run_;
  StreamFile file_;
  uint8_t block_[4096] = {};
};

TEST_F(Streams, AreForTheirOwnerOnly) {
  const mode_t before = ::umask(0);
  Write();
  ::umask(before);
  EXPECT_EQ(file_.lost_records(), 0U);
  EXPECT_EQ(ModeOf(run_ + "/rank3"), 0700U);
  EXPECT_EQ(ModeOf(Path()), 0600U);
}

TEST_F(Streams, LinksLeadNowhere) {
  fs::create_directories(run_ + "/elsewhere");
  fs::create_symlink("elsewhere", run_ + "/rank3");
  Write();
  EXPECT_EQ(file_.lost_records(), 2U);
  EXPECT_TRUE(fs::is_empty(run_ + "/elsewhere"));
}

TEST_F(Streams, AFullDiskCostsRecordsAndNothingElse) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few{.rlim_cur = 6000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // as the collector's thread, which takes no signals
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  Write(), Write(), Write();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(file_.lost_records(), 4U);
  EXPECT_LE(fs::file_size(Path()), 6000U);
  EXPECT_EQ(LostByFile(), 4U);
}

TEST_F(Streams, SayThatNothingIsLost) {
  Write();
  EXPECT_EQ(LostByFile(), 0U);
}

}  // namespace
}  // namespace gapless::internal::inject
