// SPDX-License-Identifier: Apache-2.0
// tests/data/make_nsys_sample.py wrote the file and says what is in it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

using testing::ReadFrom;

constexpr const char* kSample = "tests/data/nsys_two_processes.sqlite";
constexpr int64_t kMs = 1'000'000;

std::string Bytes() {
  std::ifstream in(kSample, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class NsysReader : public ::testing::Test {
 protected:
  void SetUp() override {
    auto source = OpenFile(kSample);
    ASSERT_TRUE(source) << "run from the project's folder";
    trace_ = ReadFrom(**source);
  }
  int64_t Counted(std::string_view kind) const {
    for (size_t i = 0; i < trace_.read_stats.size(); ++i)
      if (trace_.Text(trace_.read_stats.kind[i]) == kind) return trace_.read_stats.count[i];
    return 0;
  }
  std::string_view SliceName(size_t row) const { return trace_.Text(trace_.slices.name[row]); }

  Trace trace_;
};

TEST_F(NsysReader, LaunchesAreJoinedWithinTheirProcess) {
  const GpuOpTable& ops = trace_.gpu_ops;
  ASSERT_EQ(ops.size(), 6U);  // two kernels and a copy each; the kernel without a start is left out
  for (size_t row = 0; row < ops.size(); ++row) {
    const SliceId launch = ops.launch[row];
    ASSERT_TRUE(launch.valid());
    const int64_t pid = trace_.threads.pid[trace_.slices.thread[launch.value].value];
    EXPECT_EQ(pid, ops.device[row] == 0 ? 100 : 200);  // the GPU of the host, not the process's device 0
    EXPECT_GE(ops.ts_ns[row], trace_.slices.ts_ns[launch.value]);
  }
  EXPECT_EQ(Counted("processes"), 2);
  EXPECT_EQ(Counted("gpu_ops_without_time"), 1);
}

TEST_F(NsysReader, KernelsAndCopies) {
  const GpuOpTable& ops = trace_.gpu_ops;
  EXPECT_EQ(trace_.Text(ops.name[0]), "ampere_sgemm_128x64_nn");
  EXPECT_EQ(ops.op_class[0], GpuOpClass::kGemm);
  EXPECT_EQ(ops.dur_ns[0], 10 * kMs);
  EXPECT_EQ(ops.stream[0], 7);
  EXPECT_EQ(ops.grid_x[0], 4);
  EXPECT_EQ(ops.block_x[0], 128);
  EXPECT_EQ(ops.registers[0], 90);
  EXPECT_EQ(ops.shared_bytes[0], 3072);
  size_t copies = 0;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != GpuOpKind::kMemcpy) continue;
    ++copies;
    EXPECT_EQ(trace_.Text(ops.name[row]), "Memcpy HtoD (Pageable -> Device)");
    EXPECT_EQ(ops.copy_kind[row], CopyKind::kHtoDPageable);
    EXPECT_EQ(ops.bytes[row], 4096);
  }
  EXPECT_EQ(copies, 2U);  // a view that poses as the table of memsets is not read
  EXPECT_EQ(trace_.collectives.size(), 2U);
  EXPECT_EQ(trace_.Text(trace_.collectives.kind[0]), "all_reduce");
}

TEST_F(NsysReader, CallsRangesAndOperators) {
  size_t syncs = 0, operators = 0, steps = 0;
  for (size_t row = 0; row < trace_.slices.size(); ++row) {
    syncs += SliceName(row) == "cudaDeviceSynchronize";
    steps += SliceName(row) == "ProfilerStep#1";
    if (SliceName(row) != "aten::mm") continue;
    ++operators;
    EXPECT_EQ(trace_.slices.category[row], SliceCategory::kOperator);
    EXPECT_EQ(trace_.slices.sequence[row], 3);
    EXPECT_EQ(trace_.Text(trace_.slices.input_shapes[row]), "[[2, 3], [3, 4]]");
  }
  EXPECT_EQ(syncs, 2U);  // recorded twice, kept once per process
  EXPECT_EQ(operators, 2U);
  EXPECT_EQ(steps, 2U);
  EXPECT_EQ(Counted("nested_calls"), 2);
  EXPECT_EQ(Counted("open_ranges"), 2);
  EXPECT_EQ(Counted("other_nvtx"), 2);
  EXPECT_EQ(Counted("tables_left_out"), 0);
  EXPECT_GE(trace_.syncs.size(), 2U);
}

