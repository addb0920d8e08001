// SPDX-License-Identifier: Apache-2.0
// Tests recordings that come through pipes: their content, from its beginning as often as one likes, and what goes
// wrong.
#include "ingest/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class SpoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(kept_);
    setenv("TMPDIR", kept_.c_str(), 1);
    ASSERT_EQ(mkfifo(pipe_.c_str(), 0600), 0);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }
  static std::string All(Source& source) {
    auto stream = source.Open();
    std::string all(size_t{4} << 20, '\0');
    all.resize(*(*stream)->Read(all.data(), all.size()));
    return all;
  }
  // Writes into the pipe from a thread of its own, in pieces.
  std::jthread Writer(std::string bytes) const {
    return std::jthread([this, bytes = std::move(bytes)] {
      std::ofstream out(pipe_, std::ios::binary);
      for (size_t at = 0; at < bytes.size(); at += 50'000) out << bytes.substr(at, 50'000) << std::flush;
    });
  }
  std::string folder_ =
      ::testing::TempDir() + "/gapless_spool_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string kept_ = folder_ + "/kept", pipe_ = folder_ + "/pipe";
  std::string text_ = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i * 7919 % 100'003) + "\n";
    return text;
  }();
};

TEST_F(SpoolTest, WhatCameIsReadAsOftenAsOneLikes) {
  const std::jthread writer = Writer(text_);
  uint64_t last = 0;
  const auto source = Spool(pipe_, nullptr, [&](uint64_t bytes) { last = bytes; });
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->path(), pipe_);
  EXPECT_EQ((*source)->stored_bytes(), text_.size());
  EXPECT_EQ(last, text_.size());
  auto open_meanwhile = (*source)->Open();
  EXPECT_TRUE(All(**source) == text_);
  EXPECT_TRUE(All(**source) == text_) << "each stream has a place of its own";
  EXPECT_TRUE(fs::is_empty(kept_)) << "the file has no name";
}

TEST_F(SpoolTest, ASilentPipeIsLeftWhenTheFlagIsSet) {
  const int silent = open(pipe_.c_str(), O_RDWR);  // somebody who may write
  std::atomic<bool> cancel{false};
  const std::jthread stops([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  const auto source = Spool(pipe_, &cancel);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::kInterrupted);
  EXPECT_TRUE(fs::is_empty(kept_));
  close(silent);
}

TEST_F(SpoolTest, APipeWithoutAWriterIsLeftToo) {
  std::atomic<bool> cancel{true};
  EXPECT_EQ(Spool(pipe_, &cancel).error().code, ErrorCode::kInterrupted);
}

TEST_F(SpoolTest, NoRoomIsAnErrorThatSaysWhatToDo) {
  setenv("TMPDIR", "/nowhere", 1);
  const int held = open(pipe_.c_str(), O_RDWR);
  const auto source = Spool(pipe_, nullptr);
  close(held);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(source.error().message.find("/nowhere"), std::string::npos);
  EXPECT_NE(source.error().hint.find("TMPDIR"), std::string::npos);
}

TEST_F(SpoolTest, OnlyWhatCanBeReadOnceIsKept) {
  for (const char* once : {"-", "/dev/stdin", "/dev/null"}) EXPECT_TRUE(IsReadOnce(once)) << once;
  EXPECT_TRUE(IsReadOnce(pipe_));
  std::ofstream(folder_ + "/file") << "text";
  for (const std::string& path : {folder_ + "/file", folder_, std::string("/nowhere")})
    EXPECT_FALSE(IsReadOnce(path)) << path;
}

// Standard input is a file here, of which a program before has read some.
TEST_F(SpoolTest, AFileIsReadWhereItIsFromWhereItStands) {
  std::ofstream(folder_ + "/file") << "before" << text_;
  const int saved = dup(STDIN_FILENO), file = open((folder_ + "/file").c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  lseek(STDIN_FILENO, 6, SEEK_SET);
  const auto source = Spool("-", nullptr);
  dup2(saved, STDIN_FILENO);
  close(saved), close(file);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->path(), "standard input");
  EXPECT_EQ((*source)->stored_bytes(), text_.size());
  EXPECT_TRUE(All(**source) == text_);
}

}  // namespace
}  // namespace gapless::internal
