// SPDX-License-Identifier: Apache-2.0
// Lines as nsys export --type jsonlines writes them (tests/data/nsys_stats/report.jsonl), and the newer form of them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "trace/lost_work.h"

namespace gapless::internal {
namespace {

std::string LinesOfNsys() {
  std::ifstream in("tests/data/nsys_stats/report.jsonl");
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<Trace> TraceOfLines(const std::string& text) {
  MemorySource source(text);
  ThreadPool pool(1);
  return ReadTrace(source, {.pool = pool});
}

TEST(NsysJson, LinesBecomeTheRowsOfARecording) {
  const auto trace = TraceOfLines(LinesOfNsys());
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->info.format, "nsys");
  const GpuOpTable& ops = trace->gpu_ops;
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(trace->Text(ops.name[0]), "add(float *, int)");
  EXPECT_EQ(ops.block_x[0], 256);
  EXPECT_EQ(ops.shared_bytes[0], 1024);
  EXPECT_EQ(trace->Text(ops.name[1]), "Memcpy DtoH (Device -> Pageable)");
  EXPECT_EQ(ops.bytes[1], 4'194'304);
  ASSERT_EQ(trace->slices.size(), 3U) << "two calls and a range; a call of the system is none";
  EXPECT_TRUE(ops.launch[0].valid());
}

TEST(NsysJson, NewerLinesAreRowsOfTables) {
  const auto trace = TraceOfLines(
      "{\"table\":\"CUPTI_ACTIVITY_KIND_KERNEL\",\"start\":1000,\"end\":3000,\"deviceId\":0,\"contextId\":1,"
      "\"streamId\":7,\"correlationId\":5,\"globalPid\":281475664576512,\"demangledName\":2,\"gridX\":8}\n"
      "{\"table\":\"StringIds\",\"id\":2,\"value\":\"add\"}\n"
      "{\"table\":\"StringIds\",\"id\":3,\"value\":\"cudaLaunchKernel_v7000\"}\n"
      "{\"table\":\"CUPTI_ACTIVITY_KIND_RUNTIME\",\"start\":800,\"end\":900,\"eventClass\":0,\"correlationId\":5,"
      "\"nameId\":3,\"globalTid\":281475664576553}\n");
  ASSERT_TRUE(trace) << trace.error().ToString();
  ASSERT_EQ(trace->gpu_ops.size(), 1U);
  EXPECT_EQ(trace->Text(trace->gpu_ops.name[0]), "add") << "texts may follow what refers to them";
  EXPECT_EQ(trace->gpu_ops.grid_x[0], 8);
  EXPECT_TRUE(trace->gpu_ops.launch[0].valid());
}

TEST(NsysJson, ALineThatIsCutIsSaid) {
  const std::string whole = LinesOfNsys();
  const auto trace = TraceOfLines(whole.substr(0, whole.find("\"copyKind\"")));
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_TRUE(EndsInTheMiddle(*trace));
  EXPECT_EQ(trace->gpu_ops.size(), 1U);
}

}  // namespace
}  // namespace gapless::internal
