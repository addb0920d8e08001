// SPDX-License-Identifier: Apache-2.0
// Findings name the line that constructs an object where the agent saw it, and else the line that uses it.
#include "diagnose/made_lines.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(MadeLines, AnOptimizerByItsClassTheLargestFirst) {
  HandMade trace;
  trace.Environment("optimizer.0", R"({"class":"AdamW","line":"model.py:12","tensors":148})");
  trace.Environment("optimizer.1", R"({"class":"AdamW","line":"small.py:3","tensors":2})");
  trace.Environment("optimizer.2", R"({"class":"SGD","line":"","tensors":900})");
  Analysed run(trace);
  EXPECT_EQ(LineOfOptimizer(run.tables().run(), "AdamW"), "model.py:12");
  EXPECT_EQ(LineOfOptimizer(run.tables().run(), "SGD"), "") << "a library makes it";
  EXPECT_EQ(MadeOr(LineOfOptimizer(run.tables().run(), "SGD"), "trainer.py:99"), "trainer.py:99");
}

TEST(MadeLines, ALoaderByTheLineThatReadsElseTheLargest) {
  HandMade trace;
  trace.Environment("loader.0", R"({"line":"data.py:30","read":"train.py:8","samples":100})");
  trace.Environment("loader.1", R"({"line":"data.py:20","read":"train.py:5","samples":60000})");
  Analysed run(trace);
  EXPECT_EQ(LineOfLoader(run.tables().run(), "train.py:8"), "data.py:30");
  EXPECT_EQ(LineOfLoader(run.tables().run(), "cycle.py:3"), "data.py:20");
  EXPECT_EQ(LineOfLoader(run.tables().run(), ""), "data.py:20");
}

TEST(MadeLines, OthersByTheirClass) {
  HandMade trace;
  trace.Environment("made.0", R"({"class":"GradScaler","line":"train.py:4"})");
  trace.Environment("made.1", R"({"class":"DistributedDataParallel","line":"model.py:9"})");
  Analysed run(trace);
  EXPECT_EQ(LineOfMade(run.tables().run(), "DistributedDataParallel"), "model.py:9");
  EXPECT_EQ(LineOfMade(run.tables().run(), "DataParallel"), "");
}

}  // namespace
}  // namespace gapless::internal
