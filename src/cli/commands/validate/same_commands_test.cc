// SPDX-License-Identifier: Apache-2.0
// Tests where two commands are one.
#include "cli/commands/validate/same_commands.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gapless::internal {
namespace {

const std::vector<std::string> kTrain = {"python", "train.py"};

class SameCommands : public testing::Test {
 protected:
  SameCommands() { std::filesystem::create_directories(folder_); }
  ~SameCommands() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::vector<std::string> Run(std::vector<std::string> options, const std::vector<std::string>& command) {
    std::vector<std::string> words = {"/usr/bin/gapless", "run"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SameCommands, TheSameWords) {
  EXPECT_EQ(WhyNothingDiffers({kTrain, kTrain}), "both commands are python train.py");
  EXPECT_EQ(WhyNothingDiffers({kTrain, {"python", "train.py", "--amp"}}), "");
}

TEST_F(SameCommands, ARecipeWithoutFixes) {
  const std::string empty = File("empty.json", R"({"format":"gapless.recipe","schema":1,"command":[],"fixes":[]})");
  const std::string one =
      File("one.json", R"({"format":"gapless.recipe","schema":1,"command":[],"fixes":[{"item":"workers=2"}]})");
  EXPECT_NE(WhyNothingDiffers({kTrain, Run({"--recipe", empty}, kTrain)}).find("has no fixes"), std::string::npos);
  EXPECT_NE(WhyNothingDiffers({kTrain, Run({"-q", "--recipe=" + empty}, kTrain)}), "");
  EXPECT_EQ(WhyNothingDiffers({kTrain, Run({"--recipe", one}, kTrain)}), "");
  EXPECT_EQ(WhyNothingDiffers({kTrain, Run({"--recipe", empty, "--fix", "mine.py"}, kTrain)}), "") << "another option";
  EXPECT_EQ(WhyNothingDiffers({kTrain, Run({"--recipe", empty}, {"python", "other.py"})}), "");
  EXPECT_EQ(WhyNothingDiffers({kTrain, Run({"--recipe", empty + ".none"}, kTrain)}), "") << "it cannot be read";
}

TEST_F(SameCommands, ConfigurationsOfTheSameBytes) {
  const std::string a = File("a.yaml", "batch: 8\n"), b = File("b.yaml", "batch: 8\n"),
                    c = File("c.yaml", "batch: 16\n");
  EXPECT_NE(WhyNoConfigurationDiffers(a, b), "");
  EXPECT_EQ(WhyNoConfigurationDiffers(a, c), "");
  EXPECT_EQ(WhyNoConfigurationDiffers(a, a + ".none"), "");
}

}  // namespace
}  // namespace gapless::internal
