// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

Trace ReadPerf(std::string text) {
  MemorySource source(std::move(text));
  return testing::ReadFrom(source);
}

TEST(PerfScript, SamplesOfAClockStandForTheirPeriod) {
  const Trace trace = ReadPerf(
      "python 14633/14634 [001] 76776.179819:   10101010 cpu-clock:ppp: \n"
      "\tffffffff821f5127 exc_page_fault+0xd7 ([kernel.kallsyms])\n"
      "\t           98109 _int_malloc+0xda9 (/usr/lib/libc.so.6)\n\n"
      "my worker 7 76776.279819:   10101010 cpu-clock:ppp: \n"
      "\t    7f00 py::load:/srv/app.py+0x5 (/tmp/perf-7.map)\n\n");
  ASSERT_EQ(trace.samples.size(), 2U);
  EXPECT_EQ(trace.samples.tid[0], 14634);
  EXPECT_EQ(trace.samples.weight_ns[0], 10'101'010);
  EXPECT_EQ(trace.samples.ts_ns[1] - trace.samples.ts_ns[0], 100'000'000);
  const StackId innermost = trace.samples.stack[0];
  EXPECT_EQ(trace.Text(trace.stacks.function[innermost.value]), "exc_page_fault") << "the innermost frame comes first";
  EXPECT_EQ(trace.Text(trace.stacks.file[innermost.value]), "[kernel.kallsyms]");
  const StackId python = trace.samples.stack[1];
  EXPECT_EQ(trace.Text(trace.stacks.function[python.value]), "load");
  EXPECT_EQ(trace.Text(trace.stacks.file[python.value]), "/srv/app.py");
}

TEST(PerfScript, CyclesAreNoTime) {
  const Trace trace =
      ReadPerf("a 1 2.5: 12345 cycles:u: \n\t10 f+0x1 (a.out)\n\nb 1 2.6: 1 page-faults: \n\t10 g+0x1 (a.out)\n");
  ASSERT_EQ(trace.samples.size(), 1U) << "the other event is no part of the profile";
  EXPECT_EQ(trace.samples.weight_ns[0], kAbsent);
  ASSERT_EQ(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.Text(trace.read_stats.kind[0]), "other_events");
}

TEST(PerfScript, WithoutStacksTheFrameStandsInTheLine) {
  const Trace trace = ReadPerf("a 1 2.5:     250000 cpu-clock: ffffffff82 memset+0x7 ([kernel.kallsyms])\n");
  ASSERT_EQ(trace.samples.size(), 1U);
  EXPECT_EQ(trace.Text(trace.stacks.function[trace.samples.stack[0].value]), "memset");
}

TEST(PerfScript, TheBinaryRecordingIsNamed) {
  MemorySource source("PERFILE2" + std::string(100, '\0'));
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().hint.find("perf script -i"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
