// SPDX-License-Identifier: Apache-2.0
// Tests table loader_work: self time by kind of work in the data loader.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Ten steps; in each the loader takes 100 ns: 60 decode, 30 transform (20 in a built-in function), 10 are its own.
TEST(LoaderWork, GivesSelfTimeToTheKindOfTheNameOrOfTheParent) {
  HandMade trace;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t at = step * 1000;
    trace.Step(step, at, at + 1000).Loader(at, at + 100);
    trace.Python("<built-in method decode of ImagingDecoder object at 0x7f61>", at, at + 60, "");
    trace.Python("torchvision/transforms/transforms.py(968): forward", at + 60, at + 90, "");
    trace.Python("<built-in method sqrt>", at + 70, at + 90, "");
    trace.Python("torchvision/transforms/transforms.py(968): forward", at + 500, at + 600, "");  // not in the loader
  }
  Analysed run(trace);
  const auto table = run["loader_work"];
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.Text(0, "kind"), "decode");
  EXPECT_EQ(table.Int(0, "self_ns"), 600);
  EXPECT_DOUBLE_EQ(table.Real(0, "share"), 0.6);
  EXPECT_EQ(table.Text(1, "kind"), "transform");
  EXPECT_EQ(table.Int(1, "self_ns"), 300);
  EXPECT_EQ(table.Text(1, "function"), "<built-in method sqrt>") << "20 of its 30 ns";
  EXPECT_EQ(table.Text(2, "kind"), "other");
  EXPECT_EQ(table.Int(2, "self_ns"), 100);
}

TEST(LoaderWork, NamesTheLibraryWithMostOfTheTime) {
  HandMade trace;
  trace.Step(0, 0, 1000).Loader(0, 500);
  trace.Python("<built-in function imread>", 0, 200, "");
  trace.Python("PIL/ImageFile.py(210): load", 200, 300, "");
  trace.Python("<built-in function open>", 300, 350, "");
  Analysed run(trace);
  const auto table = run["loader_work"];
  ASSERT_GE(table.rows(), 2U);
  EXPECT_EQ(table.Text(0, "kind"), "decode");
  EXPECT_EQ(table.Text(0, "library"), "OpenCV");
  EXPECT_EQ(table.Int(0, "self_ns"), 300);
  for (size_t row = 1; row < table.rows(); ++row) EXPECT_TRUE(table.IsNull(row, "library"));
}

TEST(LoaderWork, HasNoRowsWhereNoFunctionIsKnown) {
  HandMade trace;
  trace.Step(0, 0, 1000).Loader(0, 400).Operator("aten::stack", 100, 200);
  Analysed run(trace);
  EXPECT_EQ(run["loader_work"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
