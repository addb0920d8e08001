// SPDX-License-Identifier: Apache-2.0
// Optimize() as a program that uses the library calls it.
#include "gapless/optimize.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace gapless {
namespace {

namespace fs = std::filesystem;

class OptimizeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("gapless-optimize-" + std::to_string(::getpid()));
    options_.folder = (folder_ / "optimized").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
  OptimizeOptions options_;
};

TEST_F(OptimizeTest, OptionsThatCannotBeUsedAreUsageErrors) {
  const auto code = [&](const OptimizeOptions& options) {
    const auto found = Optimize({"true"}, options);
    return found ? std::nullopt : std::optional(found.error().code);
  };
  EXPECT_EQ(Optimize({}, options_).error().code, ErrorCode::kUsage);
  for (const auto& change : std::vector<std::function<void(OptimizeOptions&)>>{
           [](OptimizeOptions& options) { options.budget_s = 0; }, [](OptimizeOptions& options) { options.margin = 1; },
           [](OptimizeOptions& options) { options.max_pairs = 1; },
           [](OptimizeOptions& options) { options.allow = Safety::kHardware; },
           [](OptimizeOptions& options) { options.only = {"no_such_fix"}; },
           [](OptimizeOptions& options) { options.own_fixes = {"no_such_file.py"}; },
           [](OptimizeOptions& options) { options.metric = "accuracy"; }}) {
    OptimizeOptions options = options_;
    change(options);
    EXPECT_EQ(code(options), ErrorCode::kUsage);
  }
  EXPECT_FALSE(fs::exists(options_.folder)) << "nothing is written for a question that cannot be asked";
}

TEST_F(OptimizeTest, ACommandThatFailsIsAnErrorWithItsEnd) {
  const auto found = Optimize({"/bin/sh", "-c", "echo no such data; exit 3"}, options_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kCommand);
  EXPECT_NE(found.error().hint.find("no such data"), std::string::npos);
}

// A command without Python: no fix applies, each says why, and nothing is handed over.
TEST_F(OptimizeTest, WithoutAFixThatAppliesTheCommandStays) {
  options_.only = {"gc_freeze"};
  options_.budget_s = 60;
  std::vector<std::string> decided;
  options_.on_decision = [&](const FixDecision& decision) { decided.push_back(decision.fix); };
  const auto found = Optimize({"/bin/sh", "-c", "sleep 0.2"}, options_);
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_FALSE(found->proved);
  EXPECT_FALSE(found->speedup);
  EXPECT_GT(found->step_before_ms, 100);
  ASSERT_EQ(found->decisions.size(), 1U);
  EXPECT_EQ(decided, std::vector<std::string>{found->decisions[0].fix});
  EXPECT_NE(found->decisions[0].outcome, FixOutcome::kAccepted);
  EXPECT_FALSE(found->decisions[0].reason.empty());
  EXPECT_TRUE(found->recipe.empty() && found->candidate.empty() && found->patch.empty());
  EXPECT_TRUE(fs::exists(options_.folder + "/journal.jsonl"));
}

}  // namespace
}  // namespace gapless
