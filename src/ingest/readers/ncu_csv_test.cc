// SPDX-License-Identifier: Apache-2.0
// Tests ncu's CSV pages: raw, details, summaries, several passes and runs, locales, UTF-16, units, and files without a
// table.
#include <gtest/gtest.h>

#include <cmath>

#include "base/csv.h"
#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_csv/printed.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

using testing::ReadFrom;
using testing::ReadText;

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

// The forms below are those of tables in public repositories; their numbers are shortened.
constexpr char kLongHead[] =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
    "Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

std::string LongRow(int id, std::string_view kernel, std::string_view metric, std::string_view unit,
                    std::string_view value) {
  return StrCat("\"", id, "\",\"7\",\"p\",\"127.0.0.1\",\"", kernel,
                "\",\"1\",\"7\",\"(256, 1, 1)\",\"(16384, 1, 1)\",\"0\",",
                "\"8.9\",\"Command line profiler metrics\",\"", metric, "\",\"", unit, "\",\"", value, "\"\n");
}

constexpr std::string_view kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";

// --metrics prints a row per metric under its own name, behind lines of ncu and of the program.
TEST(NcuCsv, MetricsFormIsLong) {
  const Trace trace = ReadText(StrCat(
      "==PROF== Profiling \"saxpy\" - 0: 0%....50%....100% - 9 passes\n2208 2048 0.5\n", kLongHead,
      LongRow(0, "saxpy", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "", "n/a"),
      LongRow(0, "saxpy", "gpu__time_duration.sum", "us", "211.94"), LongRow(0, "saxpy", kOccupancy, "%", "(!) n/a"),
      LongRow(1, "saxpy", "gpu__time_duration.sum", "us", "203.02"), "all done\n"));
  EXPECT_DOUBLE_EQ(Find(trace, 0, "gpu__time_duration.sum").value, 211940);
  EXPECT_DOUBLE_EQ(Find(trace, 1, "gpu__time_duration.sum").value, 203020);
  EXPECT_FALSE(Find(trace, 0, "dram__throughput.avg.pct_of_peak_sustained_elapsed").found);
  EXPECT_FALSE(Find(trace, 0, kOccupancy).found);
  EXPECT_EQ(Find(trace, 1, "grid").text, "(16384, 1, 1)");
}

// Points between thousands and decimal commas, as ncu prints them where the system's language has them.
TEST(NcuCsv, OtherLocales) {
  const Trace german =
      ReadText(StrCat(kLongHead, LongRow(0, "k", "gpu__time_duration.sum", "ns", "117.344"),
                      LongRow(0, "k", "dram__bytes.sum", "byte", "27.595.520"), LongRow(0, "k", kSm, "%", "65,77")));
  EXPECT_DOUBLE_EQ(Find(german, 0, "gpu__time_duration.sum").value, 117344);
  EXPECT_DOUBLE_EQ(Find(german, 0, "dram__bytes.sum").value, 27595520);
  EXPECT_DOUBLE_EQ(Find(german, 0, kSm).value, 65.77);
  const Trace french = ReadText(StrCat(kLongHead, LongRow(0, "k", "dram__bytes.sum", "Kbyte", "1\u202f234,5"),
                                       LongRow(0, "k", kSm, "%", "12,25")));
  EXPECT_DOUBLE_EQ(Find(french, 0, "dram__bytes.sum").value, 1234500);
  const Trace swiss = ReadText(
      StrCat(kLongHead, LongRow(0, "k", "dram__bytes.sum", "byte", "1'234'567"), LongRow(0, "k", kSm, "%", "12.25")));
  EXPECT_DOUBLE_EQ(Find(swiss, 0, "dram__bytes.sum").value, 1234567);
}

// PowerShell writes what a program prints as UTF-16.
TEST(NcuCsv, Utf16) {
  const std::string plain = StrCat(kLongHead, LongRow(0, "k", kSm, "%", "65.77"));
  std::string wide = "\xFF\xFE";
  for (const char c : plain) wide += c, wide += '\0';
  EXPECT_DOUBLE_EQ(Find(ReadText(wide), 0, kSm).value, 65.77);
}

