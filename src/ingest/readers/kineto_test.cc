// SPDX-License-Identifier: Apache-2.0
// The forms Kineto JSON comes in, and what becomes of broken ones. Small traces as text; real ones are in tests/.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "trace/process_groups.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kOp =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":100.5,"dur":50,"args":{"External id":3,"Sequence number":11,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}})";
constexpr std::string_view kLaunch =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":110,"dur":5,"args":{"External id":3,"cbid":211,"correlation":42}})";
constexpr std::string_view kKernel =
    R"({"ph":"X","cat":"kernel","name":"volta_sgemm_64x64_nt","pid":0,"tid":7,"ts":120.001,"dur":30.25,"args":{"External id":3,"queued":0,"device":0,"context":1,"stream":7,"correlation":42,"registers per thread":128,"shared memory":16384,"blocks per SM":0.8,"warps per SM":12.8,"grid":[8,2,1],"block":[256,1,1],"est. achieved occupancy %":25}})";

class KinetoTest : public ::testing::Test {
 protected:
  Result<Trace> Read(std::string json) {
    MemorySource source(std::move(json));
    return ReadTrace(source, {.pool = pool_});
  }
  Trace MustRead(std::string json) {
    auto trace = Read(std::move(json));
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace{};
  }
  static std::string Wrap(std::string_view events) {
    return "{\"schemaVersion\":1,\"traceEvents\":[" + std::string(events) + "]}";
  }
  static std::string Three() { return std::string(kOp) + "," + std::string(kLaunch) + "," + std::string(kKernel); }
  static int64_t Stat(const Trace& trace, std::string_view kind) {
    for (size_t row = 0; row < trace.read_stats.size(); ++row)
      if (trace.Text(trace.read_stats.kind[row]) == kind) return trace.read_stats.count[row];
    return 0;
  }
  void ExpectThree(const Trace& trace) {
    ASSERT_EQ(trace.slices.size(), 2U);
    ASSERT_EQ(trace.gpu_ops.size(), 1U);
    EXPECT_EQ(trace.gpu_ops.launch[0], SliceId(1));
    EXPECT_EQ(trace.gpu_ops.op[0], SliceId(0));
  }
  ThreadPool pool_{2};
};

