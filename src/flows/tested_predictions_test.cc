// SPDX-License-Identifier: Apache-2.0
// Tested predictions of the user beside those of the program.
#include "flows/tested_predictions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "store/history.h"

namespace gapless::internal {
namespace {

class TestedPredictionsTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  size_t built_in_ = BuiltInLedger().size();
  // Cases run side by side, each in a process of its own.
  std::string path_ = ::testing::TempDir() + "/tested_predictions-" + std::to_string(::getpid()) + ".db";
};

TEST_F(TestedPredictionsTest, WithoutAHistoryThereIsWhatTheProgramHas) {
  const TestedPredictions tested = ReadTestedPredictions("sqlite:" + path_);
  EXPECT_EQ(tested.rows.size(), built_in_);
  EXPECT_TRUE(tested.warning.empty());
  EXPECT_FALSE(std::filesystem::exists(path_)) << "reading makes no history";
}

TEST_F(TestedPredictionsTest, WhatIsKeptIsReadAgain) {
  const Prediction prediction{.what = {{.name = "workers", .value = "4"}, {.name = "pin"}},
                              .model = {.low = 0.6, .expected = 0.7, .high = 0.8}};
  ASSERT_TRUE(KeepTestedPrediction("sqlite:" + path_, prediction, "run.json", 0.75));
  const TestedPredictions tested = ReadTestedPredictions("sqlite:" + path_);
  ASSERT_EQ(tested.rows.size(), built_in_ + 1);
  const AdviceRow& own = tested.rows.back();
  EXPECT_EQ(own.kind, KindOf(prediction.what));
  EXPECT_EQ(own.recording, "run.json");
  EXPECT_EQ(own.measured, 0.75);
  EXPECT_EQ(own.model.expected, 0.7);
}

TEST_F(TestedPredictionsTest, AHistoryThatCannotBeReadIsLeftOutWithAWarning) {
  std::ofstream(path_) << "this is no database, however long one looks at it: " << std::string(4096, 'x');
  const TestedPredictions tested = ReadTestedPredictions("sqlite:" + path_);
  EXPECT_EQ(tested.rows.size(), built_in_);
  EXPECT_NE(tested.warning.find("left out"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
