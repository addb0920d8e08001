// SPDX-License-Identifier: Apache-2.0
#include "predict/fixes/common/passes.h"

#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Program;

TEST(Passes, OfAStep) {
  Program program;
  program.Steps(2, [&] {
    program.Load(100).Kernel({.op = "aten::mm", .name = "forward"});
    program.Backward([&] { program.Kernel({.op = "aten::mm", .name = "backward"}); });
    program.Kernel({.op = "aten::norm", .name = "clip"});
    program.Optimizer([&] { program.Kernel({.op = "aten::add_", .name = "update"}); });
  });
  const auto trace = program.Finish();
  const Passes passes = FindPasses(*trace);
  ASSERT_EQ(passes.of_op.size(), 8U);
  for (size_t op = 0; op < 8; op += 4) {
    EXPECT_EQ(passes.of_op[op], Pass::kForward);
    EXPECT_EQ(passes.of_op[op + 1], Pass::kBackward);
    EXPECT_EQ(passes.of_op[op + 2], Pass::kNone) << "after the backward pass, and not the optimiser";
    EXPECT_EQ(passes.of_op[op + 3], Pass::kOptimizer);
  }
}

}  // namespace
}  // namespace gapless::internal
