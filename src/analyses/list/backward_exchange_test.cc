// SPDX-License-Identifier: Apache-2.0
// Tests table backward_exchange: gradients that are exchanged after each of several passes, or after the last one.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Three updates after four passes each; the window begins in the midst of an accumulation. `exchanges(pass)`: how many
// buckets are exchanged after that pass.
template <class F>
void Accumulates(HandMade& trace, F&& exchanges) {
  int64_t at = 0;
  trace.Annotation("DistributedDataParallel.forward", at, at + 10);
  trace.Annotation("Optimizer.step#SGD.step", at + 50, at + 60);
  for (int64_t update = 0; update < 2; ++update) {
    for (int64_t pass = 0; pass < 4; ++pass) {
      at += 100;
      trace.Annotation("DistributedDataParallel.forward", at, at + 10);
      for (int64_t bucket = 0; bucket < exchanges(pass); ++bucket)
        trace.Operator("c10d::allreduce_", at + 20 + 5 * bucket, at + 22 + 5 * bucket);
    }
    trace.Annotation("Optimizer.step#SGD.step", at + 50, at + 60);
  }
}

TEST(BackwardExchange, CountsPassesThatExchange) {
  HandMade each, last, never;
  Accumulates(each, [](int64_t) { return 2; });
  Accumulates(last, [](int64_t pass) { return pass == 3 ? 4 : 0; });  // as many as there are passes
  Accumulates(never, [](int64_t) { return 0; });
  Analysed of_each(each), of_last(last), of_never(never);
  const auto table = of_each["backward_exchange"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "updates"), 2);
  EXPECT_EQ(table.Int(0, "passes"), 8);
  EXPECT_EQ(table.Int(0, "exchanging"), 8);
  EXPECT_EQ(table.Int(0, "exchanges"), 16);
  EXPECT_EQ(of_last["backward_exchange"].Int(0, "exchanging"), 2);
  EXPECT_EQ(of_never["backward_exchange"].Int(0, "exchanging"), 0);
}

TEST(BackwardExchange, HasNoRowsWithoutMarks) {
  HandMade trace;
  trace.Step(0, 0, 1000).Operator("c10d::allreduce_", 100, 200);
  Analysed run(trace);
  EXPECT_EQ(run["backward_exchange"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
