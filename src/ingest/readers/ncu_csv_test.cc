// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/csv.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_csv/values.h"

namespace gapless::internal {
namespace {

Trace ReadFrom(Source& source) {
  ThreadPool pool(1);
  auto trace = ReadTrace(source, {.pool = pool});
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? std::move(*trace) : Trace();
}

struct Metric {
  double value = std::nan("");
  std::string_view text, unit, kernel;
  bool found = false;
};

Metric Find(const Trace& trace, int64_t launch, std::string_view metric) {
  const KernelMetricTable& rows = trace.kernel_metrics;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows.launch_index[i] == launch && trace.Text(rows.metric[i]) == metric)
      return {rows.value[i], trace.Text(rows.text[i]), trace.Text(rows.unit[i]), trace.Text(rows.kernel_name[i]), true};
  return {};
}

// tests/data/kernels.ncu.csv, written by hand as a live run of ncu prints it.
TEST(NcuCsv, RawPage) {
  auto source = OpenFile("tests/data/kernels.ncu.csv");
  ASSERT_TRUE(source) << "run from the project's folder";
  const Trace trace = ReadFrom(**source);
  const Metric duration = Find(trace, 0, "gpu__time_duration.sum");
  EXPECT_DOUBLE_EQ(duration.value, 10240);
  EXPECT_EQ(duration.unit, "ns");
  EXPECT_EQ(duration.kernel, "void gemm<float, (int)64>(const float *, float *)");
  EXPECT_DOUBLE_EQ(Find(trace, 0, "dram__bytes_read.sum").value, 12.5e6);
  EXPECT_DOUBLE_EQ(Find(trace, 0, "dram__bytes_read.sum.per_second").value, 1250.25e9);
  EXPECT_EQ(Find(trace, 0, "dram__bytes_read.sum.per_second").unit, "byte/second");
  EXPECT_DOUBLE_EQ(Find(trace, 1, "dram__bytes_read.sum.per_second").value, 2000e9);
  EXPECT_FALSE(Find(trace, 0, "sm__warps_active.avg.pct_of_peak_sustained_active").found);  // nan is absent
  EXPECT_DOUBLE_EQ(Find(trace, 1, "sm__warps_active.avg.pct_of_peak_sustained_active").value, 80.1);
  EXPECT_EQ(Find(trace, 1, "device__attribute_display_name").text, "NVIDIA \"H100\"");
  EXPECT_EQ(Find(trace, 1, "grid").text, "(1024, 1, 1)");
  EXPECT_FALSE(Find(trace, 2, "grid").found);
  EXPECT_EQ(trace.info.pid, kAbsent);
}

TEST(NcuCsv, DetailsPage) {
  MemorySource source(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
      "Size\",\"Grid "
      "Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule "
      "Type\",\"Rule Description\",\"Estimated Speedup Type\",\"Estimated Speedup\"\n"
      "\"3\",\"1\",\"p\",\"h\",\"k(int)\",\"1\",\"7\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"7.5\",\"GPU Speed Of Light "
      "Throughput\",\"Memory Throughput\",\"%\",\"64.83\",\n"
      "\"3\",\"1\",\"p\",\"h\",\"k(int)\",\"1\",\"7\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"7.5\",\"Memory Workload "
      "Analysis\",\"Memory Throughput\",\"Gbyte/second\",\"300\",\n"
      "\"3\",\"1\",\"p\",\"h\",\"k(int)\",\"1\",\"7\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"7.5\",\"SpeedOfLight\",\"\","
      "\"\",\"\",\"SOLBottleneck\",\"OPT\",\"too small, see \"\"grid\"\"\",\"global\",\"12.5\"\n");
  const Trace trace = ReadFrom(source);
  EXPECT_DOUBLE_EQ(Find(trace, 3, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed").value, 64.83);
  EXPECT_DOUBLE_EQ(Find(trace, 3, "Memory Workload Analysis: Memory Throughput").value, 300e9);
  const Metric rule = Find(trace, 3, "rule:SOLBottleneck");
  EXPECT_EQ(rule.text, "too small, see \"grid\"");
  EXPECT_DOUBLE_EQ(rule.value, 12.5);
}

TEST(NcuCsv, DecimalCommas) {
  MemorySource source(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"CC\",\"a\",\"b\"\n\"\",\"\",\"\",\"\",\"\",\"\"\n"
      "\"0\",\"1\",\"k\",\"8.6\",\"9,00\",\"1,234\"\n");
  const Trace trace = ReadFrom(source);
  EXPECT_DOUBLE_EQ(Find(trace, 0, "a").value, 9);
  EXPECT_DOUBLE_EQ(Find(trace, 0, "b").value, 1.234);
}

TEST(NcuCsv, CutInTheMiddle) {
  MemorySource source("\"ID\",\"Process ID\",\"Kernel Name\",\"a\"\n\"0\",\"1\",\"k\",\"9\"\n\"1\",\"1\",\"ker");
  const Trace trace = ReadFrom(source);
  EXPECT_DOUBLE_EQ(Find(trace, 0, "a").value, 9);
  EXPECT_FALSE(Find(trace, 1, "a").found);
}

TEST(NcuValues, Numbers) {
  EXPECT_DOUBLE_EQ(ncu::ParseValue("1,234,567.5", {}), 1234567.5);
  EXPECT_DOUBLE_EQ(ncu::ParseValue("1.234,5", {.decimal_comma = true}), 1234.5);
  EXPECT_DOUBLE_EQ(ncu::ParseValue("-3", {}), -3);
  for (const char* text : {"", "(1, 1, 1)", "abc", "12 kB", "nan"})
    EXPECT_TRUE(std::isnan(ncu::ParseValue(text, {}))) << text;
}

TEST(NcuValues, Units) {
  const auto is = [](std::string_view printed, double factor, std::string_view unit) {
    const auto base = ncu::ToBaseUnit(printed);
    return base.factor == factor && base.unit == unit;
  };
  EXPECT_TRUE(is("cycle/nsecond", 1e9, "cycle/second"));
  EXPECT_TRUE(is("Kbyte/block", 1e3, "byte/block"));
  EXPECT_TRUE(is("us", 1e3, "ns"));
  EXPECT_TRUE(is("Ghz", 1e9, "hz"));
  EXPECT_TRUE(is("%", 1, "%"));
  EXPECT_TRUE(is("inst/cycle", 1, "inst/cycle"));
}

TEST(Csv, QuotesAndLineEnds) {
  CsvReader csv("a,\"b,\"\"c\"\"\nf\",e\r\n\n,\n");
  std::vector<std::string> row;
  ASSERT_TRUE(csv.Next(row));
  EXPECT_EQ(row, (std::vector<std::string>{"a", "b,\"c\"\nf", "e"}));
  ASSERT_TRUE(csv.Next(row));
  EXPECT_EQ(row, std::vector<std::string>{""});
  ASSERT_TRUE(csv.Next(row));
  EXPECT_EQ(row, (std::vector<std::string>{"", ""}));
  EXPECT_FALSE(csv.Next(row));
}

}  // namespace
}  // namespace gapless::internal
