// SPDX-License-Identifier: Apache-2.0
#include "analyses/tensor_sizes.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TensorSize SizeOf(std::string_view shapes, std::string_view types) {
  testing::HandMade made;
  made.OperatorOn("op", 0, 10, {.shapes = shapes, .types = types});
  const auto trace = made.Finish();
  return TensorSizes(*trace).Of(SliceId(uint64_t{0}));
}

TEST(TensorSizes, TheLargestInputAndWhatMustBeMoved) {
  const TensorSize size = SizeOf("[[4,8],[8],[]]", R"(["float","float","Scalar"])");
  EXPECT_EQ(size.elements, 32);
  EXPECT_EQ(size.bytes, 4 * (32 + 8 + 32)) << "both read, an output like the largest written";
}

TEST(TensorSizes, ListsOfTensorsCount) { EXPECT_EQ(SizeOf("[[[4,8],[100]]]", R"(["TensorList"])").elements, 100); }

TEST(TensorSizes, ScalarsAreOneElementAndNothingRecordedIsNone) {
  EXPECT_EQ(SizeOf("[[],[]]", R"(["float","Scalar"])").elements, 1);
  EXPECT_EQ(SizeOf("", "").elements, 0);
  EXPECT_EQ(SizeOf("[[4,8]]", "").bytes, 0) << "types not recorded";
}

}  // namespace
}  // namespace gapless::internal
