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

// If DCGM may not profile, it prints 0 for all that it should measure: beside a busy GPU that is no measurement.
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

// The short text that a form has in the following tests must be recognised by its content.
Trace Recognised(std::string_view text) {
  MemorySource source{std::string(text)};
  ThreadPool pool(1);
  auto trace = ReadTrace(source, {.pool = pool});
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  EXPECT_TRUE(!trace || trace->info.format == "gpu_samples");
  return trace ? std::move(*trace) : Trace();
}

std::string Note(const Trace& trace, std::string_view kind) {
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    if (trace.Text(trace.read_stats.kind[row]) == kind) return std::string(trace.Text(trace.read_stats.text[row]));
  return {};
}

// Names that scripts give to columns carry the unit at their end or in brackets; the cells have none.
TEST(GpuSamples, NamesWithUnits) {
  const Trace trace = Recognised(
      "timestamp,gpu_index,power_w,util_gpu_pct,mem_used_mib,power_limit_w,fan_speed\n"
      "1764189075,0,120.5,50,1024,300,31\n1764189075,1,90,10,2048,300,30\n");
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{120.5}));
  EXPECT_EQ(Values(trace, "gpu.utilization", 1), (std::vector{0.10}));
  EXPECT_EQ(Values(trace, "gpu.memory.used", 1), (std::vector{2048.0 * 1024 * 1024}));
  EXPECT_EQ(Values(trace, "gpu.power.limit", 0), (std::vector{300.0}));
  EXPECT_NE(Note(trace, "columns_not_read").find("fan_speed"), std::string::npos);
}

// A table whose GPUs are named by their address on the bus has as many GPUs as addresses; the memory is the GPU's.
TEST(GpuSamples, GpusByTheirBus) {
  const Trace trace = Recognised(
      "timestamp, pci.bus_id, utilization.gpu [%], memory.total [MiB], pcie.link.gen.current, pcie.link.gen.max\n"
      "2026/03/01 12:00:00.000, 00000000:3B:00.0, 10 %, 16384 MiB, 1, 4\n"
      "2026/03/01 12:00:00.000, 00000000:AF:00.0, 90 %, 16384 MiB, 4, 4\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.10}));
  EXPECT_EQ(Values(trace, "gpu.utilization", 1), (std::vector{0.90}));
  EXPECT_EQ(Values(trace, "gpu.pcie.generation.max", 1), (std::vector{4.0}));
  ASSERT_EQ(trace.devices.size(), 2U);
  EXPECT_EQ(trace.devices.memory_bytes[1], int64_t{16384} << 20);
}

TEST(GpuSamples, WindowsShellsWriteUtf16) {
  std::string text = "\xFF\xFE";
  for (const char sign : std::string_view("timestamp, utilization.gpu [%]\n2026/03/01 12:00:00.000, 63 %\n"))
    text += sign, text += '\0';
  EXPECT_EQ(Values(Recognised(text), "gpu.utilization", 0), (std::vector{0.63}));
}

// Energy of a window is its mean power; times of a clock that began when the machine did are no dates.
TEST(GpuSamples, WindowsOfZeus) {
  const Trace trace = Recognised(
      "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n"
      "1000.5,limit_300,10.0,3000.0,2500.0\n1020.5,limit_275,10.0,2750.0,2400.0\n");
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{300.0, 300.0, 275.0, 275.0}));
  EXPECT_EQ(Values(trace, "gpu.power", 1), (std::vector{250.0, 250.0, 240.0, 240.0}));
  EXPECT_EQ(trace.info.dur_ns, 30'000'000'000);
  EXPECT_EQ(trace.info.start_unix_ns, kAbsent);
}

TEST(GpuSamples, ProcessesOfPmon) {
  const Trace trace = Recognised(
      "# gpu        pid  type    sm   mem   enc   dec   command\n# Idx          #   C/G     %     %     %     %   "
      "name\n"
      "    0       1234     C    60    20     -     -   python\n    0       5678     C     1     0     -     -   "
      "python\n"
      "    1          -     -     -     -     -     -   -\n    0       1234     C    61    20     -     -   python\n"
      "    1          -     -     -     -     -     -   -\n");
  EXPECT_EQ(Values(trace, "gpu.processes", 0), (std::vector{2.0, 1.0}));
  EXPECT_EQ(Values(trace, "gpu.processes", 1), (std::vector{0.0, 0.0}));
}

