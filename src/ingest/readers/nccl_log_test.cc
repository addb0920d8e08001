// SPDX-License-Identifier: Apache-2.0
// tests/data/nccl_tests.log: five sizes of all_reduce on two ranks, whose rows NCCL's own lines interrupt.
#include <gtest/gtest.h>

#include <fstream>

#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kResultHead =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n";

Trace ReadNcclLog() {
  auto source = OpenFile("tests/data/nccl_tests.log");
  EXPECT_TRUE(source);
  return testing::ReadFrom(**source);
}

std::string LogFactOf(const Trace& trace, std::string_view key) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == key) return std::string(trace.Text(trace.environment.value[row]));
  return "-";
}

TEST(NcclLog, RowsAreReadThoughLinesOfNcclStandInThem) {
  const Trace trace = ReadNcclLog();
  const CommBenchmarkTable& all = trace.comm_benchmarks;
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all.bytes[2], 128);
  EXPECT_EQ(all.dur_ns[2], 13'020);
  EXPECT_EQ(all.dur_ns[3], 12'980) << "behind a line of NCCL";
  EXPECT_EQ(trace.Text(all.placement[3]), "in_place");
  EXPECT_EQ(all.root[0], -1);
  EXPECT_EQ(all.ranks[0], 2);
  EXPECT_EQ(trace.Text(all.kind[0]), "all_reduce");
  EXPECT_DOUBLE_EQ(all.bus_gbps[8], 22.0);
  EXPECT_EQ(all.wrong[8], 3);
  EXPECT_EQ(all.wrong[5], kAbsent) << "N/A is not 0";
}

TEST(NcclLog, TheEnvironmentSaysWhatNcclChose) {
  const Trace trace = ReadNcclLog();
  EXPECT_EQ(LogFactOf(trace, "nccl.version"), "2.27.7+cuda12.9");
  EXPECT_EQ(LogFactOf(trace, "nccl.cuda_driver"), "12090");
  EXPECT_EQ(LogFactOf(trace, "nccl.network"), "Socket");
  EXPECT_EQ(LogFactOf(trace, "nccl.ib_devices"), "none");
  EXPECT_EQ(LogFactOf(trace, "nccl.net_plugin"), "none");
  EXPECT_EQ(LogFactOf(trace, "nccl.env.NCCL_P2P_DISABLE"), "1");
  EXPECT_EQ(LogFactOf(trace, "nccl.nodes"), "1");
  EXPECT_EQ(LogFactOf(trace, "nccl.channels"), "2");
  EXPECT_EQ(LogFactOf(trace, "nccl.ring_orders"), "0 1");
  EXPECT_EQ(LogFactOf(trace, "comm.test.0.average_bus_gbps"), "7.9260");
  EXPECT_EQ(LogFactOf(trace, "comm.test.0.out_of_bounds"), "3 FAILED");
  EXPECT_EQ(trace.info.world_size, 2);
}

TEST(NcclLog, ChannelsHaveTheirEndsAndTransport) {
  const Trace trace = ReadNcclLog();
  const CommChannelTable& all = trace.comm_channels;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all.channel[1], 1);
  EXPECT_EQ(all.src_rank[2], 1);
  EXPECT_EQ(all.dst_rank[2], 0);
  EXPECT_EQ(trace.Text(all.transport[0]), "SHM/direct/direct");
  EXPECT_EQ(trace.Text(all.family[0]), "SHM");
  EXPECT_EQ(trace.Text(all.comm[0]), "0x55b6aa64a990");
  EXPECT_EQ(trace.Text(all.host[0]), "node1");
}

TEST(NcclLog, CallsAreCountedByWhatTheyAre) {
  const Trace trace = ReadNcclLog();
  const CommCallTable& all = trace.comm_calls;
  ASSERT_EQ(all.size(), 3U);
  bool counted = false, chosen = false, numbered = false;
  for (size_t row = 0; row < all.size(); ++row) {
    const std::string_view algorithm = trace.Text(all.algorithm[row]);
    counted = counted || (trace.Text(all.dtype[row]) == "float32" && all.bytes[row] == 128 && all.ranks[row] == 2);
    chosen = chosen || (all.bytes[row] == 128 && algorithm == "RING" && all.calls[row] == 2 && all.channels[row] == 1);
    numbered = numbered || (all.bytes[row] == 67'108'864 && algorithm == "RING" &&
                            trace.Text(all.protocol[row]) == "SIMPLE" && all.channels[row] == 2);
  }
  EXPECT_TRUE(counted && chosen && numbered);
}

TEST(NcclLog, AWarningKeepsItsWordsAndPlace) {
  const Trace trace = ReadNcclLog();
  const CommMessageTable& all = trace.comm_messages;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(trace.Text(all.text[0]), "Error: failed to extend /dev/shm/nccl-abc to 33030532 bytes");
  EXPECT_EQ(trace.Text(all.place[0]), "misc/shmutils.cc:72");
  EXPECT_EQ(trace.Text(all.level[0]), "WARN");
}