// Times count from the first slice, which begins at 10 ms.
TEST_F(NsysReader, CallsOfTheSystemAndTimesOnAProcessorAreNoSlices) {
  const OsCallTable& calls = trace_.os_calls;
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(trace_.Text(calls.name[0]), "pthread_cond_wait");
  EXPECT_EQ(calls.pid[0], 100);
  EXPECT_EQ(calls.tid[1], 200);
  EXPECT_EQ(calls.ts_ns[0], 10 * kMs);
  EXPECT_EQ(calls.dur_ns[0], 14 * kMs);
  for (size_t row = 0; row < trace_.slices.size(); ++row) EXPECT_NE(SliceName(row), "pthread_cond_wait");
  const ThreadRunTable& runs = trace_.thread_runs;
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs.ts_ns[0], -1 * kMs) << "before the first slice";
  EXPECT_EQ(runs.dur_ns[0], 12 * kMs);
  EXPECT_EQ(runs.cpu[0], 2);
  EXPECT_EQ(runs.tid[0], 100);
  EXPECT_EQ(runs.cpu[3], 0);
  EXPECT_EQ(Counted("open_runs"), 4) << "of each thread one without a beginning, and one without an end";
  EXPECT_EQ(Counted("others_switches"), 1);
}

TEST_F(NsysReader, WhereAndWhen) {
  EXPECT_EQ(trace_.info.host, "node1");
  EXPECT_EQ(trace_.info.start_unix_ns, 1'700'000'000'000'000'000 + 10 * kMs);
  ASSERT_EQ(trace_.devices.size(), 2U);
  EXPECT_EQ(trace_.devices.max_threads_per_sm[1], 2048);
  EXPECT_EQ(trace_.Text(trace_.devices.pcie_bus_id[1]), "0000:01:00.0");
  ASSERT_GE(trace_.threads.size(), 2U);
  EXPECT_EQ(trace_.Text(trace_.threads.process_name[0]), "python3");
}

TEST_F(NsysReader, OutOfAnArchiveItIsTheSame) {
  MemorySource source(Bytes());
  const Trace again = ReadFrom(source);
  EXPECT_EQ(again.slices.size(), trace_.slices.size());
  EXPECT_EQ(again.gpu_ops.size(), trace_.gpu_ops.size());
}

TEST(NsysReaderOnOthers, ADatabaseOfSomethingElseIsAnError) {
  std::string bytes = Bytes();
  for (size_t at = 0; (at = bytes.find("StringIds", at)) != std::string::npos;) bytes.replace(at, 9, "StrinGids");
  MemorySource source(bytes);
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("none of Nsight Systems"), std::string::npos);
}

// The table of kernels as rocprofv3 names it.
TEST(NsysReaderOnOthers, ADatabaseOfAnotherProfilerIsNamed) {
  std::string bytes = Bytes();
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"StringIds", "StrinGids"},
                                 {"CUPTI_ACTIVITY_KIND_KERNEL", "rocpd_kernel_dispatch_0001"}})
    for (size_t at = 0; (at = bytes.find(from, at)) != std::string::npos;) bytes.replace(at, from.size(), to);
  MemorySource source(bytes);
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("rocprofv3"), std::string::npos) << trace.error().message;
}

TEST(NsysReaderOnOthers, NothingIsWrittenBesideTheFile) {
  const std::string folder = ::testing::TempDir() + "/nsys reader %20?#";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(kSample, folder + "/a.sqlite", std::filesystem::copy_options::overwrite_existing);
  auto source = OpenFile(folder + "/a.sqlite");
  ASSERT_TRUE(source);
  EXPECT_EQ(ReadFrom(**source).gpu_ops.size(), 6U);
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) files += file.is_regular_file();
  EXPECT_EQ(files, 1U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gapless::internal