TEST_F(KinetoTest, EveryFieldLandsInItsColumn) {
  const Trace trace = MustRead(Wrap(Three()));
  ExpectThree(trace);
  EXPECT_EQ(trace.info.origin_ns, 100'500);
  const SliceTable& slices = trace.slices;
  EXPECT_EQ(trace.Text(slices.name[0]), "aten::mm");
  EXPECT_EQ(slices.category[0], SliceCategory::kOperator);
  EXPECT_EQ(slices.dur_ns[0], 50'000);
  EXPECT_EQ(slices.external_id[0], 3);
  EXPECT_EQ(slices.sequence[0], 11);
  EXPECT_EQ(trace.Text(slices.input_shapes[0]), "[[2,3],[3,4]]");
  EXPECT_EQ(trace.Text(slices.input_types[0]), R"(["float","float"])");
  EXPECT_EQ(slices.api[1], ApiKind::kKernelLaunch);
  EXPECT_EQ(slices.correlation[1], 42);
  const GpuOpTable& ops = trace.gpu_ops;
  EXPECT_EQ(ops.ts_ns[0], 120'001 - 100'500);
  EXPECT_EQ(ops.dur_ns[0], 30'250);
  EXPECT_EQ(ops.op_class[0], GpuOpClass::kGemm);
  EXPECT_EQ(ops.matrix_unit[0], MatrixUnit::kNo);
  EXPECT_EQ(ops.grid_x[0], 8);
  EXPECT_EQ(ops.grid_y[0], 2);
  EXPECT_EQ(ops.block_x[0], 256);
  EXPECT_EQ(ops.registers[0], 128);
  EXPECT_EQ(ops.shared_bytes[0], 16384);
  EXPECT_FLOAT_EQ(ops.occupancy_pct[0], 25);
  EXPECT_FLOAT_EQ(ops.blocks_per_sm[0], 0.8F);
  EXPECT_EQ(ops.bytes[0], kAbsent);
}

TEST_F(KinetoTest, TimesAreExactWhateverTheirForm) {
  for (const auto& [text, ns] : {std::pair<std::string, int64_t>{"1712195495519695.8", 1712195495519695800},
                                 {"1712195495519695.123", 1712195495519695123},
                                 {"\"1712195495519695\"", 1712195495519695000},
                                 {"5e3", 5'000'000},
                                 {"0.0019", 1}}) {
    const Trace trace =
        MustRead(Wrap(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" + text + R"(,"dur":1})"));
    EXPECT_EQ(trace.info.origin_ns, ns) << text;
  }
}

TEST_F(KinetoTest, AnyKeyOrderAndLayout) {
  const std::string shuffled =
      R"({ "args" : { "correlation" : 42, "External id" : 3 }, "dur" : 5 , "ts":110, "tid":7,"pid":7,
      "name":"cudaLaunchKernel", "cat":"cuda_runtime", "ph":"X" })";
  ExpectThree(MustRead("{\n \"traceEvents\" : [\n " + std::string(kOp) + "  ,\n\n " + shuffled + ",\t" +
                       std::string(kKernel) + "\n ]\n}\n"));
  ExpectThree(MustRead("[" + Three() + "]"));             // bare array
  ExpectThree(MustRead("[" + Three()));                   // Chrome allows it unclosed
  ExpectThree(MustRead("[" + Three() + ",]"));            // and with a comma too many
  ExpectThree(MustRead("\xEF\xBB\xBF" + Wrap(Three())));  // byte order mark
}

TEST_F(KinetoTest, MetadataBeforeAndBehindTheEvents) {
  const std::string about =
      R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":8},"deviceProperties":[{"id":0,"name":"Tesla V100","totalGlobalMem":34084028416,"computeMajor":7,"computeMinor":0,"numSms":80}],"host_name":"node1")";
  for (const std::string& json :
       {"{" + about + ",\"traceEvents\":[" + Three() + "]}", "{\"traceEvents\":[" + Three() + "]," + about + "}"}) {
    const Trace trace = MustRead(json);
    EXPECT_EQ(trace.info.rank, 3);
    EXPECT_EQ(trace.info.world_size, 8);
    EXPECT_EQ(trace.info.host, "node1");
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.devices.compute_major[0], 7);
    EXPECT_EQ(trace.devices.sm_count[0], 80);
    EXPECT_EQ(trace.devices.memory_bytes[0], 34084028416);
    EXPECT_EQ(trace.devices.vendor[0], Vendor::kNvidia);
  }
}

TEST_F(KinetoTest, BaseTimeMakesWallClock) {
  const Trace trace =
      MustRead("{\"baseTimeNanoseconds\":1727743122000000000,\"traceEvents\":[" + std::string(kOp) + "]}");
  EXPECT_EQ(trace.info.start_unix_ns, 1727743122000000000 + 100'500);
  EXPECT_EQ(MustRead(Wrap(kOp)).info.start_unix_ns, kAbsent);
  const std::string beyond = "{\"baseTimeNanoseconds\":9223372036854775800,\"traceEvents\":[" + std::string(kOp) + "]}";
  EXPECT_EQ(MustRead(beyond).info.start_unix_ns, kAbsent) << "no time that a clock can show";
}

TEST_F(KinetoTest, OldRecordersWroteOtherNames) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"Operator","name":"ProfilerStep#5","pid":1,"tid":"1","ts":0,"dur":100,"args":{}},)"
      R"({"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":"1","ts":10,"dur":5,"args":{"correlation":1,"external id":2}},)"
      R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":20,"dur":5,"args":{"device":0,"stream":7,"correlation":1,"external id":2}},)"
      R"j({"ph":"X","cat":"Memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":"stream 7","ts":30,"dur":5,"args":{"device":0,"stream":7,"correlation":9,"bytes":1024}})j"));
  EXPECT_EQ(trace.slices.category[0], SliceCategory::kAnnotation);
  ASSERT_EQ(trace.steps.size(), 1U);
  EXPECT_EQ(trace.steps.number[0], 5);
  EXPECT_EQ(trace.steps.source[0], StepSource::kProfiler);
  ASSERT_EQ(trace.gpu_ops.size(), 2U);
  EXPECT_EQ(trace.gpu_ops.copy_kind[1], CopyKind::kHtoDPageable);
  EXPECT_EQ(trace.gpu_ops.bytes[1], 1024);
}

