// SPDX-License-Identifier: Apache-2.0
// Whoever looks at a search meanwhile reads a whole file: what is being tried, what was decided, and how it ended.
#include "flows/optimize_progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "predict/fix.h"

namespace gapless::internal {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() {
    folder_ = ::testing::TempDir() + StrCat("progress-", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~ProgressTest() override { std::filesystem::remove_all(folder_); }

  documents::OptimizeProgress Read() const {
    auto progress = ReadProgress(folder_);
    EXPECT_TRUE(progress) << progress.error().message;
    return progress ? *progress : documents::OptimizeProgress{};
  }

  std::string folder_;
  FixItem item_{.fix = FindFixWithTrial("workers"), .value = "4"};
};

TEST_F(ProgressTest, ItSaysWhatIsTriedAndWhatWasDecided) {
  ProgressFile file(folder_, {"python", "train.py", "--api-key", "s3cret-value"}, 60);
  EXPECT_EQ(Read().state, "recording");
  file.On({.kind = PlannerEvent::Kind::kTrying, .item = &item_, .done = 1, .of = 7});
  EXPECT_EQ(Read().trial->what, "trying workers=4");
  EXPECT_EQ(Read().of, 7);
  const Decision decision{.item = item_,
                          .outcome = FixOutcome::kAccepted,
                          .reason = "it is faster, with HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123456789",
                          .measured = RatioInterval{.low = 1.2, .high = 1.4, .expected = 1.3},
                          .pairs = 8};
  file.On({.kind = PlannerEvent::Kind::kDecided, .decision = &decision});
  const documents::OptimizeProgress progress = Read();
  ASSERT_EQ(progress.decisions.size(), 1U);
  EXPECT_EQ(progress.decisions[0].fix, "workers=4");
  EXPECT_EQ(progress.decisions[0].outcome, "accepted");
  EXPECT_EQ(progress.decisions[0].measured->expected, 1.3);
  EXPECT_EQ(progress.pid, ::getpid());
  std::ifstream text(folder_ + "/progress.json");
  const std::string content{std::istreambuf_iterator<char>(text), {}};
  EXPECT_EQ(content.find("s3cret-value"), std::string::npos) << content;
  EXPECT_EQ(content.find("hf_abcdef"), std::string::npos) << content;
}

TEST_F(ProgressTest, ItsEndIsDoneOrFailed) {
  {
    ProgressFile file(folder_, {"true"}, 60);
    file.Finish();
    EXPECT_EQ(Read().state, "done");
  }
  EXPECT_EQ(Read().state, "done");
  { const ProgressFile file(folder_, {"true"}, 60); }
  EXPECT_EQ(Read().state, "failed");
  EXPECT_FALSE(Read().trial);
}

TEST_F(ProgressTest, OnlyItsOwnerReadsIt) {
  const ProgressFile file(folder_, {"true"}, 60);
  const auto mode = std::filesystem::status(folder_ + "/progress.json").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(ProgressTest, AFolderThatCannotBeWrittenStopsNothing) {
  ProgressFile file(folder_ + "/none", {"true"}, 60);
  file.On({.kind = PlannerEvent::Kind::kBaseline});
  file.Finish();
  EXPECT_FALSE(ReadProgress(folder_ + "/none"));
}

}  // namespace
}  // namespace gapless::internal
