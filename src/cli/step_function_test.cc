// SPDX-License-Identifier: Apache-2.0
#include "cli/step_function.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(StepFunction, NamesAFileOrAModuleAndAFunction) {
  for (const char* given :
       {"train.py:train_step", "../my code/train.py:Loop.run", "package.module:Class.method", "train:größe"}) {
    const auto parsed = ReadStepFunction({}, given);
    ASSERT_TRUE(parsed) << given;
    EXPECT_EQ(*parsed, given);
  }
  for (const char* given :
       {"train.py", "train.py:", ":train_step", "train.py:run()", "train.py:.run", "my code:run", ""})
    EXPECT_FALSE(ReadStepFunction({}, given)) << given;
}

}  // namespace
}  // namespace gapless::internal
