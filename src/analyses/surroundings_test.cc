// SPDX-License-Identifier: Apache-2.0
#include "analyses/surroundings.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(Surroundings, AreReadFromNames) {
  EXPECT_EQ(SurroundingOf("Optimizer.step#SGD.step"), kInOptimizer);
  EXPECT_EQ(SurroundingOf("AddmmBackward0"), kInAutograd);
  EXPECT_EQ(SurroundingOf("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"),
            kInAutograd | kInAccumulateGrad);
  EXPECT_EQ(SurroundingOf("CompiledFunctionBackward") & kInCompiled, kInCompiled);
  EXPECT_EQ(SurroundingOf("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), kInLoader);
  EXPECT_EQ(SurroundingOf("aten::add"), 0);
}

TEST(Surroundings, ReachAllThatIsInside) {
  testing::HandMade made;
  made.Annotation("Optimizer.step#SGD.step", 0, 100).Operator("aten::add_", 10, 20).Operator("aten::add", 200, 210);
  const auto trace = made.Finish();
  EXPECT_EQ(Surroundings(*trace), (std::vector<uint8_t>{kInOptimizer, kInOptimizer, 0}));
}

}  // namespace
}  // namespace gapless::internal
