// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(CommLinks, BothEndsOfAChannelCountOnce) {
  HandMade trace;
  const auto add = [&](int64_t channel, int64_t src, int64_t dst, std::string_view direction) {
    trace.builder().Add({.channel = channel,
                         .src_rank = src,
                         .dst_rank = dst,
                         .direction = direction,
                         .transport = "NET/Socket/0",
                         .family = "NET"});
  };
  add(0, 0, 1, "send"), add(0, 0, 1, "receive"), add(1, 0, 1, "send"), add(0, 1, 0, "send");
  Analysed run(trace);
  const auto rows = run["comm_links"];
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows.Int(0, "pairs"), 2);
  EXPECT_EQ(rows.Int(0, "channels"), 3);
  EXPECT_EQ(rows.Int(0, "least_channels"), 1);
}

}  // namespace
}  // namespace gapless::internal
