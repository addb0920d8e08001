// SPDX-License-Identifier: Apache-2.0
// One made-up run of rocprofv3 in three forms (tests/data/make_rocm_samples.py): the database, the JSON and the tables
// say the same.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMsOfRun = 1'000'000;

Trace TraceOf(const std::string& file) {
  ThreadPool pool(1);
  auto source = OpenFile(StrCat("tests/data/rocm/", file));
  EXPECT_TRUE(source) << "run from the project's folder";
  auto trace = ReadTrace(**source, {.pool = pool});
  EXPECT_TRUE(trace) << trace.error().ToString();
  return std::move(*trace);
}

std::string BytesOf(const std::string& file) {
  std::ifstream in(StrCat("tests/data/rocm/", file), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string NoteOf(const Trace& trace, std::string_view kind) {
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    if (trace.Text(trace.read_stats.kind[row]) == kind) return std::string(trace.Text(trace.read_stats.text[row]));
  return "";
}

class RunOfRocprof : public ::testing::TestWithParam<const char*> {};

TEST_P(RunOfRocprof, HasStepsKernelsCopiesFillsAndTheirLaunches) {
  const Trace trace = TraceOf(GetParam());
  ASSERT_EQ(trace.steps.size(), 3U);
  EXPECT_EQ(trace.Text(trace.steps.name[1]), "step 1");
  EXPECT_EQ(trace.steps.ts_ns[1] - trace.steps.ts_ns[0], 10 * kMsOfRun);
  EXPECT_EQ(trace.steps.dur_ns[1], 10 * kMsOfRun);
  ASSERT_EQ(trace.gpu_ops.size(), 12U);
  const GpuOpTable& ops = trace.gpu_ops;
  EXPECT_EQ(ops.kind[0], GpuOpKind::kMemcpy);
  EXPECT_EQ(ops.copy_kind[0], CopyKind::kHtoD);
  EXPECT_EQ(trace.Text(ops.name[0]), "Memcpy HtoD");
  EXPECT_EQ(ops.op_class[1], GpuOpClass::kGemm);
  EXPECT_EQ(ops.op_class[2], GpuOpClass::kCommunication);
  EXPECT_EQ(ops.kind[3], GpuOpKind::kMemset);
  EXPECT_EQ(ops.dur_ns[1], 3 * kMsOfRun);
  for (size_t row = 0; row < ops.size(); ++row) {
    ASSERT_TRUE(ops.launch[row].valid()) << row;
    EXPECT_EQ(ops.correlation[row], trace.slices.correlation[ops.launch[row].value]);
    EXPECT_EQ(ops.device[row], 0);
    EXPECT_EQ(ops.stream[row], 1);
  }
  EXPECT_EQ(trace.Text(trace.slices.name[ops.launch[0].value]), "hipMemcpyAsync");
  EXPECT_EQ(trace.collectives.size(), 3U);
  EXPECT_EQ(trace.syncs.size(), 3U) << "hipDeviceSynchronize waits";
}

// 65,536 x 2 work items in groups of 1,024 are 64 x 2 groups.
TEST_P(RunOfRocprof, CountsTheGridInGroups) {
  const Trace trace = TraceOf(GetParam());
  EXPECT_EQ(trace.gpu_ops.grid_x[1], 64);
  EXPECT_EQ(trace.gpu_ops.grid_y[1], 2);
  EXPECT_EQ(trace.gpu_ops.block_x[1], 1024);
  EXPECT_EQ(trace.gpu_ops.registers[1], 64);
  EXPECT_EQ(trace.gpu_ops.shared_bytes[1], 1024);
  EXPECT_EQ(trace.gpu_ops.channel[1], 2) << "the queue of the hardware";
}

TEST_P(RunOfRocprof, DescribesTheDevice) {
  const Trace trace = TraceOf(GetParam());
  ASSERT_EQ(trace.devices.size(), 1U) << "the processor is none";
  EXPECT_EQ(trace.devices.vendor[0], Vendor::kAmd);
  EXPECT_EQ(trace.Text(trace.devices.name[0]), "AMD Instinct MI300X");
  EXPECT_EQ(trace.devices.sm_count[0], 304);
  EXPECT_EQ(trace.devices.clock_khz[0], 2'100'000);
  EXPECT_EQ(trace.info.start_unix_ns, kAbsent) << "the clock counts from the start of the machine";
}

INSTANTIATE_TEST_SUITE_P(Forms, RunOfRocprof, ::testing::Values("run.db", "run_results.json", "run_kernel_trace.csv"),
                         [](const auto& info) {
                           const std::filesystem::path path(info.param);
                           return path.extension().string().substr(1);
                         });

TEST(Rocpd, SumsTheInstancesOfACounterAndFollowsMemory) {
  const Trace trace = TraceOf("run.db");
  ASSERT_EQ(trace.kernel_metrics.size(), 1U);
  EXPECT_EQ(trace.Text(trace.kernel_metrics.metric[0]), "SQ_WAVES");
  EXPECT_EQ(trace.kernel_metrics.value[0], 128);
  EXPECT_EQ(trace.kernel_metrics.launch_index[0], 1);
  ASSERT_EQ(trace.counters.size(), 3U);
  EXPECT_EQ(trace.counters.value[0], 1'000'000);
  EXPECT_EQ(trace.counters.value[1], 1'500'000);
  EXPECT_EQ(trace.counters.value[2], 500'000) << "a row that gives memory back has its address alone";
  EXPECT_EQ(trace.gpu_ops.bytes[0], 1'048'576);
  EXPECT_EQ(trace.info.host, "node-1");
}

TEST(Rocpd, IsRecognisedByItsTables) {
  MemorySource source(BytesOf("run.db"));
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->info.format, "rocpd");
}

TEST(RocprofJson, KeepsTheRecordsBeforeACut) {
  const std::string whole = BytesOf("run_results.json");
  const size_t cut = whole.find("\"memory_copy\"");
  ASSERT_NE(cut, whole.npos);
  MemorySource source(whole.substr(0, cut - 40));
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->gpu_ops.size(), 8U) << "the ninth kernel is cut, and copies come behind";
  EXPECT_FALSE(NoteOf(*trace, "truncated_input").empty());
  EXPECT_TRUE(EndsInTheMiddle(*trace));
}

}  // namespace
}  // namespace gapless::internal