TEST_F(KinetoTest, CollectivesCarryTheirSize) {
  const Trace trace = MustRead(Wrap(
      R"j({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)","pid":0,"tid":7,"ts":5,"dur":20,"args":{"device":0,"stream":7,"correlation":1,"Collective name":"_allgather_base","In msg nelems":100,"Out msg nelems":800,"Group size":8,"dtype":"BFloat16","Process Group Name":"3"}})j"));
  ASSERT_EQ(trace.collectives.size(), 1U);
  EXPECT_EQ(trace.Text(trace.collectives.kind[0]), "all_gather");
  EXPECT_EQ(trace.collectives.bytes[0], 1600);
  EXPECT_EQ(trace.collectives.group_size[0], 8);
  EXPECT_EQ(trace.Text(trace.collectives.group[0]), "3");
  EXPECT_EQ(trace.collectives.gpu_op[0], GpuOpId(0));
}

// One event as PyTorch 2.13 writes it, one field after the other.
TEST_F(KinetoTest, FieldsOfTheNewestRecorder) {
  const Trace trace = MustRead(Wrap(
      R"j({"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)","pid":0,"tid":7,"ts":5,"dur":20,"args":{"device":0,"stream":7,"correlation":1,"graph id":3,"graph node id":184683593728,"channel":12,"channel_type":"COMPUTE","priority":-5,"Collective name":"all_to_all","In msg nelems":100,"Out msg nelems":800,"Group size":8,"dtype":"BFloat16","Process Group Name":"3","Process Group Description":"default_pg","Process Group Ranks":"[0, 1, 2, 3, 4, 5, 6, 7]","Seq":41,"Src Rank":2,"Dst Rank":6,"Comms Id":"77","Is asynchronized op":true}})j"));
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(trace.gpu_ops.graph_id[0], 3);
  EXPECT_EQ(trace.gpu_ops.graph_node_id[0], 184683593728);
  EXPECT_EQ(trace.gpu_ops.channel[0], 12);
  EXPECT_EQ(trace.gpu_ops.priority[0], -5);
  ASSERT_EQ(trace.collectives.size(), 1U);
  EXPECT_EQ(trace.collectives.seq[0], 41);
  EXPECT_EQ(trace.collectives.src_rank[0], 2);
  EXPECT_EQ(trace.collectives.dst_rank[0], 6);
  EXPECT_EQ(trace.Text(trace.collectives.group_ranks[0]), "[0, 1, 2, 3, 4, 5, 6, 7]");
}

TEST_F(KinetoTest, HardwareCountersHaveTheirDeviceInTheProcessAndAnEmptyKey) {
  const Trace trace = MustRead(
      Wrap(R"({"ph":"C","name":"sm__cycles_active.avg","pid":"GPU 3 Counters","tid":0,"ts":130,"args":{"":71.5}})"));
  ASSERT_EQ(trace.counters.size(), 1U);
  EXPECT_EQ(trace.Text(trace.counters.name[0]), "sm__cycles_active.avg");
  EXPECT_EQ(trace.counters.device[0], 3);
  EXPECT_DOUBLE_EQ(trace.counters.value[0], 71.5);
}

TEST_F(KinetoTest, DevicesOfOtherVendorsAreDevices) {
  for (const std::string_view category : {"mtia_ccp_events", "hpu_op", "privateuse1_kernel"}) {
    const Trace trace = MustRead(Wrap(R"({"ph":"X","cat":")" + std::string(category) +
                                      R"(","name":"op","pid":2,"tid":7,"ts":5,"dur":20,"args":{"device":2}})"));
    ASSERT_EQ(trace.gpu_ops.size(), 1U) << category;
    EXPECT_EQ(trace.gpu_ops.device[0], 2);
  }
}

