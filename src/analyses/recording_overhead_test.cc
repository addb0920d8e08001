// SPDX-License-Identifier: Apache-2.0
#include "analyses/recording_overhead.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

int64_t OfOperator(HandMade& made) {
  const auto trace = made.Finish();
  return RecordingOverhead(*trace).OfNs(SliceCategory::kOperator);
}

TEST(RecordingOverhead, GrowsWithWhatIsRecorded) {
  HandMade bare, shapes, stacks, nsys, unknown;
  bare.Format("kineto").Operator("aten::mm", 0, 100);
  shapes.Format("kineto").OperatorOn("aten::mm", 0, 100, {.shapes = "[[8,8]]"});
  stacks.Format("kineto").Operator("aten::mm", 0, 100).Python("f", 0, 200, "");
  nsys.Format("nsys").OperatorOn("aten::mm", 0, 100, {.shapes = "[[8,8]]"});
  unknown.Format("chrome").Operator("aten::mm", 0, 100);
  EXPECT_EQ(OfOperator(bare), 200);
  EXPECT_EQ(OfOperator(shapes), 300);
  EXPECT_EQ(OfOperator(stacks), 2700);
  EXPECT_EQ(OfOperator(nsys), 8000);
  EXPECT_EQ(OfOperator(unknown), 0) << "of a recorder that is not known nothing is taken out";
}

}  // namespace
}  // namespace gapless::internal
