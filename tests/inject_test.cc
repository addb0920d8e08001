// SPDX-License-Identifier: Apache-2.0
// The native collector from end to end: a plain program is run with the library that CUDA would load into it, a
// stand-in for libcupti plays records, and what the reader finds in the stream is held to what was played.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "inject/testing/scenario.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
using inject::testing::kReadable;
using inject::testing::Scenario;

const std::string kFolder = GAPLESS_STAND_IN_FOLDER;
const std::string kStandIn12 = kFolder + "/cupti12/libcupti.so.12", kStandIn13 = kFolder + "/cupti13/libcupti.so.13";

struct Ended {
  int status = -1;      // exit status, 128 + signal
  int64_t base_ns = 0;  // of the scenario, on the wall clock
  int64_t pid = 0;
};

class InjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/gapless_inject_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    run_ = pattern;
  }
  void TearDown() override { fs::remove_all(run_); }

  // Runs the program with the collector, and `environment` besides.
  Ended Run(const std::string& library, const std::string& arguments, const std::string& environment = "",
            const std::string& program = "plain_program") {
    std::string variables = "env -u PYTHONPATH -u RANK ASAN_OPTIONS=detect_leaks=0 GAPLESS_RUN='" + run_ +
                            "' CUDA_INJECTION64_PATH='" GAPLESS_INJECT_FILE "' ";
    if (environment.find("GAPLESS_CUPTI_LIBRARY") == std::string::npos)
      variables += "GAPLESS_CUPTI_LIBRARY='" + library + "' ";
    const std::string command =
        variables + environment + " '" + kFolder + "/" + program + "' '" + library + "' " + arguments;
    FILE* const output = popen(("exec " + command).c_str(), "r");
    Ended ended;
    long long base = 0, pid = 0;
    if (std::fscanf(output, "%lld %lld", &base, &pid) == 2)
      ended.base_ns = base + Scenario::kClockBehindNs, ended.pid = pid;
    while (std::fgetc(output) != EOF) {  // a program that becomes another prints again
    }
    const int status = pclose(output);
    ended.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return ended;
  }
  std::vector<std::string> Streams() const {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(run_))
      if (entry.is_regular_file()) paths.push_back(fs::relative(entry.path(), run_).string());
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  Trace Read(const std::string& stream) {
    auto source = OpenFile(run_ + "/" + stream);
    EXPECT_TRUE(source);
    if (!source) return {};
    auto trace = ReadTrace(**source, {.pool = pool_});
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace{};
  }
  Trace ReadOnly() {
    const auto streams = Streams();
    EXPECT_EQ(streams.size(), 1U);
    return streams.size() == 1 ? Read(streams[0]) : Trace{};
  }
  // Returns what the only stream says instead of collecting.
  std::string Message() {
    const Trace trace = ReadOnly();
    EXPECT_EQ(trace.gpu_ops.size() + trace.slices.size(), 0U);
    for (size_t row = 0; row < trace.read_stats.size(); ++row)
      if (trace.Text(trace.read_stats.kind[row]) == "collector_message")
        return std::string(trace.Text(trace.read_stats.text[row]));
    return "";
  }
  static int64_t Stat(const Trace& trace, std::string_view kind) {
    for (size_t row = 0; row < trace.read_stats.size(); ++row)
      if (trace.Text(trace.read_stats.kind[row]) == kind) return trace.read_stats.count[row];
    return 0;
  }
  static std::string Setting(const Trace& trace, std::string_view key) {
    for (size_t row = 0; row < trace.environment.size(); ++row)
      if (trace.Text(trace.environment.key[row]) == key) return std::string(trace.Text(trace.environment.value[row]));
    return "";
  }
  std::string run_;
  ThreadPool pool_{1};
};

// The rows of one kind in the order of time.
std::vector<uint32_t> Kernels(const Trace& trace) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < trace.gpu_ops.size(); ++row)
    if (trace.gpu_ops.kind[row] == GpuOpKind::kKernel) rows.push_back(row);
  return rows;
}

// Both clocks are read one after the other, so moved times may be off by as much.
constexpr int64_t kClockToleranceNs = 1'000'000, kDriftNs = 20;