TEST_F(KinetoTest, TheLegacyProfilerWroteNoCategories) {
  const Trace trace =
      MustRead(Wrap(R"({"name":"conv2d","ph":"X","ts":5,"dur":20,"tid":0,"pid":"CPU functions","args":{}},)"
                    R"({"name":"conv2d","ph":"X","ts":9,"dur":12,"tid":1,"pid":"CUDA functions","args":{}},)"
                    R"({"name":"aten::add","ph":"X","ts":40,"dur":2,"tid":1,"pid":1,"args":{}})"));
  ASSERT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.slices.category[0], SliceCategory::kOperator);
  EXPECT_EQ(trace.slices.category[1], SliceCategory::kOperator);
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(trace.gpu_ops.device[0], 1);
}

// Operators of the legacy profiler are timed by events on the device, one inside another: none of them is damaged.
TEST_F(KinetoTest, TheLegacyProfilersRowsMayLieInsideEachOther) {
  std::string rows;
  for (int i = 0; i < 6; ++i) {
    const int inside = i == 2 ? 5 : 90;  // one that a stream would not allow, of six
    rows += StrCat(R"({"name":"aten::conv2d","ph":"X","ts":)", 100 * i, R"(,"dur":95,"tid":0,"pid":"CUDA functions"},)",
                   R"({"name":"aten::relu","ph":"X","ts":)", 100 * i + 5, R"(,"dur":)", inside,
                   R"(,"tid":0,"pid":"CUDA functions"},)");
  }
  rows.pop_back();
  const Trace trace = MustRead(Wrap(rows));
  EXPECT_EQ(trace.gpu_ops.size(), 12U);
  EXPECT_EQ(trace.gpu_ops.stream[0], kAbsent);
}

TEST_F(KinetoTest, MemoryCountersThreadsAndArrows) {
  const Trace trace = MustRead(Wrap(
      std::string(kOp) + "," +
      R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":7,"tid":7,"ts":120,"args":{"Total Reserved":2097152,"Total Allocated":1024,"Bytes":-512,"Device Id":0,"Device Type":1,"Addr":140203456}},)"
      R"({"args":{"GB/s":1.5},"ph":"C","name":"bandwidth","pid":0,"tid":0,"ts":130},)"
      R"({"ph":"M","name":"thread_name","pid":7,"tid":7,"ts":0,"args":{"name":"main \"quoted\""}},)"
      R"({"ph":"s","id":5,"pid":7,"tid":7,"ts":101,"cat":"fwdbwd","name":"fwdbwd"},{"ph":"f","id":5,"pid":7,"tid":8,"ts":140,"cat":"fwdbwd","name":"fwdbwd","bp":"e"})"));
  ASSERT_EQ(trace.memory_events.size(), 1U);
  EXPECT_EQ(trace.memory_events.bytes[0], -512);
  EXPECT_EQ(trace.memory_events.action[0], MemoryAction::kFree);
  EXPECT_EQ(trace.memory_events.total_reserved[0], 2097152);
  EXPECT_EQ(trace.memory_events.slice[0], SliceId(0));
  ASSERT_EQ(trace.counters.size(), 1U);
  EXPECT_EQ(trace.Text(trace.counters.name[0]), "bandwidth.GB/s");
  EXPECT_DOUBLE_EQ(trace.counters.value[0], 1.5);
  EXPECT_EQ(trace.Text(trace.threads.name[0]), "main \"quoted\"");
  ASSERT_EQ(trace.flows.size(), 1U);
  EXPECT_EQ(trace.flows.kind[0], FlowKind::kForwardBackward);
}

TEST_F(KinetoTest, ControlCharactersCostNothing) {
  const Trace trace = MustRead(Wrap(std::string(kLaunch) + R"(,{"ph":"X","cat":"cpu_op","name":"a)" + "\x01\n" +
                                    R"(b","pid":7,"tid":7,"ts":1,"dur":2},)" + std::string(kKernel)));
  EXPECT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(trace.Text(trace.slices.name[0]), "a  b");
  EXPECT_EQ(Stat(trace, "control_characters"), 1);
}

