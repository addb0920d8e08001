// SPDX-License-Identifier: Apache-2.0
// Tests reading of host profiles: functions and lines, skipped entries, and cut files.
#include <gtest/gtest.h>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

Result<Trace> ReadProfile(std::string text) {
  MemorySource source(std::move(text), "python-7.host.json");
  ThreadPool pool(1);
  return ReadTrace(source, {.pool = pool});
}

TEST(HostProfile, FunctionsAndLinesAreRows) {
  const auto trace =
      ReadProfile(R"({"format":"gapless.host","version":1,"pid":7,"kind":"sample","start_unix_ns":1700000000000000000,)"
                  R"("functions":[{"file":"a.py","line":3,"function":"load","calls":null,"self_ns":50,"total_ns":90}],)"
                  R"("lines":[{"file":"a.py","line":5,"hits":4,"self_ns":40,"bytes":1024}]})");
  ASSERT_TRUE(trace) << trace.error().ToString();
  const HostFunctionTable& rows = trace->host_functions;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(trace->info.pid, 7);
  EXPECT_EQ(trace->Text(rows.function[0]), "load");
  EXPECT_EQ(rows.calls[0], kAbsent);
  EXPECT_EQ(rows.total_ns[0], 90);
  EXPECT_EQ(rows.bytes[0], kAbsent);
  EXPECT_EQ(rows.function[1], StringId::kNone);
  EXPECT_EQ(rows.line[1], 5);
  EXPECT_EQ(rows.calls[1], 4);
  EXPECT_EQ(rows.bytes[1], 1024);
}

TEST(HostProfile, WhatIsNoFunctionIsCounted) {
  const auto trace = ReadProfile(R"({"format":"gapless.host","version":1,"functions":[7,{"file":3}]})");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->host_functions.size(), 1U);
  ASSERT_EQ(trace->read_stats.size(), 1U);
  EXPECT_EQ(trace->read_stats.count[0], 1);
}

TEST(HostProfile, HalfAFileIsAnErrorThatSaysWhatIsWrong) {
  const auto trace = ReadProfile(R"({"format":"gapless.host","version":1,"functions":[{"file":"a)");
  ASSERT_FALSE(trace);
  EXPECT_FALSE(trace.error().hint.empty());
}

}  // namespace
}  // namespace gapless::internal
