// SPDX-License-Identifier: Apache-2.0
// Tests table host_code: what a stack says is going on, and which frame of it is named.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

std::shared_ptr<const Trace> SampledHost() {
  TraceBuilder builder;
  builder.info().format = "collapsed";
  builder.AddEnvironment("python.profile", "sample");
  auto& shard = builder.NewShard();
  const StackId train = builder.AddFrame({.parent = {}, .file = "/app/train.py", .line = 3, .function = "train"});
  const StackId item = builder.AddFrame({.parent = train, .file = "/app/d.py", .line = 9, .function = "__getitem__"});
  const StackId read = builder.AddFrame({.parent = item, .file = "", .function = "read"});
  const StackId sleep = builder.AddFrame({.parent = train, .file = "", .function = "sleep"});
  shard.Add(SampleRow{.ts_ns = 0, .stack = read, .count = 6});
  shard.Add(SampleRow{.ts_ns = 1, .stack = sleep, .count = 3});
  shard.Add(SampleRow{.ts_ns = 2, .stack = train});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

TEST(HostCode, AWaitInsideLoadingIsLoading) {
  testing::Analysed run({SampledHost()});
  const auto code = run["host_code"];
  ASSERT_EQ(code.rows(), 3U);
  EXPECT_EQ(code.Text(0, "activity"), "loading");
  EXPECT_EQ(code.Text(0, "function"), "__getitem__") << "the innermost frame of the user's code";
  EXPECT_EQ(code.Int(0, "samples"), 6);
  EXPECT_DOUBLE_EQ(code.Real(0, "share"), 0.6);
  EXPECT_TRUE(code.IsNull(0, "time_ns")) << "nobody knows how long a sample stands for";
  EXPECT_EQ(code.Text(1, "activity"), "waiting");
  EXPECT_EQ(code.Text(2, "activity"), "code");
}

}  // namespace
}  // namespace gapless::internal