TEST_F(KinetoTest, InvalidUtf8CostsNothing) {
  const Trace trace = MustRead(Wrap(R"({"ph":"X","cat":"cpu_op","name":"a)"
                                    "\xFF"
                                    R"(b","pid":7,"tid":7,"ts":1,"dur":2})"));
  EXPECT_EQ(trace.Text(trace.slices.name[0]), "a?b");
  EXPECT_EQ(Stat(trace, "invalid_utf8"), 1);
}

TEST_F(KinetoTest, NotANumberIsAbsentOrTold) {
  const Trace trace = MustRead(Wrap(
      R"j({"ph":"X","cat":"gpu_memset","name":"Memset","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7,"correlation":1,"bytes":8,"memory bandwidth (GB/s)":Infinity}},)j"
      R"({"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":NaN,"dur":2},{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":3,"dur":-4},{"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":1,"ts":3})"));
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_NE(trace.gpu_ops.bandwidth_gbps[0], trace.gpu_ops.bandwidth_gbps[0]);
  EXPECT_EQ(trace.slices.size(), 1U);
  EXPECT_EQ(Stat(trace, "bad_times"), 1);
  EXPECT_EQ(Stat(trace, "negative_durations"), 1);
  EXPECT_EQ(Stat(trace, "missing_durations"), 1);
}

TEST_F(KinetoTest, ABrokenEventCostsOneEvent) {
  const Trace trace =
      MustRead(Wrap(std::string(kOp) + R"(,{"ph":"X","cat":"cpu_op","name":"quo"te","pid":1,"tid":1,"ts":1,"dur":2},)" +
                    std::string(kLaunch) + "," + std::string(kKernel)));
  EXPECT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(Stat(trace, "unreadable_events"), 1);
}

TEST_F(KinetoTest, ACutOffFileGivesWhatItHeld) {
  const std::string json = Wrap(Three());
  const Trace trace = MustRead(json.substr(0, json.find("volta_sgemm")));
  EXPECT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.gpu_ops.size(), 0U);
  EXPECT_EQ(Stat(trace, "truncated_input"), 1);
}

// Four steps whose marks and operators come first, then `kernels` of them with their launches, ten a step.
std::string FourStepsWith(int kernels) {
  std::string json = R"({"schemaVersion":1,"traceEvents":[)";
  for (int step = 0; step < 4; ++step) {
    json += StrCat(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)", step, R"(","pid":7,"tid":7,"ts":)",
                   step * 1000, R"(,"dur":1000},)");
  }
  for (int i = 0; i < kernels; ++i) {
    const int ts = i / 10 * 1000 + i % 10 * 90;
    json += StrCat(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":)", ts,
                   R"(,"dur":5,"args":{"correlation":)", i,
                   R"(}},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)", ts + 20,
                   R"(,"dur":30,"args":{"device":0,"stream":7,"correlation":)", i, "}},");
  }
  return json;
}

TEST_F(KinetoTest, InACutOffFileStepsThatLackDeviceWorkAreNotComplete) {
  const auto complete = [&](const std::string& json) {
    const Trace trace = MustRead(json);
    return std::vector<int>(trace.steps.complete.begin(), trace.steps.complete.end());
  };
  EXPECT_EQ(complete(FourStepsWith(40) + "{}]}"), (std::vector{1, 1, 1, 1})) << "whole";
  EXPECT_EQ(complete(FourStepsWith(29)), (std::vector{1, 1, 0, 0})) << "step 2 lacks one, 3 all";
  EXPECT_EQ(complete(FourStepsWith(6)), (std::vector{0, 0, 0, 0})) << "the only step with work may lack some";
  EXPECT_EQ(complete(FourStepsWith(0)), (std::vector{1, 1, 1, 1})) << "no device: what the host did is there";
}

