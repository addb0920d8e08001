// SPDX-License-Identifier: Apache-2.0
// Tests table python_lines: the order of rows and the choice of lines from line profiles.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

std::shared_ptr<const Trace> Profile(std::string_view kind) {
  TraceBuilder builder;
  builder.info().format = "host_profile";
  builder.AddEnvironment("python.profile", kind);
  builder.AddHostFunction({.file = "/app/train.py", .line = 10, .calls = 25, .self_ns = 5'000, .bytes = 100});
  builder.AddHostFunction({.file = "/app/train.py", .line = 12, .calls = 25, .self_ns = 9'000, .bytes = 50});
  builder.AddHostFunction(
      {.file = "/usr/lib/python3.11/json.py", .line = 3, .calls = 1, .self_ns = 7'000, .bytes = 70});
  builder.AddHostFunction({.file = "/app/train.py", .line = 1, .function = "main", .calls = 1, .self_ns = 99'000});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

TEST(PythonLines, AreSortedByWhatWasProfiled) {
  testing::Analysed by_time({Profile("lines")});
  const auto time = by_time["python_lines"];
  ASSERT_EQ(time.rows(), 3U) << "a function is no line";
  EXPECT_EQ(time.Int(0, "line"), 12);
  EXPECT_EQ(time.Int(1, "is_users"), 0);
  testing::Analysed by_memory({Profile("tracemalloc")});
  EXPECT_EQ(by_memory["python_lines"].Int(0, "line"), 10);
}

// Imports hold thousands of lines with more memory than the program's own, which stay in the table.
TEST(PythonLines, LinesOfTheProgramStay) {
  TraceBuilder builder;
  builder.info().format = "host_profile";
  builder.AddEnvironment("python.profile", "tracemalloc");
  for (int64_t line = 1; line <= 300; ++line)
    builder.AddHostFunction({.file = "/usr/lib/python3.11/json.py", .line = line, .bytes = 1000});
  builder.AddHostFunction({.file = "/app/train.py", .line = 10, .bytes = 1});
  testing::Analysed run({std::make_shared<const Trace>(std::move(builder).Finish())});
  const auto lines = run["python_lines"];
  EXPECT_EQ(lines.rows(), 201U);
  EXPECT_EQ(lines.Text(200, "file"), "/app/train.py");
}

TEST(PythonLines, OtherProfilesHaveNone) {
  testing::Analysed sampled({Profile("sample")});
  EXPECT_EQ(sampled["python_lines"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