TEST(NcclLog, PlacesOfWarningsMayHaveSpaces) {
  const Trace trace = testing::ReadText(
      "[2025-12-28 16:04:25] node-0:152:386 [0] int create_plugin(plugin_t**):259 NCCL WARN NET/OFI Unable to find a "
      "protocol\nserver1:1:1 [0] NCCL INFO Using network Socket\n");
  ASSERT_EQ(trace.comm_messages.size(), 1U);
  EXPECT_EQ(trace.Text(trace.comm_messages.host[0]), "node-0");
  EXPECT_EQ(trace.Text(trace.comm_messages.place[0]), "int create_plugin(plugin_t**):259");
}

TEST(NcclLog, AFailureOfATestIsAnError) {
  const Trace trace = testing::ReadText(
      "h:1:2 [0] misc/socket.cc:1 NCCL WARN closed\nh: Test NCCL failure common.cu:961 'unhandled system error / '\n");
  ASSERT_EQ(trace.comm_messages.size(), 2U);
  EXPECT_EQ(trace.Text(trace.comm_messages.level[1]), "ERROR");
  EXPECT_EQ(trace.comm_messages.line[1], 2);
}

TEST(NcclLog, BothEndsOfANetworkAreNamed) {
  const Trace trace = testing::ReadText(
      "[1,0]<stdout>:w-0:21:27 [0] NCCL INFO Channel 00/0 : 1[f5000] -> 0[35000] [receive] via NET/AWS Libfabric/0\n"
      "w-1:21:26 [0] NCCL INFO Channel 03/0 : 1[1] -> 0[0] via P2P/IPC comm 0x7f00 nRanks 02\n");
  const CommChannelTable& all = trace.comm_channels;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(trace.Text(all.transport[0]), "NET/AWS Libfabric/0");
  EXPECT_EQ(trace.Text(all.direction[0]), "receive");
  EXPECT_EQ(trace.Text(all.host[0]), "w-0");
  EXPECT_EQ(trace.Text(all.transport[1]), "P2P/IPC");
  EXPECT_EQ(trace.Text(all.comm[1]), "0x7f00");
}

TEST(NcclLog, LabelsOfLaunchersAndOldHeadsAreKnown) {
  const Trace trace = testing::ReadText(
      "    [1,0]<stdout>:#   size   count   type   redop   time   algbw   busbw  error   time  algbw  busbw  error\n"
      "    [1,0]<stdout>:   1024   256   float   sum   15.02   0.07   0.07   0e+00   14.80   0.07   0.07   0e+00\n");
  ASSERT_EQ(trace.comm_benchmarks.size(), 2U);
  EXPECT_EQ(trace.comm_benchmarks.root[0], kAbsent);
  EXPECT_EQ(trace.comm_benchmarks.dur_ns[1], 14'800);
  EXPECT_EQ(trace.comm_benchmarks.wrong[0], 0);
}

TEST(NcclLog, ARowThatWasCutOffKeepsWhatIsThere) {
  const Trace trace =
      testing::ReadText(std::string(kResultHead) + "  8  2  float  sum  -1  12.90  0.00  0.00  0  12.8");
  ASSERT_EQ(trace.comm_benchmarks.size(), 1U);
  EXPECT_EQ(trace.Text(trace.comm_benchmarks.placement[0]), "out_of_place");
  EXPECT_EQ(trace.Text(trace.read_stats.kind[0]), "cut_rows");
}

TEST(NcclLog, ResultsAsJsonAreTheSame) {
  const Trace trace = testing::ReadText(
      R"({"version":1,"start_time":"x","args":["./build/all_gather_perf","-J","x"],"env":[],"nccl_version":22907,)"
      R"("config":{"devices":[{"rank":0},{"rank":1}]},"results":[{"size":1024,"count":128,"type":"float",)"
      R"("redop":"none","root":"    -1","out_of_place":{"time":20.5,"alg_bw":0.05,"bus_bw":0.025,"nwrong":0.0},)"
      R"("in_place":{"time":19.5,"alg_bw":0.05,"bus_bw":0.026,"nwrong":null}}]})");
  const CommBenchmarkTable& all = trace.comm_benchmarks;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(trace.Text(all.kind[0]), "all_gather");
  EXPECT_EQ(all.dur_ns[0], 20'500);
  EXPECT_EQ(all.wrong[0], 0);
  EXPECT_EQ(all.wrong[1], kAbsent);
  EXPECT_EQ(all.root[0], -1);
  EXPECT_EQ(LogFactOf(trace, "nccl.version"), "2.29.7");
}

TEST(NcclLog, OtherLogsAreNotTaken) {
  MemorySource source("epoch 1 loss 0.5\n8 2 float sum\nall_reduce took 5 ms\n");
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "no reader knows this format");
}

}  // namespace
}  // namespace gapless::internal
