// SPDX-License-Identifier: Apache-2.0
// Tests ReadInputs, ReadInts and ReadBools on recorded texts, absent texts and sizes out of range.
#include "analyses/shapes.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {

namespace {

TEST(ReadInputs, TensorsListsAndValues) {
  const auto inputs = ReadInputs(R"([[64,3,224,224], [64,3,7,7], [], [[8,4],[8]]])",
                                 R"(["c10::BFloat16","float","ScalarList","TensorList"])", R"(["","","[2, 2]",""])");
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_EQ(inputs[0].shape, (Shape{64, 3, 224, 224}));
  EXPECT_EQ(inputs[0].type, ElementType::kBf16);
  EXPECT_EQ(inputs[1].type, ElementType::kFp32);
  EXPECT_FALSE(inputs[2].is_tensor());
  EXPECT_EQ(ReadInts(inputs[2].value), (std::vector<int64_t>{2, 2}));
  ASSERT_EQ(inputs[3].list.size(), 2u);
  EXPECT_EQ(inputs[3].list[1], (Shape{8}));
}

TEST(ReadInputs, WhatWasNotRecordedIsAbsent) {
  EXPECT_TRUE(ReadInputs("", "", "").empty());
  EXPECT_TRUE(ReadInputs("[[1,2", "", "").empty()) << "cut off";
  EXPECT_TRUE(ReadInputs("[[1,x]]", "", "").empty());
  EXPECT_EQ(ReadInputs("[[4]]", "", "")[0].type, ElementType::kUnknown);
}

TEST(ReadInputs, SizesThatCannotBeAreNotRead) {
  EXPECT_TRUE(ReadInputs("[[-1,2]]", "", "").empty());
  EXPECT_TRUE(ReadInputs("[[9223372036854775807]]", "", "").empty());
  EXPECT_EQ(Elements({1LL << 40, 1LL << 40, 1LL << 40}), kMaxElements) << "no overflow";
}

TEST(ReadInts, ListsAndNumbersOnly) {
  EXPECT_EQ(ReadInts("3"), (std::vector<int64_t>{3}));
  EXPECT_EQ(ReadInts("[-1, 2]"), (std::vector<int64_t>{-1, 2}));
  for (const std::string_view other : {"", "True", "[a]", "0.5", "[1"}) EXPECT_TRUE(ReadInts(other).empty()) << other;
}

TEST(ReadBools, ListsOfBoolsOnly) {
  EXPECT_EQ(ReadBools("[True, False, True]"), (std::vector<bool>{true, false, true}));
  for (const std::string_view other : {"", "True", "[1, 0]", "[]"}) EXPECT_TRUE(ReadBools(other).empty()) << other;
}

TEST(ElementTypeOf, AsWritten) {
  EXPECT_EQ(ElementTypeOf("struct c10::BFloat16"), ElementType::kBf16);
  EXPECT_EQ(ElementTypeOf("c10::Half"), ElementType::kFp16);
  EXPECT_EQ(ElementTypeOf("c10::Float8_e4m3fn"), ElementType::kFp8);
  EXPECT_EQ(ElementTypeOf("ScalarList"), ElementType::kUnknown);
  EXPECT_EQ(BytesOf(ElementType::kFp16), 2);
}

}  // namespace

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