TEST(GpuSamples, ReportOfNvidiaSmi) {
  ::setenv("TZ", "UTC", 1);
  const Trace trace = Recognised(
      "==============NVSMI LOG==============\n\nTimestamp                     : Sun Mar  1 12:00:00 2026\n\n"
      "Attached GPUs                 : 1\nGPU 00000000:01:00.0\n    Product Name              : NVIDIA L40S\n"
      "    GPU Link Info\n        PCIe Generation\n            Max               : 4\n"
      "            Current           : 1\n    FB Memory Usage\n        Total                 : 46068 MiB\n"
      "        Used                  : 512 MiB\n    BAR1 Memory Usage\n        Used                  : 1 MiB\n"
      "    Utilization\n        GPU                   : 37 %\n    Clocks Event Reasons\n"
      "        SW Power Cap          : Active\n    GPU Power Readings\n        Average Power Draw    : 110.5 W\n"
      "        Current Power Limit   : 350.00 W\n    Max Clocks\n        SM                    : 2520 MHz\n"
      "    Processes\n            Process ID        : 77\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.37}));
  EXPECT_EQ(Values(trace, "gpu.memory.used", 0), (std::vector{512.0 * 1024 * 1024}));
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{110.5}));
  EXPECT_EQ(Values(trace, "gpu.throttle.power_cap", 0), (std::vector{1.0}));
  EXPECT_EQ(Values(trace, "gpu.pcie.generation", 0), (std::vector{1.0}));
  EXPECT_EQ(Values(trace, "gpu.processes", 0), (std::vector{1.0}));
  EXPECT_TRUE(Values(trace, "gpu.clock.sm", 0).empty()) << "the highest clock is not the clock";
  EXPECT_EQ(trace.info.start_unix_ns, 1'772'366'400'000'000'000);
  EXPECT_EQ(trace.Text(trace.devices.name[0]), "NVIDIA L40S");
}