void ExpectKernels(const Trace& trace, uint32_t launches, int64_t base_ns) {
  const auto kernels = Kernels(trace);
  ASSERT_EQ(kernels.size(), launches);
  const GpuOpTable& ops = trace.gpu_ops;
  const Scenario scenario{.base_ns = static_cast<uint64_t>(base_ns)};
  EXPECT_NEAR(static_cast<double>(trace.info.origin_ns), static_cast<double>(scenario.CallStart(0)), kClockToleranceNs);
  const int64_t first_ns = ops.ts_ns[kernels[0]];
  for (uint32_t i = 0; i < launches; ++i) {
    const uint32_t row = kernels[i];
    SCOPED_TRACE(i);
    ASSERT_EQ(trace.Text(ops.name[row]), kReadable[i % Scenario::kNames]);
    ASSERT_NEAR(ops.ts_ns[row] - first_ns, static_cast<int64_t>(i * Scenario::kPeriodNs), kClockToleranceNs);
    ASSERT_NEAR(ops.dur_ns[row], static_cast<int64_t>(Scenario::kKernelNs), kDriftNs);
    ASSERT_EQ(ops.stream[row], Scenario::Stream(i));
    ASSERT_EQ(ops.device[row], 0);
    ASSERT_EQ(ops.context[row], 1);
    ASSERT_EQ(ops.correlation[row], Scenario::Correlation(i));
    ASSERT_EQ(ops.grid_x[row], static_cast<int32_t>(Scenario::Grid(i)));
    ASSERT_EQ(ops.grid_y[row], 2);
    ASSERT_EQ(ops.block_x[row], 256);
    ASSERT_EQ(ops.registers[row], static_cast<int32_t>(32 + i % 8));
    ASSERT_EQ(ops.shared_bytes[row], i % 2 == 0 ? 1024 : 1024 + 48 * 1024);
    ASSERT_EQ(ops.graph_id[row], i % 5 == 0 ? 9 : kAbsent);
    ASSERT_NE(ops.occupancy_pct[row], ops.occupancy_pct[row]);  // not recorded
    const SliceId launch = ops.launch[row];
    ASSERT_TRUE(launch.valid());
    ASSERT_EQ(trace.Text(trace.slices.name[launch.value]), "cudaLaunchKernel");
    ASSERT_EQ(trace.slices.category[launch.value], SliceCategory::kRuntime);
    ASSERT_NEAR(trace.slices.ts_ns[launch.value] + 20'000, ops.ts_ns[row], kDriftNs);
  }
}

void ExpectCopies(const Trace& trace, uint32_t launches) {
  const GpuOpTable& ops = trace.gpu_ops;
  uint32_t copies = 0, peers = 0, sets = 0;
  for (uint32_t row = 0; row < ops.size(); ++row) {
    const std::string_view name = trace.Text(ops.name[row]);
    if (ops.kind[row] == GpuOpKind::kMemset) {
      EXPECT_EQ(name, "Memset (Device)");
      EXPECT_EQ(ops.bytes[row], 512);
      ++sets;
    } else if (ops.copy_kind[row] == CopyKind::kHtoDPageable) {
      EXPECT_EQ(name, "Memcpy HtoD (Pageable -> Device)");
      EXPECT_EQ(ops.bytes[row], static_cast<int64_t>(Scenario::CopyBytes(copies++ * 10)));
    } else if (ops.copy_kind[row] == CopyKind::kPtoP) {
      EXPECT_EQ(name, "Memcpy PtoP (Device -> Device)");
      ++peers;
    }
  }
  const uint32_t tenth = (launches + 9) / 10;
  EXPECT_EQ(copies, tenth);
  EXPECT_EQ(peers, tenth);
  EXPECT_EQ(sets, tenth);
}

void ExpectHostSide(const Trace& trace, uint32_t launches, int64_t pid) {
  size_t of[7] = {};
  for (uint32_t row = 0; row < trace.slices.size(); ++row) {
    const SliceTable& slices = trace.slices;
    ++of[static_cast<size_t>(slices.category[row])];
    const std::string_view name = trace.Text(slices.name[row]);
    if (slices.category[row] == SliceCategory::kDriver) {
      EXPECT_EQ(name, "cuLaunchKernel");
      EXPECT_EQ(slices.correlation[row], kAbsent);  // the runtime's call is the launch
    }
    if (slices.category[row] == SliceCategory::kOverhead) {
      EXPECT_EQ(name, "Lazy Function Loading");
    }
    if (slices.category[row] == SliceCategory::kAnnotation) {
      EXPECT_EQ(name, "step_range");
      EXPECT_NEAR(slices.dur_ns[row], 99'000, kDriftNs);
    }
  }
  const uint32_t tenth = (launches + 9) / 10;
  EXPECT_EQ(of[static_cast<size_t>(SliceCategory::kDriver)], launches);
  EXPECT_EQ(of[static_cast<size_t>(SliceCategory::kRuntime)], launches + tenth);
  EXPECT_EQ(of[static_cast<size_t>(SliceCategory::kOverhead)], tenth);
  EXPECT_EQ(of[static_cast<size_t>(SliceCategory::kAnnotation)], tenth);
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads.pid[0], pid);
  EXPECT_EQ(trace.threads.tid[0], pid);
  EXPECT_EQ(trace.Text(trace.threads.name[0]), "plain_program");
  ASSERT_EQ(trace.syncs.size(), tenth);
  EXPECT_EQ(trace.syncs.kind[0], SyncKind::kStream);
  EXPECT_EQ(trace.syncs.stream[0], 7);
  EXPECT_EQ(trace.syncs.device[0], 0);
  EXPECT_EQ(trace.syncs.event[0], kAbsent);
  EXPECT_TRUE(trace.syncs.slice[0].valid());
}

void ExpectMemoryAndDevice(const Trace& trace, uint32_t launches) {
  double most = 0;
  size_t pools = 0;
  for (uint32_t row = 0; row < trace.counters.size(); ++row) {
    const std::string_view name = trace.Text(trace.counters.name[row]);
    if (name == "CUDA memory") most = std::max(most, trace.counters.value[row]);
    pools += name == "CUDA memory pool";
  }
  const uint32_t tenth = (launches + 9) / 10;
  EXPECT_EQ(most, 4096.0 * tenth);
  EXPECT_EQ(pools, tenth);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.Text(trace.devices.name[0]), "Stand-in GPU");
  EXPECT_EQ(trace.Text(trace.devices.uuid[0]), "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
  EXPECT_EQ(trace.devices.sm_count[0], 108);
  EXPECT_EQ(trace.devices.compute_major[0], 8);
  EXPECT_EQ(trace.devices.max_threads_per_sm[0], 2048);
  EXPECT_EQ(trace.devices.memory_bytes[0], 40'000'000'000);
}

class InjectVersions : public InjectTest, public ::testing::WithParamInterface<int> {
 protected:
  const std::string& Library() const { return GetParam() == 12 ? kStandIn12 : kStandIn13; }
};
INSTANTIATE_TEST_SUITE_P(Cupti, InjectVersions, ::testing::Values(12, 13),
                         [](const auto& info) { return std::to_string(info.param); });

TEST_P(InjectVersions, EveryRecordBecomesARow) {
  constexpr uint32_t kLaunches = 3000;
  const Ended ended = Run(Library(), "3000");
  ASSERT_EQ(ended.status, 0);
  ASSERT_EQ(Streams(), std::vector<std::string>{"main/cupti-" + std::to_string(ended.pid) + ".gcs"});
  const Trace trace = ReadOnly();
  EXPECT_EQ(trace.info.format, "cupti");
  EXPECT_EQ(trace.info.pid, ended.pid);
  EXPECT_EQ(trace.info.rank, kAbsent);
  EXPECT_FALSE(trace.info.host.empty());
  EXPECT_EQ(trace.info.start_unix_ns, trace.info.origin_ns);
  EXPECT_EQ(Setting(trace, "cupti_version"), GetParam() == 12 ? "28" : "130500");
  EXPECT_EQ(Setting(trace, "cupti_library"), Library());
  EXPECT_EQ(trace.read_stats.size(), 2U);
  EXPECT_EQ(Stat(trace, "ignored_step_marks"), 1) << "its ranges hold none of the work";
  EXPECT_EQ(Stat(trace, "unlinked_gpu_ops"), kLaunches / 10 * 3);  // copies are played without their calls
  ExpectKernels(trace, kLaunches, ended.base_ns);
  ExpectCopies(trace, kLaunches);
  ExpectHostSide(trace, kLaunches, ended.pid);
  ExpectMemoryAndDevice(trace, kLaunches);
}

TEST_P(InjectVersions, WhatDoesNotFitIsCountedAndTheRestIsRight) {
  const Ended ended = Run(Library(), "200000", "GAPLESS_STAND_IN=hoard");
  ASSERT_EQ(ended.status, 0);
  const Trace trace = ReadOnly();
  const int64_t dropped = Stat(trace, "dropped_records");
  EXPECT_GT(dropped, 0);
  EXPECT_GT(trace.gpu_ops.size(), 10'000U);
  // 3 records a launch, every tenth 10 more of which two make one row, and device, context and stream.
  EXPECT_EQ(trace.info.event_count + dropped, 200'000 * 3 + 20'000 * 10);
}

TEST_P(InjectVersions, ARankHasItsFolder) {
  ASSERT_EQ(Run(Library(), "10", "RANK=3 WORLD_SIZE=4").status, 0);
  const auto streams = Streams();
  ASSERT_EQ(streams.size(), 1U);
  EXPECT_TRUE(streams[0].starts_with("rank3/cupti-")) << streams[0];
  const Trace trace = Read(streams[0]);
  EXPECT_EQ(trace.info.rank, 3);
  EXPECT_EQ(trace.info.world_size, 4);
}

TEST_P(InjectVersions, KilledLeavesEverythingUpToTheLastSecond) {
  const Ended ended = Run(Library(), "500 kill");
  ASSERT_EQ(ended.status, 128 + 9);
  const Trace trace = ReadOnly();
  EXPECT_EQ(Stat(trace, "process_killed"), 1);
  ExpectKernels(trace, 500, ended.base_ns);
}

TEST_P(InjectVersions, AForkedChildDoesNothing) {
  const Ended ended = Run(Library(), "100 fork");
  ASSERT_EQ(ended.status, 0);
  const Trace trace = ReadOnly();
  EXPECT_EQ(Kernels(trace).size(), 100U);
  EXPECT_EQ(trace.info.pid, ended.pid);
}

TEST_P(InjectVersions, GraphsAreRecordedAsWholesOnRequest) {
  ASSERT_EQ(Run(Library(), "100", "GAPLESS_CUPTI_GRAPHS=1").status, 0);
  const Trace trace = ReadOnly();
  const auto kernels = Kernels(trace);
  ASSERT_EQ(kernels.size(), 100U);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [&](uint32_t row) { return trace.Text(trace.gpu_ops.name[row]) == "CUDA graph 9"; }),
            20);
}

TEST_P(InjectVersions, AStreamStopsAtItsLimitAndSaysSo) {
  ASSERT_EQ(Run(Library(), "60000 several", "GAPLESS_CUPTI_LIMIT_MB=1").status, 0);
  const Trace trace = ReadOnly();
  EXPECT_EQ(Stat(trace, "collector_message"), 1);
  EXPECT_GE(Kernels(trace).size(), 60'000U);
  EXPECT_LT(Kernels(trace).size(), 60'000U + 5 * 200U);
}

TEST_P(InjectVersions, NvtxIsHandedOn) {
  EXPECT_EQ(Run(Library(), "0 nvtx").status, 5);
  EXPECT_EQ(Run(Library(), "0 nvtx", "GAPLESS_DISABLE=1").status, 0);
}

TEST_P(InjectVersions, AProgramThatBecomesAnotherKeepsBothStreams) {
  const Ended ended = Run(Library(), "100 exec");
  ASSERT_EQ(ended.status, 0);
  const std::string first = "main/cupti-" + std::to_string(ended.pid);
  ASSERT_EQ(Streams(), (std::vector<std::string>{first + "-2.gcs", first + ".gcs"}));
  EXPECT_EQ(Kernels(Read(first + ".gcs")).size(), 100U);
  EXPECT_EQ(Kernels(Read(first + "-2.gcs")).size(), 100U);
}

TEST_P(InjectVersions, TheExitStatusStaysAndUnderscoreExitIsSurvived) {
  EXPECT_EQ(Run(Library(), "10 status").status, 7);
  EXPECT_EQ(Run(Library(), "10 _exit").status, 0);
}

TEST_P(InjectVersions, WithoutAClockTimesStayAsTheyAre) {
  ASSERT_EQ(Run(Library(), "10", "GAPLESS_STAND_IN=no_clock").status, 0);
  const Trace trace = ReadOnly();
  EXPECT_EQ(Kernels(trace).size(), 10U);
  EXPECT_EQ(Stat(trace, "no_wall_clock"), 1);
}

TEST_P(InjectVersions, AnotherProfilerIsLeftAlone) {
  ASSERT_EQ(Run(Library(), "10", "GAPLESS_STAND_IN=taken").status, 0);
  EXPECT_EQ(Message(), "another profiler owns CUPTI: the native collector does not record");
}

TEST_P(InjectVersions, FailingCuptiIsSaidAndNothingElseHappens) {
  ASSERT_EQ(Run(Library(), "10", "GAPLESS_STAND_IN=unknown").status, 0);
  EXPECT_EQ(Message(), "CUPTI cannot be used: CUPTI_ERROR_UNKNOWN (999)");
  TearDown(), SetUp();
  ASSERT_EQ(Run(Library(), "10", "GAPLESS_STAND_IN=uninitialised").status, 0);
  EXPECT_EQ(Message(), "CUPTI records nothing here: CUPTI_ERROR_OF_SOME_KIND (15)");
}

TEST_P(InjectVersions, IsFoundByTheLoaderOrTakenFromTheProcess) {
  const std::string folder = fs::path(Library()).parent_path();
  ASSERT_EQ(Run("", "0", "GAPLESS_CUPTI_LIBRARY= LD_LIBRARY_PATH=" + folder).status, 0);
  EXPECT_TRUE(Streams().empty());                                       // found, but there was nothing to record
  ASSERT_EQ(Run(Library(), "10", "GAPLESS_CUPTI_LIBRARY=").status, 0);  // the program has loaded it
  EXPECT_EQ(Setting(ReadOnly(), "cupti_library"), Library());
}

TEST_F(InjectTest, StandsAsideInPythonUnlessTold) {
  ASSERT_EQ(Run(kStandIn12, "10", "", "python_like_program").status, 0);
  EXPECT_TRUE(Streams().empty());
  ASSERT_EQ(Run(kStandIn12, "10", "GAPLESS_CUPTI=always", "python_like_program").status, 0);
  EXPECT_EQ(Kernels(ReadOnly()).size(), 10U);
}

TEST_F(InjectTest, DoesNothingWhenSwitchedOffOrOutsideARun) {
  for (const char* const off : {"GAPLESS_DISABLE=1", "GAPLESS_CUPTI=never", "GAPLESS_RUN="})
    ASSERT_EQ(Run(kStandIn12, "10", off).status, 0);
  EXPECT_TRUE(Streams().empty());
}

TEST_F(InjectTest, StepsAsideForNsight) {
  ASSERT_EQ(Run(kStandIn12, "10", "NSYS_PROFILING_SESSION_ID=7").status, 0);
  EXPECT_EQ(Message(), "Nsight Systems records this process and owns CUPTI: the native collector does not record");
}

TEST_F(InjectTest, WithoutCuptiTheReasonIsSaid) {
  ASSERT_EQ(Run("", "0", "GAPLESS_CUPTI_LIBRARY=/nowhere/libcupti.so.12").status, 0);
  EXPECT_TRUE(Message().starts_with("CUPTI 12 or 13 was not found: /nowhere/libcupti.so.12")) << Message();
  TearDown(), SetUp();
  ASSERT_EQ(Run("", "0", "GAPLESS_CUPTI_LIBRARY=" + kFolder + "/lacking/libcupti.so").status, 0);
  EXPECT_TRUE(Message().ends_with("lacks cuptiSubscribe")) << Message();
}

TEST_F(InjectTest, AFolderThatCannotBeWrittenIsSurvived) {
  std::ofstream(run_ + "/main") << "a file where the folder should be";
  EXPECT_EQ(Run(kStandIn13, "100").status, 0);
  EXPECT_EQ(Streams(), std::vector<std::string>{"main"});
}

TEST_F(InjectTest, EveryPrefixYieldsItsWholeBlocks) {
  ASSERT_EQ(Run(kStandIn13, "4000").status, 0);
  std::ifstream in(run_ + "/" + Streams()[0], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const size_t all = Read(Streams()[0]).gpu_ops.size();
  size_t before = 0;
  for (size_t size = 0; size < bytes.size(); size += bytes.size() / 97) {
    MemorySource source(bytes.substr(0, size));
    const auto trace = ReadTrace(source, {.pool = pool_});
    if (!trace) continue;
    EXPECT_GE(trace->gpu_ops.size(), before);
    before = trace->gpu_ops.size();
  }
  EXPECT_LT(before, all);
  EXPECT_GT(before, 0U);
}

// The true libraries, on a machine that may have no driver: whatever they answer, the program runs on.
TEST_F(InjectTest, TheTrueLibrariesDoNoHarm) {
  int found = 0;
  for (const std::string library :
       {GAPLESS_CUPTI_FOLDER "/cupti12/lib/libcupti.so.12", GAPLESS_CUPTI_FOLDER "/cupti13/lib/libcupti.so.13"}) {
    if (!fs::exists(library)) continue;
    ++found;
    ASSERT_EQ(Run("", "0 status", "GAPLESS_CUPTI_LIBRARY=" + library).status, 7) << library;
    for (const auto& stream : Streams()) (void)Read(stream);
  }
  if (found == 0) GTEST_SKIP() << "tools/cupti_headers.sh puts libcupti beside its headers on x86-64; it is not there";
}

}  // namespace
}  // namespace gapless::internal
