// SPDX-License-Identifier: Apache-2.0
// tests/data/nccl_inspector.jsonl: four collectives and a message of rank 2 of 4, in the form of version 4.2.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>

#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr const char* kInspectorSample = "tests/data/nccl_inspector.jsonl";

Trace ReadInspector() {
  auto source = OpenFile(kInspectorSample);
  EXPECT_TRUE(source);
  return testing::ReadFrom(**source);
}

TEST(NcclInspector, EachObjectIsARow) {
  const Trace trace = ReadInspector();
  const CollectiveTable& all = trace.collectives;
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(trace.Text(all.kind[1]), "all_gather");
  EXPECT_EQ(all.dur_ns[1], 40'000);
  EXPECT_EQ(all.seq[1], 2);
  EXPECT_EQ(all.group_size[1], 4);
  EXPECT_EQ(trace.Text(all.group[1]), "0x7f8c496ae9f661:DP Group 0");
  EXPECT_EQ(all.src_rank[4], 2);
  EXPECT_EQ(all.dst_rank[4], 3);
  EXPECT_EQ(trace.info.rank, 2);
  EXPECT_EQ(trace.info.world_size, 4);
}

TEST(NcclInspector, SizesAreThoseOfTheBandwidthsInTheFile) {
  const Trace trace = ReadInspector();
  const CollectiveTable& all = trace.collectives;
  std::ifstream in(kInspectorSample);
  std::string line;
  simdjson::dom::parser parser;
  size_t row = 0;
  while (std::getline(in, line)) {
    simdjson::dom::element object;
    ASSERT_EQ(parser.parse(line).get(object), simdjson::SUCCESS);
    double algo = 0, bus = 0;
    const bool p2p = object["p2p_perf"].is_object();
    const auto perf = object[p2p ? "p2p_perf" : "coll_perf"];
    if (perf[p2p ? "p2p_algobw_gbs" : "coll_algobw_gbs"].get(algo) != simdjson::SUCCESS) continue;  // a row of the dump
    ASSERT_EQ(perf[p2p ? "p2p_busbw_gbs" : "coll_busbw_gbs"].get(bus), simdjson::SUCCESS);
    // The formulas are those of nccl-tests, on which the columns algo_gbps and bus_gbps of SQL rest.
    constexpr double kFactors[] = {1.5, 0.75, 0.75, 1, 1};
    ASSERT_LT(row, std::size(kFactors));
    const double ours = static_cast<double>(all.bytes[row]) / static_cast<double>(all.dur_ns[row]);
    EXPECT_NEAR(ours, algo, algo * 1e-4);
    EXPECT_NEAR(ours * kFactors[row], bus, bus * 1e-4);
    ++row;
  }
  EXPECT_EQ(row, 5U);
}

TEST(NcclInspector, WithoutTimesOfStartsRowsStandInTheirOrder) {
  const Trace trace = ReadInspector();
  const CollectiveTable& all = trace.collectives;
  for (size_t row = 1; row < all.size(); ++row)
    EXPECT_GE(all.ts_ns[row], all.ts_ns[row - 1] + all.dur_ns[row - 1]) << row;
  EXPECT_EQ(all.ts_ns[3] - all.ts_ns[0], 500'111'000) << "written half a second later";
}

TEST(NcclInspector, VerboseFilesSayWhenTheKernelBegan) {
  const Trace trace = testing::ReadText(
      R"({"header":{"id":"0x1","rank":0,"n_ranks":2},"metadata":{"dump_timestamp_us":1752867229276385},)"
      R"("coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":8,"coll_exec_time_us":5,)"
      R"("event_trace_ts":{"coll_start_ts":1752867229235059,"kernel_events":[{"kernel_start_ts":1752867229235181}]}}})");
  EXPECT_EQ(trace.info.origin_ns, 1'752'867'229'235'181'000);
}

TEST(NcclInspector, DropsOfThePluginAreSaid) {
  const Trace trace = ReadInspector();
  bool said = false;
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    said = said || (trace.Text(trace.read_stats.kind[row]) == "dropped_events" && trace.read_stats.count[row] == 2);
  EXPECT_TRUE(said);
}

TEST(NcclInspector, ALineThatIsNoneLeavesTheOthers) {
  const std::string good =
      R"({"header":{"id":"0x1","rank":0,"n_ranks":2},"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":8,)"
      R"("coll_exec_time_us":5}})";
  const Trace trace = testing::ReadText(good + "\n{\"header\":{\"id\":\n" + good + "\n" + good.substr(0, 40));
  EXPECT_EQ(trace.collectives.size(), 2U);
  bool cut = false;
  for (const StringId kind : trace.read_stats.kind) cut = cut || trace.Text(kind) == "damaged_input";
  EXPECT_TRUE(cut);
}

TEST(NcclInspector, TheRankIsThatInTheLargestGroup) {
  const auto line = [](int rank, int ranks) {
    return R"({"header":{"id":"0x)" + std::to_string(ranks) + R"(","rank":)" + std::to_string(rank) + R"(,"n_ranks":)" +
           std::to_string(ranks) +
           R"(},"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":8,"coll_exec_time_us":5}})" + "\n";
  };
  EXPECT_EQ(testing::ReadText(line(1, 2) + line(5, 8)).info.rank, 5);
  EXPECT_EQ(testing::ReadText(line(1, 8) + line(5, 8)).info.rank, kAbsent) << "several ranks in one file";
}

}  // namespace
}  // namespace gapless::internal
