// SPDX-License-Identifier: Apache-2.0
// Tests the tables of nvidia-smi queries, nvidia-smi dmon and DCGM, plain numbers, and rows that do not fit.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/gpu_samples/columns.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

using testing::ReadFrom;
using testing::ReadText;

// The values of a series of a device, in the order of time.
std::vector<double> Values(const Trace& trace, std::string_view series, int32_t device) {
  std::vector<double> values;
  for (size_t row = 0; row < trace.counters.size(); ++row)
    if (trace.Text(trace.counters.name[row]) == series && trace.counters.device[row] == device)
      values.push_back(trace.counters.value[row]);
  return values;
}

// tests/data/nvidia-smi.csv, written by hand as nvidia-smi prints two GPUs of which one throttles.
TEST(GpuSamples, QueryOfNvidiaSmi) {
  ::setenv("TZ", "UTC", 1);
  auto source = OpenFile("tests/data/nvidia-smi.csv");
  ASSERT_TRUE(source) << "run from the project's folder";
  const Trace trace = ReadFrom(**source);
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{98 * 0.01, 90 * 0.01, 94 * 0.01}));
  EXPECT_EQ(Values(trace, "gpu.utilization", 1), (std::vector{0.0, 0.10}));
  EXPECT_EQ(Values(trace, "gpu.memory.used", 1), (std::vector{4.0 * 1024 * 1024, 4.0 * 1024 * 1024}));
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{391.5, 388.1, 390.0}));
  EXPECT_EQ(Values(trace, "gpu.clock.sm", 0), (std::vector{1410e6, 1395e6}));  // "[N/A]" is absent
  EXPECT_EQ(Values(trace, "gpu.throttle.hw_thermal", 0), (std::vector{0.0, 1.0, 0.0}));
  EXPECT_EQ(Values(trace, "gpu.throttle.power_cap", 1), (std::vector{0.0}));  // "Not Supported" is absent
  EXPECT_EQ(trace.info.start_unix_ns, 1'772'366'400'000'000'000);             // 2026-03-01 12:00 UTC
  EXPECT_EQ(trace.info.dur_ns, 2'002'000'000);
  ASSERT_EQ(trace.devices.size(), 2U);
}

// Without units in the cells those of the head count; without an index there is one GPU.
TEST(GpuSamples, PlainNumbers) {
  const Trace trace = ReadText(
      "timestamp,memory.used,memory.total,utilization.gpu\n1764189075,1, 24576, 0\n"
      "1764189135,442, 24576, 87\n");
  EXPECT_EQ(Values(trace, "gpu.memory.used", 0), (std::vector{1048576.0, 442 * 1048576.0}));
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.0, 0.87}));
  EXPECT_EQ(trace.info.dur_ns, 60'000'000'000);
}

// Scripts that write a head and times of their own: the zone of a time counts, and the first column of a device.
TEST(GpuSamples, HeadsOfScripts) {
  const Trace trace = ReadText(
      "timestamp,gpu,index,memory.used,memory.total,power.draw,temperature.gpu\n"
      "2025-09-08T17:26:50+08:00,0, 0, 4, 81559, 74.01, 33\n2025-09-08T17:26:50+08:00,1, 0, 5, 81559, 73.23, 34\n");
  EXPECT_EQ(Values(trace, "gpu.power", 1), (std::vector{73.23}));
  EXPECT_EQ(trace.info.start_unix_ns, 1'757'323'610'000'000'000);  // 09:26:50 UTC
  const Trace other = ReadText("timestamp,gpu_utilization,memory_used,memory_total\n1746556389.99,3, 326, 15360\n");
  EXPECT_EQ(Values(other, "gpu.utilization", 0), (std::vector{0.03}));
}

TEST(GpuSamples, DmonOfNvidiaSmi) {
  const Trace trace = ReadText(
      "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n"
      "# Idx     W     C     C     %     %     %     %   MHz   MHz\n"
      "    0   270    53     -    75    46     0     0  7000  1740\n"
      "    1    32    31     -     0     0     0     0   715  1189\n"
      "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n"
      "# Idx     W     C     C     %     %     %     %   MHz   MHz\n"
      "    0   278    55     -    99    63     0     0  7000  1755\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.75, 0.99}));
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{270.0, 278.0}));
  EXPECT_EQ(Values(trace, "gpu.clock.memory", 0), (std::vector{7000e6, 7000e6}));
  EXPECT_EQ(trace.info.dur_ns, 1'000'000'000);  // no times: a second between the samples of a GPU
  EXPECT_EQ(trace.info.start_unix_ns, kAbsent);
}