TEST_F(KinetoTest, WhatIsNoTraceIsAnErrorThatSaysSo) {
  for (const std::string_view json : {"", "   ", "{}", "{\"nodes\":[{\"traceEvents\":[]}]}", "not json",
                                      "\x7F"
                                      "ELF",
                                      "{\"traceEvents\":5}"}) {
    const auto trace = Read(std::string(json));
    ASSERT_FALSE(trace) << json;
    EXPECT_EQ(trace.error().code, ErrorCode::kInput);
    EXPECT_FALSE(trace.error().hint.empty()) << json;
  }
}

TEST_F(KinetoTest, NoEventsIsAnEmptyTrace) { EXPECT_EQ(MustRead(Wrap("")).info.event_count, 0); }

// Chunks are cut where an event seems to end. Arguments that look like events must not fool the reader: here every
// event carries an array of objects and a string full of ends, over many chunks.
TEST_F(KinetoTest, ArgumentsThatLookLikeEventsAreNotEvents) {
  std::string events;
  constexpr int kEvents = 20'000;
  for (int i = 0; i < kEvents; ++i)
    events +=
        std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":)" +
        std::to_string(i * 10) +
        R"(,"dur":5,"args":{"list":[{"ph":"X","ts":1,"dur":1},{"ph":"X","cat":"kernel","ts":1,"dur":1},{"a":1}],"text":"},{\"ph\":\"X\"},{"}})";
  const Trace trace = MustRead(Wrap(events));
  EXPECT_EQ(trace.slices.size(), static_cast<size_t>(kEvents));
  EXPECT_EQ(trace.gpu_ops.size(), 0U);
  EXPECT_EQ(trace.info.event_count, kEvents);
}

TEST_F(KinetoTest, MuchMetadataBehindTheEventsIsNotEvents) {
  std::string behind;
  for (int i = 0; i < 40'000; ++i) behind += R"(,{"ph":"X","cat":"kernel","ts":1,"dur":1,"name":"fake"})";
  const Trace trace = MustRead("{\"traceEvents\":[" + Three() + "],\"other\":[{}" + behind + "]}");
  ExpectThree(trace);
}

TEST_F(KinetoTest, OneEventOfManyMegabytes) {
  const Trace trace = MustRead(Wrap(
      std::string(kOp) + R"(,{"ph":"X","cat":"cpu_op","name":"big","pid":7,"tid":7,"ts":300,"dur":5,"args":{"text":")" +
      std::string(5 << 20, 'x') + "\"}}," + std::string(kLaunch)));
  EXPECT_EQ(trace.slices.size(), 3U);
}

TEST_F(KinetoTest, UnknownCategoriesAndPhasesAreToldOf) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"from_the_future","name":"a","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"B","name":"b","pid":1,"tid":1,"ts":1},{"ph":"Z","name":"c","ts":1},{"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":1,"ts":5,"dur":2})"));
  EXPECT_EQ(trace.slices.category[0], SliceCategory::kOther);
  EXPECT_EQ(Stat(trace, "other_categories"), 1);
  EXPECT_EQ(Stat(trace, "begin_end_events"), 1);
  EXPECT_EQ(Stat(trace, "other_phases"), 1);
}

TEST_F(KinetoTest, CancellingStopsTheReading) {
  const std::atomic<bool> cancel{true};
  MemorySource source(Wrap(Three()));
  const auto trace = ReadTrace(source, {.pool = pool_, .cancel = &cancel});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kInterrupted);
}

TEST_F(KinetoTest, WhatGaplessAddedToAConvertedRecordingIsNotRead) {
  const std::string_view added =
      R"(,{"ph":"X","cat":"gapless","name":"data","pid":9,"tid":100,"ts":1,"dur":500000}
         ,{"ph":"C","cat":"gapless","name":"GPU 0 busy","pid":9,"tid":0,"ts":1,"args":{"share":0.5}}
         ,{"ph":"M","name":"thread_name","pid":9,"tid":100,"args":{"name":"idle GPU 0"}})";
  const Trace trace = MustRead(Wrap(Three() + std::string(added)));
  ExpectThree(trace);
  EXPECT_EQ(trace.info.origin_ns, 100'500);
  EXPECT_EQ(trace.counters.size(), 0U);
  EXPECT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(Stat(trace, "gapless_annotations"), 2);
}

