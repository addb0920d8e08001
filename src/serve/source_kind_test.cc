// SPDX-License-Identifier: Apache-2.0
// The source that a path leads to is told by its beginning, and what nothing claims is left to the readers of
// recordings.
#include "serve/source_kind.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "collect/control.h"

namespace gapless::internal {
namespace {

class SourceKindTest : public testing::Test {
 protected:
  SourceKindTest() {
    folder_ = testing::TempDir() + StrCat("kinds-", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~SourceKindTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, std::string_view text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string folder_;
};

TEST_F(SourceKindTest, AnAddressIsAHistory) {
  EXPECT_EQ(KindOfSource("sqlite:history.db"), SourceKind::kHistory);
  EXPECT_EQ(KindOfSource("postgresql://user@host/database"), SourceKind::kHistory);
}

TEST_F(SourceKindTest, ADatabaseWithoutTheTablesOfAHistoryMayBeARecording) {
  const std::string database = File("export.sqlite", std::string_view("SQLite format 3\0", 16));
  EXPECT_EQ(KindOfSource(database), SourceKind::kRecording);
}

TEST_F(SourceKindTest, TheEnvelopeOfADocumentSaysWhoseItIs) {
  const std::string mine =
      File("result.json", R"({"gapless": {"version": "1", "command": "optimize"}, "proved": true})");
  const std::string other = File("report.json", R"({"gapless": {"version": "1", "command": "analyze"},
      "note": {"command": "optimize"}})");
  EXPECT_EQ(KindOfSource(mine), SourceKind::kOptimize);
  EXPECT_EQ(KindOfSource(other), SourceKind::kRecording);
  EXPECT_EQ(KindOfSource(File("trace.json", R"({"traceEvents": [{"command": "optimize"}]})")), SourceKind::kRecording);
}

TEST_F(SourceKindTest, AFolderWithAJournalIsASearch) {
  EXPECT_EQ(KindOfSource(folder_), SourceKind::kRecording);
  File("journal.jsonl", "{\"gapless_optimize\":\"key\"}\n");
  EXPECT_EQ(KindOfSource(folder_), SourceKind::kOptimize);
}

TEST_F(SourceKindTest, ARunFolderIsAJobUntilItsLauncherHasEnded) {
  auto control = ControlBlock::Make(folder_);
  ASSERT_TRUE(control);
  EXPECT_EQ(KindOfSource(folder_), SourceKind::kJob);
  control->SetEnded();
  EXPECT_EQ(KindOfSource(folder_), SourceKind::kRecording);
}

TEST_F(SourceKindTest, WhatIsNotThereIsLeftToTheReaders) {
  EXPECT_EQ(KindOfSource(folder_ + "/none"), SourceKind::kRecording);
  EXPECT_EQ(KindOfSource("-"), SourceKind::kRecording);
}

}  // namespace
}  // namespace gapless::internal
