// SPDX-License-Identifier: Apache-2.0
// Recordings of TensorFlow, JAX and rocprof: the names of processes and threads say what their events are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

Result<Trace> Read(const std::vector<std::string>& events) {
  ThreadPool pool(2);
  MemorySource source(StrCat("{\"traceEvents\": [", Join(events, ",\n"), "]}"));
  return ReadTrace(source, {.pool = pool});
}

std::string Process(int pid, std::string_view name) {
  return StrCat(R"({"ph":"M","name":"process_name","pid":)", pid, R"(,"args":{"name":")", name, "\"}}");
}

std::string Thread(int pid, int tid, std::string_view name) {
  return StrCat(R"({"ph":"M","name":"thread_name","pid":)", pid, R"(,"tid":)", tid, R"(,"args":{"name":")", name,
                "\"}}");
}

std::string Event(std::string_view name, int pid, int tid, int ts, int dur, std::string_view args = "") {
  return StrCat(R"({"ph":"X","name":")", name, R"(","pid":)", pid, R"(,"tid":)", tid, R"(,"ts":)", ts, R"(,"dur":)",
                dur, R"(,"args":{)", args, "}}");
}

TEST(KinetoLanes, ATimelineOfTensorFlowCountsEachStreamOnce) {
  const auto trace =
      Read({Event("Conv2D", 1, 0, 0, 90), Process(1, "/job:localhost/task:0/device:GPU:1 Compute"),
            Process(2, "/job:localhost/task:0/device:GPU:1 Tensors"), Process(3, "/device:GPU:1/stream:all Compute"),
            Process(5, "/device:GPU:1/stream:13 Compute"), Process(7, "/device:GPU:1/memcpy Compute"),
            Process(9, "/device:GPU:1/stream:14 Compute"), Event("Conv2D", 3, 0, 10, 80), Event("Conv2D", 5, 0, 10, 80),
            Event("MEMCPYHtoD", 7, 0, 2, 5), Event("MEMCPYHtoD", 9, 0, 2, 5)});
  ASSERT_TRUE(trace) << trace.error().ToString();
  const GpuOpTable& ops = trace->gpu_ops;
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops.kind[0], GpuOpKind::kMemcpy);
  EXPECT_EQ(ops.copy_kind[0], CopyKind::kHtoD);
  EXPECT_EQ(ops.stream[0], 14);
  EXPECT_EQ(ops.kind[1], GpuOpKind::kKernel);
  EXPECT_EQ(ops.device[1], 1);
  EXPECT_EQ(ops.stream[1], 13);
  EXPECT_EQ(ops.dur_ns[1], 80'000);
  ASSERT_EQ(trace->slices.size(), 1U);  // what was scheduled for the device
  EXPECT_EQ(trace->slices.category[0], SliceCategory::kOperator);
  EXPECT_EQ(trace->info.framework, "tensorflow");
}

TEST(KinetoLanes, AllStreamsCountWhereNoStreamIsShownAlone) {
  const auto trace = Read({Process(1, "/device:GPU:0/stream:all Compute"), Event("MatMul", 1, 0, 10, 80)});
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->gpu_ops.size(), 1U);
}

TEST(KinetoLanes, StreamsOfADeviceCountAndWhatRepeatsThemDoesNot) {
  const auto trace =
      Read({Process(1, "/device:GPU:0"), Process(9, "/host:CPU"), Thread(1, 14, "Stream #20(Compute)"),
            Thread(1, 15, "Stream #21(MemcpyD2H)"), Thread(1, 2, "XLA Ops"), Thread(1, 3, "XLA Modules"),
            Thread(1, 4, "TensorFlow Name Scope"), Event("cuLaunchKernel", 9, 1, 5, 2, R"("correlation_id":"77")"),
            Event("fusion_1", 1, 14, 10, 40, R"("correlation_id":"77")"), Event("MemcpyD2H", 1, 15, 60, 10),
            Event("fusion.1", 1, 2, 10, 40), Event("jit_step", 1, 3, 10, 60), Event("loss", 1, 4, 10, 40)});
  ASSERT_TRUE(trace) << trace.error().ToString();
  ASSERT_EQ(trace->gpu_ops.size(), 2U);
  EXPECT_EQ(trace->gpu_ops.stream[0], 20);
  EXPECT_TRUE(trace->gpu_ops.launch[0].valid());
  EXPECT_EQ(trace->gpu_ops.copy_kind[1], CopyKind::kDtoH);
  EXPECT_EQ(trace->gpu_annotations.size(), 1U);
  EXPECT_EQ(trace->slices.category[0], SliceCategory::kRuntime);
  EXPECT_EQ(trace->info.framework, "xla");
}