TEST_F(KinetoTest, ASourceLineMayBeGivenAsSuch) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2,"args":{"source line":"my \"x\".py:3"}})"));
  EXPECT_EQ(trace.Text(trace.slices.source_line[0]), "my \"x\".py:3");
}

TEST_F(KinetoTest, RanksPutIntoOneFileAreToldOf) {
  EXPECT_EQ(Stat(MustRead("{\"gaplessRanks\":8,\"traceEvents\":[" + Three() + "]}"), "several_ranks"), 8);
  EXPECT_EQ(Stat(MustRead("{\"gaplessRanks\":\"x\",\"traceEvents\":[" + Three() + "]}"), "several_ranks"), 0);
}

TEST_F(KinetoTest, AnAnnotationCalledLikeAKernelIsNoCollective) {
  const std::string_view both =
      R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":1,"dur":2},
         {"ph":"X","cat":"user_annotation","name":"ncclDevKernel_AllReduce","pid":1,"tid":1,"ts":1,"dur":2})";
  const Trace trace = MustRead(Wrap(both));
  ASSERT_EQ(trace.collectives.size(), 1U);
  EXPECT_EQ(trace.collectives.gpu_op[0], GpuOpId(0));
}

// Each of these could be looked at to the end of the file, again and again.
TEST_F(KinetoTest, EventsThatNeverCloseAreLeftOutInTimeOfTheFile) {
  std::string open, closed_at_the_end;
  for (int i = 0; i < 10'000; ++i) open += R"({"ph":"X","args":{},)";
  closed_at_the_end = open + "\"a\":1" + std::string(10'000, '}');
  for (const std::string& text : {open, closed_at_the_end}) {
    const Trace trace = MustRead(Wrap(Three() + "," + text));
    ExpectThree(trace);
    EXPECT_GT(Stat(trace, "deep_events"), 0);
  }
}

// A quote that is missing turns texts and what is between them around.
TEST_F(KinetoTest, QuotesThatNeverCloseAreLeftOutInTimeOfTheFile) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += R"({"a":"},)";
  const auto trace = Read(Wrap(Three() + "," + text));
  if (trace) ExpectThree(*trace);
}

// Kineto on Windows does not escape: \n and \t are parts of the path.
TEST_F(KinetoTest, BackslashesOfWindowsArePartsOfTheName) {
  for (const std::string name : {R"(D:\new\train.py(40): main)", R"(D:\\new\\train.py(40): main)"}) {
    const Trace trace = MustRead(R"({"traceEvents":[{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,"name":")" +
                                 name + "\"}]}");
    EXPECT_EQ(trace.Text(trace.slices.name[0]), R"(D:\new\train.py(40): main)");
  }
}

TEST_F(KinetoTest, ProcessGroupsAreRowsOfTheEnvironmentHoweverManyRanksTheyHave) {
  std::string all = "0";
  for (int rank = 1; rank < 4096; ++rank) all += StrCat(", ", rank);
  const Trace trace = MustRead(StrCat(
      R"({"distributedInfo":{"rank":3,"world_size":4096,"pg_config":[{"pg_name":"0","pg_desc":"default_pg","pg_size":4096,"ranks":[)",
      all,
      R"(]},{"pg_name":"5","pg_desc":"mesh_tp","ranks":[0, 8, 16]},{"pg_name":"6","pg_desc":"bad","ranks":"?"}]},)",
      R"("traceEvents":[)", Three(), "]}"));
  const std::vector<ProcessGroup> groups = ProcessGroupsOf(trace);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "0");
  EXPECT_EQ(groups[0].description, "default_pg");
  EXPECT_EQ(groups[0].ranks.size(), 4096u);
  EXPECT_EQ(groups[1].description, "mesh_tp");
  EXPECT_EQ(groups[1].ranks, (std::vector<int64_t>{0, 8, 16}));
}

}  // namespace
}  // namespace gapless::internal
