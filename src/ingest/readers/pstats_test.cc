// SPDX-License-Identifier: Apache-2.0
// tests/data/profile.prof, which marshal wrote: main calls __getitem__ forty times, once by itself, which sleeps.
#include <gtest/gtest.h>

#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

using std::string_literals::operator""s;

Trace ReadPstats() {
  auto source = OpenFile("tests/data/profile.prof");
  EXPECT_TRUE(source);
  return testing::ReadFrom(**source);
}

TEST(Pstats, FunctionsHaveCallsAndTimes) {
  const Trace trace = ReadPstats();
  const HostFunctionTable& functions = trace.host_functions;
  ASSERT_EQ(functions.size(), 3U);
  EXPECT_EQ(trace.Text(functions.file[1]), "/srv/app/data.py");
  EXPECT_EQ(functions.line[1], 5);
  EXPECT_EQ(trace.Text(functions.function[1]), "__getitem__");
  EXPECT_EQ(functions.calls[1], 41) << "recursion counts, too";
  EXPECT_EQ(functions.self_ns[1], 500'000'000);
  EXPECT_EQ(functions.total_ns[1], 1'750'000'000);
}
TEST(Pstats, BuiltInFunctionsHaveNoFile) {
  const Trace trace = ReadPstats();
  ASSERT_EQ(trace.host_functions.size(), 3U);
  EXPECT_EQ(trace.Text(trace.host_functions.file[2]), "");
  EXPECT_EQ(trace.host_functions.line[2], kAbsent);
  EXPECT_EQ(trace.host_functions.calls[2], 40) << "its callers are no functions of their own";
}

// A code object, with which marshal can carry more than data, ends the reading.
TEST(Pstats, CodeIsNotRead) {
  MemorySource source("{)\3z\1ai\1\0\0\0z\1b)\4i\1\0\0\0i\1\0\0\0g\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0\0)\3c00"s);
  const Trace trace = testing::ReadFrom(source);
  EXPECT_EQ(trace.host_functions.size(), 1U);
  ASSERT_EQ(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.Text(trace.read_stats.text[0]), "reading stopped at a value of the kind 'c'");
}
TEST(Pstats, AReferenceToNothingEndsTheReading) {
  MemorySource source("{)\3r\x07\0\0\0"s);
  ThreadPool pool(1);
  EXPECT_FALSE(ReadTrace(source, {.pool = pool}));
}

}  // namespace
}  // namespace gapless::internal
