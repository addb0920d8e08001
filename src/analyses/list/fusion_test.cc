// SPDX-License-Identifier: Apache-2.0
// Tests table fusion: chains are grouped by their operators, and a normalisation after a convolution is a separate
// kind.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::AddOperation;
using testing::HandMade;

TEST(Fusion, ChainsAreGroupedByTheirOperators) {
  HandMade trace;
  for (const int64_t at : {0, 40}) {
    AddOperation(trace, "aten::mm", GpuOpClass::kGemm, at, 100);
    AddOperation(trace, "aten::add", GpuOpClass::kPointwise, at + 10, 60, "[[4,8]]");
    AddOperation(trace, "aten::gelu", GpuOpClass::kPointwise, at + 20, 30, "[[4,8]]");
  }
  testing::Analysed run(trace);
  const auto fusion = run["fusion"];
  ASSERT_EQ(fusion.rows(), 1u);
  EXPECT_EQ(fusion.Text(0, "kind"), "chain");
  EXPECT_EQ(fusion.Text(0, "pattern"), "aten::add > aten::gelu");
  EXPECT_EQ(fusion.Int(0, "calls"), 2);
  EXPECT_EQ(fusion.Int(0, "kernels"), 4);
  EXPECT_EQ(fusion.Int(0, "device_ns"), 180);
  EXPECT_EQ(fusion.Int(0, "first_ns"), 120);
  EXPECT_EQ(fusion.Int(0, "removable_ns"), 90) << "one of two links stays";
  EXPECT_EQ(fusion.Int(0, "elements"), 32);
  EXPECT_EQ(fusion.Int(0, "bytes"), 2 * 2 * (32 * 4 + 32 * 4)) << "each reads and writes 32 floats";
  EXPECT_EQ(fusion.Text(0, "source_line"), "model.py:7");
}

TEST(Fusion, ANormalisationAfterAConvolutionIsAKindOfItsOwn) {
  HandMade trace;
  AddOperation(trace, "aten::conv2d", GpuOpClass::kConv, 0, 100);
  AddOperation(trace, "aten::batch_norm", GpuOpClass::kNorm, 10, 50);
  AddOperation(trace, "aten::mm", GpuOpClass::kGemm, 20, 100);
  AddOperation(trace, "aten::batch_norm", GpuOpClass::kNorm, 30, 50);
  testing::Analysed run(trace);
  ASSERT_EQ(run["fusion"].rows(), 1u) << "one link alone is nothing to fuse";
  EXPECT_EQ(run["fusion"].Text(0, "kind"), "conv_norm");
  EXPECT_EQ(run["fusion"].Int(0, "removable_ns"), 0);
  EXPECT_TRUE(run["fusion"].IsNull(0, "elements")) << "shapes were not recorded";
  EXPECT_TRUE(run["fusion"].IsNull(0, "bytes"));
}

}  // namespace
}  // namespace gapless::internal
