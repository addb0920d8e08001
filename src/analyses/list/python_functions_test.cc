// SPDX-License-Identifier: Apache-2.0
// Tests table python_functions: which functions of a profile it has, in which order.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

std::shared_ptr<const Trace> FunctionsOf(std::string_view kind) {
  TraceBuilder builder;
  builder.info().format = "host_profile";
  builder.AddEnvironment("python.profile", kind);
  builder.AddHostFunction(
      {.file = "/app/train.py", .line = 3, .function = "load", .self_ns = 5'000, .total_ns = 8'000});
  builder.AddHostFunction({.file = {}, .function = "len", .calls = 25, .self_ns = 9'000, .total_ns = 9'000});
  builder.AddHostFunction({.file = "/app/train.py", .line = 10, .calls = 25, .self_ns = 99'000});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

TEST(PythonFunctions, AreThoseWithMostTimeFirst) {
  testing::Analysed run({FunctionsOf("cprofile")});
  const auto functions = run["python_functions"];
  ASSERT_EQ(functions.rows(), 2U) << "a line is no function";
  EXPECT_EQ(functions.Text(0, "function"), "len");
  EXPECT_EQ(functions.Int(0, "calls"), 25);
  EXPECT_TRUE(functions.IsNull(0, "file") && functions.IsNull(0, "line")) << "it is built in";
  EXPECT_EQ(functions.Int(0, "is_users"), 0);
  EXPECT_EQ(functions.Text(1, "function"), "load");
  EXPECT_EQ(functions.Int(1, "line"), 3);
  EXPECT_EQ(functions.Int(1, "is_users"), 1);
  EXPECT_EQ(functions.Int(1, "self_ns"), 5'000);
  EXPECT_EQ(functions.Int(1, "total_ns"), 8'000);
}

TEST(PythonFunctions, OfLinesThereAreNone) {
  testing::Analysed run({FunctionsOf("lines")});
  EXPECT_EQ(run["python_functions"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
