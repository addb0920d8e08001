// SPDX-License-Identifier: Apache-2.0
// Tests table data_loading: idle time by iterator, worker processes, and nested iterators.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

TEST(DataLoading, ByIteratorWithTheIdleTimeItCauses) {
  testing::HandMade trace;
  trace.Step(0, 0, 1000)
      .Loader(0, 300)
      .Copy(CopyKind::kHtoDPageable, {310, 320, 330, 350})
      .Kernel("a", {360, 370, 380, 1100});
  trace.Step(1, 1000, 2000).Loader(1000, 1200).Copy(CopyKind::kHtoDPinned, {1310, 1320, 1330, 1390});
  testing::Analysed run(trace);
  const auto loading = run["data_loading"];
  ASSERT_EQ(loading.rows(), 1u);
  EXPECT_EQ(loading.Text(0, "source_line"), "train.py:41");
  EXPECT_EQ(loading.Int(0, "workers"), 0);
  EXPECT_EQ(loading.Int(0, "multiprocess"), 0);
  EXPECT_EQ(loading.Int(0, "calls"), 2);
  EXPECT_DOUBLE_EQ(loading.Real(0, "calls_per_step"), 1);
  EXPECT_EQ(loading.Int(0, "total_ns"), 500);
  EXPECT_EQ(loading.Int(0, "max_ns"), 300);
  EXPECT_EQ(loading.Int(0, "idle_ns"), 300 + 100) << "until 1100 the device still works";
  EXPECT_DOUBLE_EQ(loading.Real(0, "h2d_pageable_share"), 0.25);
}

TEST(DataLoading, WorkersAreSeenButNotTheirNumber) {
  testing::HandMade trace;
  trace.Loader(0, 300, "_MultiProcessingDataLoaderIter");
  testing::Analysed run(trace);
  EXPECT_TRUE(run["data_loading"].IsNull(0, "workers"));
  EXPECT_EQ(run["data_loading"].Int(0, "multiprocess"), 1);
  EXPECT_TRUE(run["data_loading"].IsNull(0, "idle_ns")) << "no device";
}

TEST(DataLoading, AnIteratorInsideAnotherIsPartOfIt) {
  testing::HandMade trace;
  trace.Operator("enumerate(DataPipe)#Mapper", 0, 300).Operator("enumerate(DataPipe)#Files", 100, 200);
  testing::Analysed run(trace);
  ASSERT_EQ(run["data_loading"].rows(), 1u);
  EXPECT_EQ(run["data_loading"].Int(0, "total_ns"), 300);
}

}  // namespace
}  // namespace gapless::internal
