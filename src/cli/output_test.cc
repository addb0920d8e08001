// SPDX-License-Identifier: Apache-2.0
// Tests that a file appears only when it is complete, and that errors name the file.
#include "cli/output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class OutputTest : public testing::Test {
 protected:
  OutputTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / (std::string("gapless_output_") + test->name() + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  ~OutputTest() override { fs::remove_all(folder); }
  std::string Content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Files() {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder;
};

TEST_F(OutputTest, AFileAppearsOnlyWhenItIsComplete) {
  const fs::path path = folder / "report.json";
  auto output = Output::Open(path.string());
  ASSERT_TRUE(output);
  output->Write("half");
  EXPECT_FALSE(fs::exists(path));
  output->Write(" and half");
  EXPECT_TRUE(output->Commit());
  EXPECT_EQ(Content(path), "half and half");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(OutputTest, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  const fs::path path = folder / "report.json";
  ASSERT_TRUE(WriteFile(path.string(), "old"));
  {
    auto output = Output::Open(path.string());
    ASSERT_TRUE(output);
    output->Write("new");
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(OutputTest, ManyFilesCanBeCompleteBeforeAnyAppears) {
  const fs::path path = folder / "report.json";
  {
    auto output = Output::Open(path.string());
    ASSERT_TRUE(output);
    output->Write("all");
    EXPECT_TRUE(output->Close());
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(output->Commit());
    EXPECT_EQ(Content(path), "all");
  }
  {
    auto output = Output::Open(path.string());
    ASSERT_TRUE(output);
    EXPECT_TRUE(output->Close());
  }
  EXPECT_EQ(Content(path), "all");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(OutputTest, WhatCannotBeWrittenIsNamed) {
  const auto missing = Output::Open((folder / "no" / "file").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kEnvironment);
  const auto is_folder = Output::Open(folder.string());
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().code, ErrorCode::kUsage);
}

TEST_F(OutputTest, ADeviceIsWrittenToAndStays) {
  EXPECT_TRUE(WriteFile("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const auto full = WriteFile("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kEnvironment);
}

}  // namespace
}  // namespace gapless::internal