// --print-summary has no IDs and three values; the mean is the metric's value.
TEST(NcuCsv, SummaryPerKernel) {
  const Trace trace = ReadText(
      "\"Process ID\",\"Kernel Name\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
      "\"1\",\"a\",\"2\",\"GPU Speed Of Light Throughput\",\"Compute (SM) Throughput\",\"%\",\"12\",\"22\",\"17\"\n"
      "\"1\",\"b\",\"5\",\"GPU Speed Of Light Throughput\",\"Compute (SM) Throughput\",\"%\",\"1\",\"3\",\"2\"\n");
  EXPECT_DOUBLE_EQ(Find(trace, 0, kSm).value, 17);
  EXPECT_EQ(Find(trace, 0, "invocations").text, "2");
  EXPECT_DOUBLE_EQ(Find(trace, 1, kSm).value, 2);
  EXPECT_EQ(Find(trace, 1, kSm).kernel, "b");
}

// Two runs in one file with one head: other metrics of the same launches belong to them.
TEST(NcuCsv, PassesBelongToOneLaunch) {
  const Trace trace = ReadText(StrCat(kLongHead, LongRow(0, "a", kSm, "%", "50"), LongRow(1, "b", kSm, "%", "60"),
                                      LongRow(0, "a", kOccupancy, "%", "20"), LongRow(1, "b", kOccupancy, "%", "30")));
  EXPECT_DOUBLE_EQ(Find(trace, 0, kOccupancy).value, 20);
  EXPECT_DOUBLE_EQ(Find(trace, 1, kOccupancy).value, 30);
  EXPECT_FALSE(Find(trace, 2, kSm).found);
}

// The same metric again is another launch, though ncu counts from 0 again.
TEST(NcuCsv, RunsAppendedAreOtherLaunches) {
  const std::string run = StrCat(kLongHead, LongRow(0, "a", kSm, "%", "50"), LongRow(0, "a", kOccupancy, "%", "20"));
  const Trace trace = ReadText(StrCat(run, LongRow(0, "a", kSm, "%", "70"), run));
  EXPECT_DOUBLE_EQ(Find(trace, 0, kSm).value, 50);
  EXPECT_DOUBLE_EQ(Find(trace, 1, kSm).value, 70);
  EXPECT_DOUBLE_EQ(Find(trace, 2, kSm).value, 50);
}

TEST(NcuCsv, WithoutQuotesAndWithoutIds) {
  const Trace raw = ReadText(StrCat("ID,Kernel Name,Grid Size,", kSm, ",dram__bytes_read.sum\n,,,%,Mbyte\n",
                                    "0,branch(int, float),(2, 1, 1),30.5,1.5\n"));
  EXPECT_DOUBLE_EQ(Find(raw, 0, kSm).value, 30.5);
  EXPECT_DOUBLE_EQ(Find(raw, 0, "dram__bytes_read.sum").value, 1.5e6);
  EXPECT_EQ(Find(raw, 0, "grid").text, "(2, 1, 1)");
  EXPECT_EQ(Find(raw, 0, kSm).kernel, "branch(int, float)");
  const Trace details = ReadText(
      "\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"a\",\"GPU Speed Of Light\",\"SOL SM\",\"%\",\"91.60\"\n\"a\",\"Occupancy\",\"Achieved "
      "Occupancy\",\"%\",\"9.38\"\n");
  EXPECT_DOUBLE_EQ(Find(details, 0, kSm).value, 91.6);
  EXPECT_DOUBLE_EQ(Find(details, 0, kOccupancy).value, 9.38);
}

TEST(NcuCsv, WhyThereIsNoTable) {
  MemorySource source("==PROF== Connected to process 5\n==ERROR== ERR_NVGPUCTRPERM - no permission\n");
  ThreadPool pool(1);
  const auto trace = ReadTrace(source, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "ncu failed: ERR_NVGPUCTRPERM - no permission");
  EXPECT_NE(trace.error().hint.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
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
