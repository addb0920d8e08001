// SPDX-License-Identifier: Apache-2.0
// Reports that are made here, each about one thing. tests/oracle_nsight.py compares real ones with ncu's own answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_rep/results.h"
#include "ingest/readers/ncu_rep/testing/reports.h"
#include "ingest/readers/ncu_rep/units.h"
#include "ingest/testing/read.h"

namespace gapless::internal::ncu_rep::testing {
namespace {

using internal::testing::ReadText;

constexpr const char* kDuration = "gpu__time_duration.sum";

// "launch kernel metric = value unit" or "… = 'text'", a row each.
std::vector<std::string> RowsOf(const Trace& trace) {
  std::vector<std::string> rows;
  const auto& table = trace.kernel_metrics;
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string_view text = trace.Text(table.text[i]);
    rows.push_back(StrCat(table.launch_index[i], ' ', trace.Text(table.kernel_name[i]), ' ',
                          trace.Text(table.metric[i]),
                          std::isnan(table.value[i]) ? std::string() : StrCat(" = ", table.value[i]),
                          text.empty() ? std::string() : StrCat(" '", text, "'"), ' ', trace.Text(table.unit[i])));
  }
  return rows;
}
bool Has(const Trace& trace, std::string_view row) {
  const auto rows = RowsOf(trace);
  return std::ranges::find(rows, row) != rows.end();
}

int64_t Counted(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.read_stats.size(); ++i)
    if (trace.Text(trace.read_stats.kind[i]) == kind) return trace.read_stats.count[i];
  return 0;
}

Error Refusal(std::string bytes) {
  MemorySource source(std::move(bytes));
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  EXPECT_FALSE(trace);
  return trace ? Error{} : trace.error();
}

TEST(NcuReport, ALaunchIsWhatTheTableSaysOfIt) {
  Message launch = Launch("gemm(float *)");
  launch.Add(13, Number(1, 2500)).Add(13, Words(2, "CachePreferNone"));
  launch.Add(13, Message().Int(1, 0).Add(2, Message().Int(5, 9)));
  launch.Add(13, Message().Int(1, 3).Add(2, Message().Int(5, 0)));
  const Trace trace =
      ReadText(Report({{.names = {"device__attribute_compute_capability_major", kDuration, "launch__func_cache_config",
                                  "device__attribute_compute_capability_minor"},
                        .results = {launch}}}));
  const std::vector<std::string> expected = {
      "0 gemm(float *) block '(64, 1, 1)' ",
      "0 gemm(float *) grid '(2, 1, 1)' ",
      "0 gemm(float *) context '1' ",
      "0 gemm(float *) stream '7' ",
      "0 gemm(float *) compute_capability '9.0' ",
      "0 gemm(float *) process_id '4711' ",
      "0 gemm(float *) device__attribute_compute_capability_major = 9 ",
      "0 gemm(float *) device__attribute_compute_capability_minor = 0 ",
      "0 gemm(float *) gpu__time_duration.sum = 2500 ns",
      "0 gemm(float *) launch__func_cache_config 'CachePreferNone' ",
  };
  EXPECT_EQ(RowsOf(trace), expected);
}

TEST(NcuReport, NamesOfMetricsStandInAllBlocksBefore) {
  const Trace trace =
      ReadText(Report({{.names = {"a__first.sum"}, .results = {Launch("k").Add(13, Number(0, 1))}},
                       {.names = {"a__second.sum"}, .sources = 2},
                       {.results = {Launch("k").Add(13, Number(1, 2)), Launch("k").Add(13, Number(2, 3))}}}));
  EXPECT_TRUE(Has(trace, "0 k a__first.sum = 1 "));
  EXPECT_TRUE(Has(trace, "1 k a__second.sum = 2 "));
  EXPECT_EQ(Counted(trace, "damaged_results"), 1) << "there is no third name";
  EXPECT_EQ(Counted(trace, "code"), 2);
}

TEST(NcuReport, ARuleIsARowForEachThingItSays) {
  Message launch = Launch("k");
  launch.Add(17, Section("Late", "Launch Statistics", 70)).Add(17, Section("Early", "Speed Of Light", 10));
  launch.Add(19, Rule("Second", "Late", {"Look at @section:Early:Speed Of Light@.", "And more."}, 12.5));
  launch.Add(19, Rule("First", "Early", {"See the @url:Guide:https://host/a@ (50 % of a@b)."}));
  launch.Add(19, Rule("Silent", "Early", {}));
  const Trace trace = ReadText(Report({{.results = {launch}}}));
  const auto rows = RowsOf(trace);
  const std::vector<std::string> rules(rows.end() - 3, rows.end());
  EXPECT_EQ(rules, (std::vector<std::string>{"0 k rule:First 'See the Guide (https://host/a) (50 % of a@b).' ",
                                             "0 k rule:Second = 12.5 'Look at Speed Of Light.' %",
                                             "0 k rule:Second 'And more.' "}));
}

TEST(NcuReport, WhatWasNotCollectedHasNoRow) {
  Message launch = Launch("k");
  launch.Add(13, Message().Int(1, 0));
  launch.Add(13, Number(0, std::nan(""))).Add(13, Words(0, "no data"));
  launch.Add(13, Message().Int(1, 0).Add(3, Message().Add(1, Message().Int(5, 1))));
  const Trace trace = ReadText(Report({{.names = {kDuration}, .results = {launch}}}));
  EXPECT_EQ(Counted(trace, "absent_values"), 4);
  EXPECT_EQ(Counted(trace, "instance_values"), 1);
  EXPECT_FALSE(Has(trace, "0 k gpu__time_duration.sum = 0 ns"));
}