TEST(GpuSamples, ReportAsXml) {
  ::setenv("TZ", "UTC", 1);
  const Trace trace = Recognised(
      "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<timestamp>Sun Mar  1 12:00:00 2026</timestamp>\n"
      "<gpu id=\"0:1\"><product_name>A100</product_name><mig_devices><mig_device><fb_memory_usage><used>9 MiB</used>"
      "</fb_memory_usage></mig_device></mig_devices><fb_memory_usage><total>40960 MiB</total><used>64 MiB</used>"
      "</fb_memory_usage><utilization><gpu_util>12 %</gpu_util></utilization><clocks><sm_clock>1410 MHz</sm_clock>"
      "</clocks><max_clocks><sm_clock>1500 MHz</sm_clock></max_clocks></gpu>\n"
      "<gpu id=\"0:2\"><utilization><gpu_util>N/A</gpu_util></utilization><temperature><gpu_temp>40 C</gpu_temp>"
      "</temperature></gpu></nvidia_smi_log>\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.12}));
  EXPECT_TRUE(Values(trace, "gpu.utilization", 1).empty());
  EXPECT_EQ(Values(trace, "gpu.temperature", 1), (std::vector{40.0}));
  EXPECT_EQ(Values(trace, "gpu.clock.sm", 0), (std::vector{1410e6}));
  EXPECT_EQ(Values(trace, "gpu.memory.used", 0), (std::vector{64.0 * 1024 * 1024})) << "not that of a slice";
}

TEST(GpuSamples, TableOfNvidiaSmi) {
  const Trace trace = Recognised(
      "Sun Mar  1 12:00:00 2026       \n+-----------+\n| NVIDIA-SMI 595.80    Driver Version: 595.80 |\n"
      "|   0  NVIDIA L40S                    Off |   00000000:01:00.0 Off |                    0 |\n"
      "| N/A   64C    P0            242W /  350W |     512MiB /  46068MiB |     99%      Default |\n"
      "| MIG devices:  |\n|  0    2   0   0  |    22MiB / 71424MiB    | 16      0 |  3   0    3    0    3 |\n| "
      "Processes:  |\n|    0   N/A  N/A      1234      C   python           340MiB |\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.99}));
  EXPECT_EQ(Values(trace, "gpu.power", 0), (std::vector{242.0}));
  EXPECT_EQ(Values(trace, "gpu.power.limit", 0), (std::vector{350.0}));
  EXPECT_EQ(Values(trace, "gpu.temperature", 0), (std::vector{64.0}));
  EXPECT_EQ(Values(trace, "gpu.memory.used", 0), (std::vector{512.0 * 1024 * 1024}));
  EXPECT_EQ(trace.Text(trace.devices.name[0]), "NVIDIA L40S");
}

// Answers of an exporter one after the other have no times; slices of a GPU are left out.
TEST(GpuSamples, MetricsOfAnExporter) {
  const Trace trace = Recognised(
      "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",modelName=\"A100\"} 97\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\"} "
      "12\nDCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\",GPU_I_ID=\"3\"} 5\n"
      "DCGM_FI_DEV_XID_ERRORS{gpu=\"1\",UUID=\"GPU-b\"} 79\nDCGM_FI_DEV_ENC_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 0\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 95\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{97 * 0.01, 95 * 0.01}));
  EXPECT_EQ(Values(trace, "gpu.utilization", 1), (std::vector{0.12}));
  EXPECT_EQ(Values(trace, "gpu.xid", 1), (std::vector{79.0}));
  EXPECT_EQ(trace.info.dur_ns, 1'000'000'000);
  EXPECT_NE(Note(trace, "columns_not_read").find("DCGM_FI_DEV_ENC_UTIL"), std::string::npos);
}

TEST(GpuSamples, AnswerOfPrometheus) {
  const Trace trace = Recognised(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL",)"
      R"("gpu":"3","UUID":"GPU-d"},"values":[[1772366400,"73.5"],[1772366430,"NaN"],[1772366460,"75"]]}]}})");
  EXPECT_EQ(Values(trace, "gpu.utilization", 3), (std::vector{73.5 * 0.01, 0.75}));
  EXPECT_EQ(trace.info.start_unix_ns, 1'772'366'400'000'000'000);
  EXPECT_EQ(trace.info.dur_ns, 60'000'000'000);
}

TEST(GpuSamples, RocmSmi) {
  const Trace json = Recognised(
      R"j({"card0":{"GPU use (%)":"17","VRAM Total Memory (B)":"25753026560","VRAM Total Used Memory (B)":"8589934592",)j"
      R"j("Temperature (Sensor edge) (C)":"54.0","Average Graphics Package Power (W)":"99.0"},"system":{"Driver":"5"}})j");
  EXPECT_EQ(Values(json, "gpu.utilization", 0), (std::vector{0.17}));
  EXPECT_EQ(Values(json, "gpu.memory.used", 0), (std::vector{8589934592.0}));
  EXPECT_EQ(json.devices.memory_bytes[0], 25753026560);
  EXPECT_EQ(json.devices.vendor[0], Vendor::kAmd);
  const Trace csv = Recognised("device,GPU use (%),VRAM Total Used Memory (B)\ncard0,2,1048576\ncard3,70,2097152\n");
  EXPECT_EQ(Values(csv, "gpu.utilization", 3), (std::vector{70 * 0.01}));
  EXPECT_EQ(Values(csv, "gpu.memory.used", 0), (std::vector{1048576.0}));
  const Trace text = Recognised(
      "=== % time GPU is busy ===\nGPU[0]\t\t: GPU use (%): 100\nGPU[1]\t\t: GPU use (%): 50\n"
      "GPU[0]\t\t: Average Graphics Package Power (W): 250.0\nGPU[0]\t\t: sclk clock level: 1: (1700Mhz)\n"
      "GPU[0]\t\t: GPU use (%): 90\n");
  EXPECT_EQ(Values(text, "gpu.utilization", 0), (std::vector{1.0, 0.90}));
  EXPECT_EQ(Values(text, "gpu.power", 0), (std::vector{250.0}));
  EXPECT_EQ(Values(text, "gpu.clock.sm", 0), (std::vector{1700e6}));
}

TEST(GpuSamples, AmdSmi) {
  const Trace json = Recognised(
      R"([{"gpu":0,"usage":{"gfx_activity":{"value":40,"unit":"%"}},"power":{"socket_power":{"value":120,"unit":"W"}},)"
      R"("temperature":{"edge":"N/A","hotspot":{"value":45,"unit":"C"}},"mem_usage":{"total_vram":)"
      R"({"value":16384,"unit":"MB"},"used_vram":{"value":8192,"unit":"MB"}}}])");
  EXPECT_EQ(Values(json, "gpu.utilization", 0), (std::vector{0.40}));
  EXPECT_EQ(Values(json, "gpu.temperature", 0), (std::vector{45.0}));
  EXPECT_EQ(Values(json, "gpu.memory.used", 0), (std::vector{8192.0 * 1024 * 1024}));
  const Trace csv = Recognised(
      "timestamp,gpu,gfx_activity,umc_activity,mm_activity,socket_power,edge,hotspot\n"
      "1789515524,0,95,80,N/A,1180,N/A,78\n1789515525,0,5,8,N/A,N/A,N/A,70\n");
  EXPECT_EQ(Values(csv, "gpu.utilization", 0), (std::vector{95 * 0.01, 5 * 0.01}));
  EXPECT_EQ(Values(csv, "gpu.power", 0), (std::vector{1180.0}));
  EXPECT_EQ(Values(csv, "gpu.temperature", 0), (std::vector{78.0, 70.0}));
}

TEST(GpuSamples, SystemMetricsOfWandb) {
  const Trace lines = Recognised(
      "{\"system.gpu.0.gpu\": 95.0, \"system.gpu.0.memoryAllocated\": 7.5, \"system.gpu.1.powerWatts\": 60.5, "
      "\"system.cpu\": 3.1, \"_timestamp\": 1772366400, \"_runtime\": 2}\n"
      "{\"system.gpu.0.gpu\": 85.0, \"_timestamp\": 1772366430, \"_runtime\": 32}\nnot a line\n");
  EXPECT_EQ(Values(lines, "gpu.utilization", 0), (std::vector{95 * 0.01, 85 * 0.01}));
  EXPECT_EQ(Values(lines, "gpu.power", 1), (std::vector{60.5}));
  EXPECT_TRUE(Values(lines, "gpu.memory.used", 0).empty()) << "a share of a size that is not told";
  EXPECT_EQ(lines.info.dur_ns, 30'000'000'000);
  EXPECT_NE(Note(lines, "columns_not_read").find("system.cpu"), std::string::npos);
  const Trace csv = Recognised(
      "_runtime,system.gpu.0.gpu,system.gpu.1.gpu,system.gpu.1.memoryAllocatedBytes\n2,10,20,1048576\n17,30,,"
      "2097152\n");
  EXPECT_EQ(Values(csv, "gpu.utilization", 1), (std::vector{0.20}));
  EXPECT_EQ(Values(csv, "gpu.memory.used", 1), (std::vector{1048576.0, 2097152.0}));
  EXPECT_EQ(csv.info.dur_ns, 15'000'000'000);
}

TEST(GpuSamples, ColumnsOfNvitop) {
  const Trace trace = Recognised(
      "timestamp,host/cpu_percent (%)/mean,cuda:0 (gpu:3)/gpu_utilization (%)/mean,"
      "cuda:0 (gpu:3)/gpu_utilization (%)/max,cuda:0 (gpu:3)/memory_used (MiB)/mean\n1772366400,5,50,99,1024\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 3), (std::vector{0.50}));
  EXPECT_EQ(Values(trace, "gpu.memory.used", 3), (std::vector{1024.0 * 1024 * 1024}));
}

// Several forms in one file: what has no time goes on from the last time that was seen.
TEST(GpuSamples, FormsOneAfterTheOther) {
  ::setenv("TZ", "UTC", 1);
  const Trace trace = Recognised(
      "timestamp, index, utilization.gpu [%]\n2026/03/01 12:00:00.000, 0, 98 %\n\n# gpu   pwr    sm\n# Idx     W     "
      "%\n"
      "    0   300    50\n    0   310    60\n");
  EXPECT_EQ(Values(trace, "gpu.utilization", 0), (std::vector{0.98, 0.50, 0.60}));
  EXPECT_EQ(trace.info.start_unix_ns, 1'772'366'400'000'000'000);
}

// Names that other tables have, too, do not make one of GPUs.
TEST(GpuSamples, WeatherAndShopsAreNotTaken) {
  for (const char* text :
       {"timestamp,temperature,humidity\n1,2,3\n", "name,gpu,power,price\nA100,1,400,9\n", "time,power,temp\n1,2,3\n",
        "{\"gpus\": [{\"name\": \"A100\", \"price\": 3}]}", "<html><gpu_util>3</gpu_util></html>",
        "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\na,b,1,c,100,2,99\n"}) {
    MemorySource source{std::string(text)};
    ThreadPool pool(1);
    const auto trace = ReadTrace(source, {.pool = pool});
    EXPECT_FALSE(trace && trace->info.format == "gpu_samples") << text;
  }
}

}  // namespace
}  // namespace gapless::internal
