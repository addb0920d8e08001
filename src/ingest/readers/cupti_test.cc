// SPDX-License-Identifier: Apache-2.0
// The rows made of each kind of record, and of broken streams. Small streams made by hand; whole ones, written by the
// collector, are in tests/inject_test.cc.
#include <gtest/gtest.h>

#include <random>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/cupti/clock_map.h"
#include "ingest/readers/cupti/testing/streams.h"
#include "ingest/readers/cupti/values.h"

namespace gapless::internal {
namespace {

using namespace cupti::testing;
using wire::Fold;
using wire::RecordType;

constexpr int64_t kCuptiNs = 1'000'000'000, kUnixNs = 1'700'000'000'000'000'000;
constexpr uint64_t kRuntime = 0, kDriver = 1;

uint64_t Start(int64_t ns) { return Fold(kCuptiNs + ns); }  // start of the first record of its type in a block
uint64_t Lasts(uint64_t ns) { return ns + 1; }

std::string Kernel(int64_t start_ns, uint64_t dur_ns, int64_t correlation, uint64_t name, uint64_t graph = 0) {
  return RecordOf(RecordType::kKernel, {Start(start_ns),
                                        Lasts(dur_ns),
                                        2,
                                        1,
                                        7,
                                        Fold(correlation),
                                        name,
                                        8,
                                        2,
                                        1,
                                        256,
                                        1,
                                        1,
                                        32,
                                        1024,
                                        2048,
                                        0,
                                        graph,
                                        0,
                                        0});
}
std::string Call(int64_t start_ns, uint64_t dur_ns, int64_t correlation, uint64_t name, uint64_t domain = kRuntime) {
  return RecordOf(RecordType::kApi, {Start(start_ns), Lasts(dur_ns), 77, Fold(correlation), name, domain, 0});
}
std::string Marker(int64_t ts_ns, uint64_t flags, uint64_t id, uint64_t name) {
  return RecordOf(RecordType::kMarker, {Start(ts_ns), flags, id, 78, name, 0});
}

class CuptiTest : public ::testing::Test {
 protected:
  Result<Trace> Read(std::string bytes) {
    MemorySource source(std::move(bytes));
    return ReadTrace(source, {.pool = pool_});
  }
  Trace MustRead(std::string bytes) {
    auto trace = Read(std::move(bytes));
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace{};
  }
  // One block for each payload, all with the same reading of the clocks but a little later.
  static std::string Stream(std::initializer_list<std::string> payloads) {
    std::string bytes = FileHeaderOf(42, 3);
    for (const std::string& payload : payloads) bytes += BlockOf(payload, kCuptiNs, kUnixNs);
    return bytes;
  }
  static int64_t Stat(const Trace& trace, std::string_view kind) {
    for (size_t row = 0; row < trace.read_stats.size(); ++row)
      if (trace.Text(trace.read_stats.kind[row]) == kind) return trace.read_stats.count[row];
    return 0;
  }
  ThreadPool pool_{1};
};

TEST_F(CuptiTest, AKernelAndItsLaunch) {
  const Trace trace = MustRead(Stream({TextOf(1, "volta_sgemm_64x64_nt") + TextOf(2, "cudaLaunchKernel_ptsz_v7000") +
                                       Call(100, 20, 5, 2) + Kernel(150, 40, 5, 1, 9)}));
  EXPECT_EQ(trace.info.rank, 3);
  EXPECT_EQ(trace.info.host, "node");
  EXPECT_EQ(trace.info.event_count, 2);
  EXPECT_EQ(trace.info.start_unix_ns, kUnixNs + 100);
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  const GpuOpTable& ops = trace.gpu_ops;
  EXPECT_EQ(trace.Text(ops.name[0]), "volta_sgemm_64x64_nt");
  EXPECT_EQ(ops.op_class[0], GpuOpClass::kGemm);
  EXPECT_EQ(ops.matrix_unit[0], MatrixUnit::kNo);
  EXPECT_EQ(ops.ts_ns[0], 50);
  EXPECT_EQ(ops.dur_ns[0], 40);
  EXPECT_EQ(ops.device[0], 2);
  EXPECT_EQ(ops.stream[0], 7);
  EXPECT_EQ(ops.grid_x[0], 8);
  EXPECT_EQ(ops.block_x[0], 256);
  EXPECT_EQ(ops.shared_bytes[0], 3072);
  EXPECT_EQ(ops.graph_id[0], 9);
  EXPECT_EQ(ops.bytes[0], kAbsent);
  ASSERT_TRUE(ops.launch[0].valid());
  EXPECT_EQ(trace.Text(trace.slices.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(trace.slices.api[0], ApiKind::kKernelLaunch);
  EXPECT_EQ(trace.threads.tid[0], 77);
}

TEST_F(CuptiTest, TheRuntimesCallIsTheLaunchUnlessThereIsNone) {
  const std::string names = TextOf(1, "k") + TextOf(2, "cudaLaunchKernel_v7000") + TextOf(3, "cuLaunchKernel");
  const Trace both =
      MustRead(Stream({names + Call(105, 5, 5, 3, kDriver), Call(100, 20, 5, 2) + Kernel(150, 40, 5, 1)}));
  ASSERT_EQ(both.slices.size(), 2U);
  EXPECT_EQ(both.gpu_ops.launch[0], SliceId(0));
  EXPECT_EQ(both.slices.category[0], SliceCategory::kRuntime);
  EXPECT_EQ(Stat(both, "duplicate_correlations"), 0);
  const Trace alone = MustRead(Stream({names + Call(105, 5, 5, 3, kDriver) + Kernel(150, 40, 5, 1)}));
  ASSERT_TRUE(alone.gpu_ops.launch[0].valid());
  EXPECT_EQ(alone.slices.category[0], SliceCategory::kDriver);
}

TEST_F(CuptiTest, WorkWithoutAnEndIsLeftOutAndCounted) {
  const std::string unfinished = RecordOf(RecordType::kMemset, {Start(5), 0, 0, 1, 7, Fold(1), 64, 0, 3, 0, 0, 0});
  const Trace trace = MustRead(Stream({unfinished}));
  EXPECT_EQ(trace.gpu_ops.size(), 0U);
  EXPECT_EQ(Stat(trace, "gpu_ops_without_time"), 1);
}

TEST_F(CuptiTest, AGraphRecordedAsAWholeIsWork) {
  const Trace trace =
      MustRead(Stream({RecordOf(RecordType::kGraphTrace, {Start(5), Lasts(90), 0, 1, 7, Fold(1), 12})}));
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(trace.Text(trace.gpu_ops.name[0]), "CUDA graph 12");
  EXPECT_EQ(trace.gpu_ops.dur_ns[0], 90);
}

TEST_F(CuptiTest, CollectiveKernelsAreCollectives) {
  const Trace trace = MustRead(Stream({TextOf(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)") + Kernel(0, 40, 5, 1)}));
  ASSERT_EQ(trace.collectives.size(), 1U);
  EXPECT_EQ(trace.Text(trace.collectives.kind[0]), "all_reduce");
  EXPECT_EQ(trace.collectives.gpu_op[0], GpuOpId(0));
}

TEST_F(CuptiTest, RangesArePairedWhicheverEndComesFirst) {
  const std::string name = TextOf(1, "iteration 7");
  const Trace trace = MustRead(Stream({name + Marker(10, 2, 1, 1), Marker(60, 4, 2, 0), Marker(30, 4, 1, 0),
                                       Marker(40, 2, 2, 1), Marker(45, 1, 9, 1), Marker(50, 2, 3, 1)}));
  ASSERT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.slices.category[0], SliceCategory::kAnnotation);
  EXPECT_EQ(trace.slices.dur_ns[0], 20);
  EXPECT_EQ(trace.slices.dur_ns[1], 20);
  EXPECT_EQ(trace.steps.size(), 2U);  // ranges that are named so are steps
  EXPECT_EQ(Stat(trace, "instants"), 1);
  EXPECT_EQ(Stat(trace, "open_ranges"), 1);
}

TEST_F(CuptiTest, MemoryIsCountedByDevice) {
  const auto memory = [](int64_t ts_ns, uint64_t operation, uint64_t kind, uint64_t address, uint64_t bytes) {
    return RecordOf(RecordType::kMemory, {Start(ts_ns), operation, kind, address, bytes, 1, 1, 0, Fold(0)});
  };
  const Trace trace =
      MustRead(Stream({memory(1, 1, 3, 0x1000, 64), memory(2, 1, 3, 0x2000, 36), memory(3, 2, 3, 0x1000, 64),
                       memory(4, 2, 3, 0x9000, 64), memory(5, 1, 2, 0x100, 8)}));
  ASSERT_EQ(trace.counters.size(), 4U);
  EXPECT_EQ(trace.counters.value[1], 100);
  EXPECT_EQ(trace.counters.value[2], 36);
  EXPECT_EQ(trace.counters.device[2], 1);
  EXPECT_EQ(trace.Text(trace.counters.name[3]), "CUDA host memory");
  EXPECT_EQ(trace.counters.device[3], kAbsent32);
}

TEST_F(CuptiTest, WhatIsNewIsSkippedAndWhatIsAppendedIgnored) {
  const Trace trace =
      MustRead(Stream({TextOf(1, "k") + RecordOf(static_cast<RecordType>(200), {1, 2, 3}) +
                       RecordOf(RecordType::kGraphTrace, {Start(5), Lasts(90), 0, 1, 7, Fold(1), 12, 99, 98})}));
  EXPECT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(Stat(trace, "unknown_records"), 1);
}

TEST_F(CuptiTest, ADamagedBlockCostsItselfAndTheNamesInIt) {
  std::string bytes = Stream({TextOf(1, "lost") + Kernel(0, 10, 1, 1), Kernel(50, 10, 2, 1)});
  bytes[sizeof(wire::FileHeader) + sizeof(wire::BlockHeader) + 2] ^= 1;
  const Trace trace = MustRead(bytes);
  EXPECT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(Stat(trace, "damaged_input"), 1);
  EXPECT_EQ(Stat(trace, "lost_names"), 1);
  EXPECT_EQ(trace.gpu_ops.name[0], StringId::kNone);
}

TEST_F(CuptiTest, TheEndOfTheFileSaysHowTheProcessEnded) {
  const std::string work = TextOf(1, "k") + Kernel(0, 10, 1, 1);
  EXPECT_EQ(Stat(MustRead(Stream({work})), "process_killed"), 1);
  const std::string whole = Stream({work + RecordOf(RecordType::kFinish, "")});
  EXPECT_EQ(MustRead(whole).read_stats.size(), 1U);  // the kernel's launch is missing, nothing else
  const Trace cut = MustRead(whole + "CBLK");
  EXPECT_EQ(Stat(cut, "truncated_input"), 1);
  EXPECT_EQ(cut.gpu_ops.size(), 1U);
  EXPECT_EQ(Stat(MustRead(whole + std::string(100, 'x')), "damaged_input"), 1);
}

TEST_F(CuptiTest, MessagesAndDropsAreTold) {
  const Trace trace =
      MustRead(Stream({TextOf(1, "another profiler owns CUPTI") + RecordOf(RecordType::kMessage, {0, 1}) +
                       RecordOf(RecordType::kDropped, {400, 1}) + RecordOf(RecordType::kDropped, {5, 1}) +
                       RecordOf(RecordType::kDropped, {7, 3})}));
  EXPECT_EQ(Stat(trace, "collector_message"), 1);
  EXPECT_EQ(Stat(trace, "dropped_records"), 405);
  EXPECT_EQ(Stat(trace, "unwritten_records"), 7);
}

TEST_F(CuptiTest, RefusesWhatItCannotReadWithAHint) {
  const auto newer = Read(FileHeaderOf(1, -1, 9));
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("version 9"), std::string::npos);
  EXPECT_FALSE(newer.error().hint.empty());
  EXPECT_FALSE(Read(FileHeaderOf(1).substr(0, 50)));
  EXPECT_TRUE(Read(FileHeaderOf(1)));
}

// Checksums keep mutations of whole files from the records, so here they are right and the records are not.
TEST_F(CuptiTest, AnyRecordsAreSurvived) {
  const std::string good = TextOf(1, "k") + Kernel(0, 10, 1, 1) + Call(1, 2, 3, 1) + Marker(1, 2, 3, 1) +
                           RecordOf(RecordType::kSync, {Start(5), Lasts(1), 3, 1, 8, 0, Fold(3)});
  std::mt19937_64 random(7);
#ifdef GAPLESS_SANITIZED
  constexpr int kStreams = 1500;  // each costs ten times as much
#else
  constexpr int kStreams = 5000;
#endif
  for (int i = 0; i < kStreams; ++i) {
    std::string payload;
    while (random() % 8 != 0) {
      std::string record = random() % 2 == 0 ? good : RecordOf(static_cast<RecordType>(random() % 24), "");
      for (uint64_t edit = 0; edit <= random() % 6; ++edit)
        record.insert(random() % (record.size() + 1), 1, static_cast<char>(random() % 3 == 0 ? 0xFF : random()));
      payload += record;
    }
    const auto trace =
        Read(FileHeaderOf(1) + BlockOf(payload, static_cast<int64_t>(random()), static_cast<int64_t>(random())));
    ASSERT_TRUE(trace);
    for (size_t row = 0; row < trace->gpu_ops.size(); ++row) ASSERT_GE(trace->gpu_ops.dur_ns[row], 0);
  }
}

TEST(CuptiClocks, TheDifferenceChangesEvenlyBetweenReadings) {
  cupti::ClockMap clocks;
  EXPECT_EQ(clocks.ToUnix(123), 123);
  clocks.Add(1000, 501'000);
  clocks.Add(2000, 502'100);  // 100 ns more
  clocks.Add(1500, 509'000);  // goes back: left out
  clocks.Add(0, 0);
  EXPECT_EQ(clocks.ToUnix(500), 500'500);
  EXPECT_EQ(clocks.ToUnix(1000), 501'000);
  EXPECT_EQ(clocks.ToUnix(1500), 501'550);
  EXPECT_EQ(clocks.ToUnix(3000), 503'100);
  EXPECT_EQ(clocks.ToUnix(700), 500'700);
  EXPECT_EQ(clocks.ToUnix(0), kAbsent);
  EXPECT_EQ(clocks.ToUnix(UINT64_MAX), kAbsent);
}

TEST(CuptiNames, AreThoseOfPyTorchsRecorder) {
  EXPECT_EQ(cupti::CallName("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(cupti::CallName("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(cupti::CallName("cudaLaunchKernelExC_v11060"), "cudaLaunchKernelExC");
  EXPECT_EQ(cupti::CallName("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync_v2");
  EXPECT_EQ(cupti::CallName("cuStreamSynchronize_ptsz"), "cuStreamSynchronize");
  EXPECT_EQ(cupti::CopyName(1, 1, 3), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(cupti::CopyName(99, 99, 99), "Memcpy Unknown (Unknown -> Unknown)");
  EXPECT_EQ(cupti::OverheadName(5 << 16), "Lazy Function Loading");
  EXPECT_EQ(cupti::OverheadName(1), "Driver Compiler");
  EXPECT_EQ(cupti::OverheadName(77 << 16), "Unknown");
  EXPECT_EQ(cupti::UuidText(0, 0), "");
}

}  // namespace
}  // namespace gapless::internal