// A TPU shows its operations alone; a loop holds those that run in it, and is no work of its own.
TEST(KinetoLanes, OperationsOfATpuAndItsSteps) {
  const auto trace =
      Read({Process(3, "/device:TPU:0"), Process(4, "/device:TPU:1"), Thread(3, 1, "Steps"), Thread(3, 3, "XLA Ops"),
            Thread(4, 1, "Steps"), Thread(4, 3, "XLA Ops"), Event("7", 3, 1, 0, 100), Event("8", 3, 1, 100, 100),
            Event("7", 4, 1, 0, 100), Event("8", 4, 1, 100, 100), Event("while.3", 3, 3, 0, 90),
            Event("fusion", 3, 3, 0, 45), Event("fusion", 3, 3, 45, 45), Event("fusion", 3, 3, 110, 80),
            Event("fusion", 4, 3, 0, 80)});
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->gpu_ops.size(), 4U);
  ASSERT_EQ(trace->steps.size(), 2U);
  EXPECT_EQ(trace->steps.number[0], 7);
  EXPECT_EQ(trace->steps.number[1], 8);
}

TEST(KinetoLanes, MarksOfStepsOnTheHost) {
  const auto trace = Read({Process(9, "/host:CPU"), Event("train", 9, 1, 0, 100, R"("step_num":"4")"),
                           Event("PjitFunction(f)", 9, 1, 10, 50), Event("train", 9, 1, 100, 100, R"("step_num":"5")"),
                           Event("PjitFunction(f)", 9, 1, 110, 50)});
  ASSERT_TRUE(trace) << trace.error().ToString();
  ASSERT_EQ(trace->steps.size(), 2U);
  EXPECT_EQ(trace->steps.number[1], 5);
}

TEST(KinetoLanes, KernelsCopiesAndCallsOfRocprof) {
  const auto trace =
      Read({Process(2, "CPU HIP API"), Process(1, "COPY"), Process(10, "GPU4"), Event("hipMemcpy", 2, 7, 0, 30),
            Event("CopyHostToDevice", 1, 0, 5, 20, R"("dev-id":"4","stream-id":"2")"),
            R"x({"ph":"X","name":"add(float*)","pid":"10","tid":"1","ts":"40","dur":"15"})x"});
  ASSERT_TRUE(trace) << trace.error().ToString();
  ASSERT_EQ(trace->gpu_ops.size(), 2U);
  EXPECT_EQ(trace->gpu_ops.copy_kind[0], CopyKind::kHtoD);
  EXPECT_EQ(trace->gpu_ops.device[0], 4);
  EXPECT_EQ(trace->gpu_ops.device[1], 4);
  EXPECT_EQ(trace->gpu_ops.kind[1], GpuOpKind::kKernel);
  EXPECT_EQ(trace->slices.category[0], SliceCategory::kRuntime);
  EXPECT_EQ(trace->info.framework, "rocprof");
}

// A file that marks steps is one of training, whoever wrote it.
TEST(KinetoLanes, StepsAloneAreEnough) {
  const auto trace = Read({Event("train_step", 1, 1, 0, 10), Event("train_step", 1, 1, 10, 10)});
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->steps.size(), 2U);
  EXPECT_FALSE(Read({Event("handle_request", 1, 1, 0, 10)}));
}

}  // namespace
}  // namespace gapless::internal