TEST(NcuReport, UnitsFollowFromNames) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"gpu__time_duration.sum", "ns"},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
      {"sm__maximum_warps_per_active_cycle_pct", "%"},
      {"dram__bytes.sum.per_second", "byte/second"},
      {"dram__bytes.sum.peak_sustained", "byte/cycle"},
      {"lts__cycles_elapsed.avg.per_second", "cycle/second"},
      {"l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained", ""},
      {"sm__warps_active.avg.per_cycle_active", "warp"},
      {"launch__shared_mem_per_block_static", "byte/block"},
      {"launch__grid_size", ""},
      {"pmsampling:sm__cycles_active.avg", "cycle"},
      {"SM.TriageA.sm__inst_executed_realtime.avg.per_cycle_active", "inst/cycle"},
  };
  for (const auto& [metric, unit] : cases) EXPECT_EQ(UnitOf(metric), unit) << metric;
}

TEST(NcuReport, TextsWithoutLinksStay) {
  EXPECT_EQ(PlainText("a@b, c@d and @"), "a@b, c@d and @");
  EXPECT_EQ(PlainText("a@b, @section:X:Name@ c@d"), "a@b, Name c@d");
}

TEST(NcuReport, OneThatWasCutOffKeepsTheLaunchesBefore) {
  const std::vector<Block> blocks = {{.results = {Launch("a")}}, {.results = {Launch("b"), Launch("c")}}};
  const std::string whole = Report(blocks);
  const Trace trace = ReadText(whole.substr(0, whole.size() - 3));
  EXPECT_TRUE(Has(trace, "1 b stream '7' "));
  EXPECT_FALSE(Has(trace, "2 c stream '7' "));
  EXPECT_EQ(Counted(trace, "truncated_input"), 1);
  EXPECT_EQ(Counted(ReadText(whole), "truncated_input"), 0);
}

TEST(NcuReport, ADamagedBlockCostsItsLaunchesOnly) {
  Block damaged{.results = {Launch("b")}};
  damaged.results.front().Text(12, std::string(1000, 'x'));
  std::string bytes = damaged.Bytes();
  bytes[bytes.size() - damaged.results.front().bytes().size() - 1] = '\x7F';  // the size of the result
  const std::string file = Report({{.results = {Launch("a")}}}) + bytes + Block{.results = {Launch("c")}}.Bytes();
  const Trace trace = ReadText(file);
  EXPECT_TRUE(Has(trace, "0 a stream '7' "));
  EXPECT_TRUE(Has(trace, "1 c stream '7' "));
  EXPECT_EQ(Counted(trace, "damaged_blocks"), 1);
}

TEST(NcuReport, ResultsOfRangesAreCounted) {
  const Trace trace = ReadText(Report({{.results = {Launch("a")}, .ranges = 3}}));
  EXPECT_EQ(Counted(trace, "other_results"), 3);
}

TEST(NcuReportRefused, BySayingWhy) {
  const Block block{.results = {Launch("a")}};
  EXPECT_NE(Refusal(Report({block}, 8)).message.find("version 8 of its container is not known"), std::string::npos);
  EXPECT_NE(Refusal(Report({block}, 8)).hint.find("ncu --import"), std::string::npos);
  EXPECT_NE(Refusal(Report({})).message.find("no kernel was measured"), std::string::npos);
  EXPECT_NE(Refusal(Report({{.ranges = 1}})).message.find("ranges or graphs"), std::string::npos);
  EXPECT_NE(Refusal(std::string("NVR\0\x09", 5)).message.find("cut off in its beginning"), std::string::npos);
  EXPECT_NE(Refusal(Report({block}).substr(0, 40)).message.find("cut off before the first kernel"), std::string::npos);
}

#ifdef GAPLESS_SANITIZED
constexpr int kCopies = 400;
#else
constexpr int kCopies = 10'000;
#endif

TEST(NcuReport, DamagedCopiesAreReadOrRefused) {
  std::ifstream in("tests/data/kernels.ncu-rep", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(good.empty()) << "run from the project's folder";
  std::mt19937 random(54);
  ThreadPool pool(1);
  int read = 0;
  for (int copy = 0; copy < kCopies; ++copy) {
    std::string bytes = good;
    for (unsigned edit = 0; edit <= random() % 4; ++edit)
      bytes[10 + random() % (bytes.size() - 10)] = static_cast<char>(random());
    if (copy % 8 == 0) bytes.resize(10 + random() % (bytes.size() - 10));
    MemorySource source(std::move(bytes));
    const auto trace = ReadTrace(source, {.pool = pool});
    read += trace ? 1 : 0;
    if (trace) continue;
    EXPECT_FALSE(trace.error().message.empty());
    EXPECT_FALSE(trace.error().hint.empty()) << trace.error().message;
  }
  EXPECT_GT(read, kCopies / 4) << "most damage should cost values, not the report";
  EXPECT_LT(read, kCopies);
}

}  // namespace
}  // namespace gapless::internal::ncu_rep::testing
