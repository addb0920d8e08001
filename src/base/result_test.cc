// SPDX-License-Identifier: Apache-2.0
// Tests of Result: values, errors, and the macro that passes errors on.
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace gapless::internal {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Fail(ErrorCode::kUsage, "7 is odd", "argument 1", "give an even number");
  return n / 2;
}

Result<void> CheckHalf(int n, int& evaluations) {
  GAPLESS_TRY((++evaluations, Half(n)));
  return {};
}

TEST(Result, HoldsAValue) {
  const Result<int> half = Half(8);
  ASSERT_TRUE(half);
  EXPECT_EQ(*half, 4);
  EXPECT_TRUE(half.has_value());
}

TEST(Result, HoldsAnErrorThatSaysWhatWhereAndWhatNext) {
  const Result<int> half = Half(7);
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, ErrorCode::kUsage);
  EXPECT_EQ(half.error().ToString(), "argument 1: 7 is odd (give an even number)");
}

TEST(Result, ErrorTextLeavesOutWhatIsUnknown) {
  EXPECT_EQ(Fail(ErrorCode::kInput, "empty file").error.ToString(), "empty file");
  EXPECT_EQ(Fail(ErrorCode::kInput, "empty file", "a.json").error.ToString(), "a.json: empty file");
  EXPECT_EQ(Fail(ErrorCode::kInput, "empty file", "", "record again").error.ToString(), "empty file (record again)");
}

TEST(Result, MovesOutWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 3);
}

TEST(Result, TryPassesTheFailureOnAndEvaluatesOnce) {
  int evaluations = 0;
  EXPECT_TRUE(CheckHalf(8, evaluations));
  EXPECT_EQ(evaluations, 1);
  const Result<void> failed = CheckHalf(7, evaluations);
  EXPECT_EQ(evaluations, 2);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "7 is odd");
}

TEST(ExitStatus, IsTheOneScriptsRelyOn) {
  EXPECT_EQ(ExitStatus(ErrorCode::kUsage), 2);
  EXPECT_EQ(ExitStatus(ErrorCode::kInput), 3);
  EXPECT_EQ(ExitStatus(ErrorCode::kEnvironment), 4);
  EXPECT_EQ(ExitStatus(ErrorCode::kCommand), 5);
  EXPECT_EQ(ExitStatus(ErrorCode::kInterrupted), 130);
}

}  // namespace
}  // namespace gapless::internal
