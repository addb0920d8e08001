// SPDX-License-Identifier: Apache-2.0
// Dumps that PyTorch 2.15 wrote of two ranks with gloo (paths changed): as a pickle and as JSON. Each has an all_reduce
// and a broadcast of four floats.
#include <gtest/gtest.h>

#include <fstream>

#include "ingest/memory_source.h"
#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

using std::string_literals::operator""s;

std::string DumpBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Trace ReadFlightDump(const std::string& path) {
  MemorySource source(DumpBytes(path));
  return testing::ReadFrom(source);
}

class FlightRecorderForms : public ::testing::TestWithParam<const char*> {};

TEST_P(FlightRecorderForms, EachCallIsARowWithWhatItWasCalledWith) {
  const Trace trace = ReadFlightDump(GetParam());
  const CollectiveTable& all = trace.collectives;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(trace.info.format, "flight_recorder");
  EXPECT_EQ(trace.Text(all.kind[0]), "all_reduce");
  EXPECT_EQ(trace.Text(all.kind[1]), "broadcast");
  EXPECT_EQ(trace.Text(all.name[0]), "gloo:all_reduce");
  EXPECT_EQ(trace.Text(all.group[0]), "0:default_pg");
  EXPECT_EQ(trace.Text(all.group_ranks[0]), "[0, 1]") << "gloo does not name its only group";
  EXPECT_EQ(all.group_size[0], 2);
  EXPECT_EQ(all.seq[1], 2);
  EXPECT_EQ(all.bytes[0], 16);
  EXPECT_EQ(trace.Text(all.in_shape[0]), "[[4]]");
  EXPECT_EQ(trace.Text(all.dtype[0]), "Float");
  EXPECT_EQ(all.timeout_ns[0], 1'800'000'000'000);
}

TEST_P(FlightRecorderForms, WhatWasNotTimedHasNoDuration) {
  const Trace trace = ReadFlightDump(GetParam());
  EXPECT_EQ(trace.collectives.dur_ns[0], kAbsent);
  EXPECT_GT(trace.collectives.ts_ns[1], 0) << "from the first call";
  EXPECT_GT(trace.info.start_unix_ns, 1'700'000'000'000'000'000);
}

// gloo leaves the state at "scheduled"; the status of the group says that two are done.
TEST_P(FlightRecorderForms, WhatTheStatusCountsIsCompleted) {
  const Trace trace = ReadFlightDump(GetParam());
  EXPECT_EQ(trace.Text(trace.collectives.state[0]), "completed");
}

INSTANTIATE_TEST_SUITE_P(FlightRecorder, FlightRecorderForms,
                         ::testing::Values("tests/data/nccl_trace_rank_0", "tests/data/flight_recorder_rank1.json"),
                         [](const auto& info) { return info.index == 0 ? "Pickle"s : "Json"s; });

TEST(FlightRecorder, TheStackLeadsToTheProgram) {
  const Trace trace = ReadFlightDump("tests/data/nccl_trace_rank_0");
  const StackId inner = trace.collectives.stack[0];
  ASSERT_TRUE(inner.valid());
  EXPECT_EQ(trace.Text(trace.stacks.function[inner.value]), "all_reduce");
  StackId outer = inner;
  while (trace.stacks.parent[outer.value].valid()) outer = trace.stacks.parent[outer.value];
  EXPECT_EQ(trace.Text(trace.stacks.file[outer.value]), "/home/user/train.py");
  EXPECT_EQ(trace.stacks.line[outer.value], 6);
}

TEST(FlightRecorder, ATimedCallHasItsDurationAndMessagesHaveTheirEnds) {
  MemorySource source(
      R"({"version":"2.10","rank":3,"pg_config":{"1":{"name":"1","desc":"pp","ranks":[2,3]}},"entries":[)"
      R"({"record_id":0,"process_group":["1","pp"],"profiling_name":"nccl:recv 1<-0","is_p2p":true,"p2p_seq_id":7,)"
      R"("collective_seq_id":0,"input_sizes":[[2,3]],"input_dtypes":["Half"],"output_sizes":[[2,3]],)"
      R"("output_dtypes":["Half"],"state":"completed","duration_ms":1.5,"time_created_ns":1700000000000000000}]})");
  const Trace trace = testing::ReadFrom(source);
  EXPECT_EQ(trace.info.rank, 3);
  EXPECT_EQ(trace.collectives.dur_ns[0], 1'500'000);
  EXPECT_EQ(trace.collectives.seq[0], 7);
  EXPECT_EQ(trace.collectives.src_rank[0], 2) << "numbers in the name are those within the group";
  EXPECT_EQ(trace.collectives.dst_rank[0], 3);
  EXPECT_EQ(trace.collectives.bytes[0], 12);
}

TEST(FlightRecorder, OneThatWasCutOffGivesTheCallsBeforeTheCut) {
  for (const char* path : {"tests/data/nccl_trace_rank_0", "tests/data/flight_recorder_rank1.json"}) {
    const std::string whole = DumpBytes(path);
    const size_t second = whole.find("gloo:broadcast");
    MemorySource source(whole.substr(0, second));
    const Trace trace = testing::ReadFrom(source);
    EXPECT_EQ(trace.collectives.size(), 1U) << path;
    ASSERT_GE(trace.read_stats.size(), 1U) << path;
    EXPECT_EQ(trace.Text(trace.read_stats.kind[0]), "damaged_input") << path;
  }
}

// The pickle would call os.system after a good entry.
TEST(FlightRecorder, APickleThatRunsCodeIsRefused) {
  const std::string whole = DumpBytes("tests/data/nccl_trace_rank_0");
  MemorySource source(whole.substr(0, whole.size() - 1) + "cos\nsystem\n(S'true'\ntR.");
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_FALSE(trace.error().hint.empty());
}

TEST(FlightRecorder, ADumpWithoutCallsIsRefused) {
  MemorySource source(R"({"version":"2.10","pg_config":{},"pg_status":{},"entries":[]})");
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "the dump of the Flight Recorder holds no call");
}

}  // namespace
}  // namespace gapless::internal