TEST(GpuSamples, DmonWithTimes) {
  ::setenv("TZ", "UTC", 1);
  const Trace trace = ReadText(
      "#Date       Time        gpu   pwr    sm\n#YYYYMMDD   HH:MM:SS    Idx     W     %\n"
      " 20260301   12:00:00      0   300    50\n 20260301   12:00:02      0   310    60\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.5, 0.6}));
  EXPECT_EQ(trace.info.dur_ns, 2'000'000'000);
  EXPECT_EQ(trace.info.start_unix_ns, 1'772'366'400'000'000'000);
}

// Slices of a GPU are left out: their sum is not the GPU's value.
TEST(GpuSamples, DmonOfDcgm) {
  const Trace trace = ReadText(
      "# Entity  GRACT  SMACT  SMOCC  TENSO  DRAMA\n      Id\n"
      "GPU 0  0.429  0.412  0.364  0.011  0.400\nGPU-I 0  0.000  0.000  0.000  0.000  0.000\n"
      "GPU 0  0.529  N/A  0.364  0.011  0.500\n");
  EXPECT_EQ(Values(trace, "gpu.dcgm.sm_active", 0), (std::vector{0.412}));
  EXPECT_EQ(Values(trace, "gpu.dcgm.dram_active", 0), (std::vector{0.4, 0.5}));
}

// Where DCGM may not profile, it prints 0 for all that it should measure: beside a busy GPU that is no measurement.
TEST(GpuSamples, CountersThatAreNotMeasuredAreAbsent) {
  const Trace trace = ReadText(
      "#Entity GRACT SMACT TENSO DRAMA GPUTL POWER\nID\n"
      "GPU 0 0.000 0.000 0.000 0.000 98 391.2\nGPU 1 0.000 0.000 0.000 0.000 0 61.0\n"
      "GPU 0 0.000 0.000 0.000 0.000 99 392.2\nGPU 1 0.000 0.000 0.000 0.000 0 60.0\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.98, 0.99}));
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{391.2, 392.2}));
  for (const char* series : {"engine_active", "sm_active", "tensor_active", "dram_active"})
    EXPECT_TRUE(Values(trace, StrCat("gpu.dcgm.", series), 0).empty()) << series;
  EXPECT_EQ(Values(trace, "gpu.dcgm.sm_active", 1), (std::vector{0.0, 0.0})) << "GPU 1 did nothing";
  ASSERT_GE(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.Text(trace.read_stats.kind[0]), "dead_counters");
  EXPECT_EQ(trace.read_stats.count[0], 8);
  EXPECT_NE(trace.Text(trace.read_stats.text[0]).find("GPU 0"), std::string_view::npos);
}

// A GPU that works without its matrix units has tensor_active 0: measured.
TEST(GpuSamples, AZeroThatCanBeIsKept) {
  const Trace trace = ReadText("# Entity GRACT SMACT TENSO\nGPU 0 0.9 0.8 0.0\nGPU 0 0.9 0.8 0.0\n");
  EXPECT_EQ(Values(trace, "gpu.dcgm.tensor_active", 0), (std::vector{0.0, 0.0}));
  const Trace half = ReadText("# Entity GRACT SMACT TENSO\nGPU 0 0.9 0.0 0.0\nGPU 0 0.9 0.0 0.0\n");
  EXPECT_TRUE(Values(half, "gpu.dcgm.sm_active", 0).empty());
  EXPECT_EQ(Values(half, "gpu.dcgm.engine_active", 0).size(), 2U);
}

TEST(GpuSamples, OtherTablesAreNotTaken) {
  for (const char* text : {"timestamp,loss,accuracy\n1,2,3\n", "name,price\nA100,1\n", "# a comment\nx y z\n", ""}) {
    MemorySource source{std::string(text)};
    ThreadPool pool(1);
    const auto trace = ReadTrace(source, {.pool = pool});
    EXPECT_FALSE(trace && trace->info.format == "gpu_samples") << text;
  }
}

TEST(GpuSamples, RowsThatDoNotFitAreCounted) {
  const Trace trace = ReadText(
      "timestamp, index, utilization.gpu [%]\n2026/03/01 12:00:00.000, 0, 98 %\n"
      "2026/03/01 12:0\nyesterday, 0, 97 %\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.98}));
  ASSERT_EQ(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.read_stats.count[0], 2);
}

}  // namespace
}  // namespace gapless::internal
