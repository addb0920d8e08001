// SPDX-License-Identifier: Apache-2.0
#include "cli/step_function.h"

#include <gtest/gtest.h>

#include <vector>

#include "cli/command.h"

namespace gapless::internal {
namespace {

Result<std::string> ParsedFunction(std::string_view value) {
  static constexpr OptionSpec kOptions[] = {kStepFunctionOption};
  static constexpr Command kCommand = {
      .name = "verb", .help = "", .about = "", .positionals = {}, .options = kOptions, .examples = {}, .run = nullptr};
  const std::vector<std::string> words = {"--step-function", std::string(value)};
  GAPLESS_ASSIGN(const auto arguments, ParseArguments(kCommand, words));
  return StepFunctionFrom(arguments);
}

TEST(StepFunction, NamesAFileOrAModuleAndAFunction) {
  for (const char* given :
       {"train.py:train_step", "../my code/train.py:Loop.run", "package.module:Class.method", "train:größe"}) {
    const auto parsed = ParsedFunction(given);
    ASSERT_TRUE(parsed) << given;
    EXPECT_EQ(*parsed, given);
  }
  for (const char* given :
       {"train.py", "train.py:", ":train_step", "train.py:run()", "train.py:.run", "my code:run", ""})
    EXPECT_FALSE(ParsedFunction(given)) << given;
}

}  // namespace
}  // namespace gapless::internal
