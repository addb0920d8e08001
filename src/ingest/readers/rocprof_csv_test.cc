// SPDX-License-Identifier: Apache-2.0
// Tables of ROCm's profilers alone. Heads and first rows are those of real files, cut to a few columns.
#include <gtest/gtest.h>

#include <map>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

Result<Trace> TraceOfTable(const std::string& text) {
  MemorySource source(text);
  ThreadPool pool(1);
  return ReadTrace(source, {.pool = pool});
}

std::map<std::string, double> MetricsOf(const Trace& trace, int64_t launch) {
  std::map<std::string, double> values;
  for (size_t row = 0; row < trace.kernel_metrics.size(); ++row)
    if (trace.kernel_metrics.launch_index[row] == launch)
      values[std::string(trace.Text(trace.kernel_metrics.metric[row]))] = trace.kernel_metrics.value[row];
  return values;
}

TEST(RocprofCsv, TheOlderRocprofHasOneNumberForAGrid) {
  const auto trace = TraceOfTable(
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\",\"wgr\",\"lds\","
      "\"scr\","
      "\"arch_vgpr\",\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n"
      "0,\"bodyForce(Body*, float, int) [clone .kd]\",1,3,0,36,36,65536,256,0,0,8,1000,2000,5000,6000,3000\n");
  ASSERT_TRUE(trace) << trace.error().ToString();
  ASSERT_EQ(trace->gpu_ops.size(), 1U);
  EXPECT_EQ(trace->Text(trace->gpu_ops.name[0]), "bodyForce(Body*, float, int)");
  EXPECT_EQ(trace->gpu_ops.dur_ns[0], 3000);
  EXPECT_EQ(trace->gpu_ops.device[0], 1);
  EXPECT_EQ(trace->gpu_ops.stream[0], 3) << "the queue stands for the stream";
  EXPECT_EQ(trace->gpu_ops.grid_x[0], 256);
  EXPECT_EQ(trace->kernel_metrics.size(), 0U);
}

// Counters are read one kernel at a time, so there is no timeline. Instances of a counter are summed.
TEST(RocprofCsv, CountersOfRocprofComputeAreMetricsOfLaunches) {
  const auto trace = TraceOfTable(
      "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,Kernel_Name,Correlation_ID,SQ_WAVES,"
      "TCC_HIT[0],TCC_HIT[1],Wave_Size_1,Start_Timestamp,End_Timestamp\n"
      "0,60633,1048576,256,0,4,\"vecCopy(double*, int) (.kd)\",0,16384.0,10,32,64,1000,9000\n");
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->gpu_ops.size(), 0U);
  const auto values = MetricsOf(*trace, 0);
  EXPECT_EQ(values.at("SQ_WAVES"), 16384);
  EXPECT_EQ(values.at("TCC_HIT"), 42);
  EXPECT_EQ(values.at("duration"), 8000);
  EXPECT_EQ(values.at("launch__registers_per_thread"), 4);
  EXPECT_FALSE(values.contains("Wave_Size_1"));
  EXPECT_EQ(trace->Text(trace->kernel_metrics.kernel_name[0]), "vecCopy(double*, int)");
}

TEST(RocprofCsv, ATableOfCountersHasARowForEachCounter) {
  const auto trace = TraceOfTable(
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\","
      "\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Counter_Name\",\"Counter_Value\","
      "\"Start_Timestamp\",\"End_Timestamp\"\n"
      "1,7,\"Agent 1\",1,15,15,1048576,17,\"add\",64,0,\"SQ_WAVES\",16384.000000,3200,5200\n"
      "1,7,\"Agent 1\",1,15,15,1048576,17,\"add\",64,0,\"OccupancyPercent\",41.5,3200,5200\n");
  ASSERT_TRUE(trace) << trace.error().ToString();
  const auto values = MetricsOf(*trace, 7);
  EXPECT_EQ(values.at("SQ_WAVES"), 16384);
  EXPECT_EQ(values.at("OccupancyPercent"), 41.5);
  EXPECT_EQ(values.at("duration"), 2000);
}

TEST(RocprofCsv, ASummaryHasKernelsAndCallsOfTheHost) {
  const auto trace = TraceOfTable(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n"
      "\"gemm<float>(float*, int)\",4,4000,1000.0,80.00,900,1100,10.0\n"
      "\"hipMemcpy\",2,1000,500.0,20.00,400,600,10.0\n");
  ASSERT_TRUE(trace) << trace.error().ToString();
  const auto values = MetricsOf(*trace, 0);
  EXPECT_EQ(values.at("summary.calls"), 4);
  EXPECT_EQ(values.at("summary.total"), 4000);
  EXPECT_EQ(values.at("duration"), 1000);
  ASSERT_EQ(trace->host_functions.size(), 1U);
  EXPECT_EQ(trace->Text(trace->host_functions.function[0]), "hipMemcpy");
  EXPECT_EQ(trace->host_functions.total_ns[0], 1000);
  EXPECT_EQ(trace->host_functions.self_ns[0], kAbsent) << "it is not in the table";
}

TEST(RocprofCsv, ListsOfDispatchesAreRefusedByName) {
  for (const std::string head : {"Dispatch_ID,Kernel_Name,GPU_ID\n", "Dispatch_ID,PID,Kernel_Name,GPU_ID\n",
                                 "Node,Dispatch_ID,Kernel_Name,GPU_ID\n", "Kernel_Name,GPU_ID\n"}) {
    const auto refused = TraceOfTable(head + "0,gemm,2\n");
    ASSERT_FALSE(refused) << head;
    EXPECT_NE(refused.error().message.find("pmc_dispatch_info.csv"), std::string::npos) << head;
    EXPECT_NE(refused.error().hint.find("pmc_perf.csv"), std::string::npos);
  }
}

TEST(RocprofCsv, ATableOfAnybodyElseIsRefused) {
  EXPECT_FALSE(TraceOfTable("name,calls,seconds\nf,1,2\n"));
  const auto empty = TraceOfTable("\"Name\",\"Calls\",\"TotalDurationNs\"\n");
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().hint, "");
}

}  // namespace
}  // namespace gapless::internal
