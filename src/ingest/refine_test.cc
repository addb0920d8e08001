// SPDX-License-Identifier: Apache-2.0
// The call that launched an operation of an Ascend device, whose recordings have arrows and no correlation.
#include "ingest/refine.h"

#include <gtest/gtest.h>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

// The main thread (7) calls an operator at 100; its kernel starts at 900 on stream 3. An arrow joins the two.
constexpr std::string_view kQueueless =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":7,"ts":100,"dur":50},)"
    R"({"ph":"X","cat":"cpu_op","name":"aclnnMm","pid":1,"tid":7,"ts":110,"dur":30},)"
    R"({"ph":"X","name":"AscendCL@aclnnMm","pid":2,"tid":8,"ts":800,"dur":40},)"
    R"({"ph":"X","name":"MatMul","pid":9,"tid":3,"ts":900,"dur":20,"args":{"Task Type":"AI_CORE"}},)"
    R"({"ph":"s","cat":"async_npu","name":"torch_to_npu","id":1,"pid":1,"tid":7,"ts":110},)"
    R"({"ph":"f","bp":"e","cat":"async_npu","name":"torch_to_npu","id":1,"pid":9,"tid":3,"ts":900})";

// The operator puts the call into a queue at 120, from which another thread (8) takes it at 790.
constexpr std::string_view kQueue =
    R"(,{"ph":"X","cat":"enqueue","name":"Enqueue","pid":1,"tid":7,"ts":120,"dur":2})"
    R"(,{"ph":"X","cat":"dequeue","name":"Dequeue@aclnnMm","pid":1,"tid":8,"ts":790,"dur":60})"
    R"(,{"ph":"s","cat":"async_task_queue","name":"enqueue_to_dequeue","id":5,"pid":1,"tid":7,"ts":120})"
    R"(,{"ph":"f","bp":"e","cat":"async_task_queue","name":"enqueue_to_dequeue","id":5,"pid":1,"tid":8,"ts":790})";

Trace ReadEvents(std::string_view events, std::string_view more = {}) {
  return testing::ReadText("{\"traceEvents\":[" + std::string(events) + std::string(more) + "]}");
}

std::string_view NameOf(const Trace& trace, SliceId slice) {
  return slice.valid() ? trace.Text(trace.slices.name[slice.value]) : "none";
}

TEST(LinkByArrows, TheCallWhereTheArrowBeginsLaunches) {
  const Trace trace = ReadEvents(kQueueless);
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(NameOf(trace, trace.gpu_ops.launch[0]), "aclnnMm");
  EXPECT_EQ(NameOf(trace, trace.gpu_ops.op[0]), "aclnnMm");
}

TEST(LinkByArrows, ACallThatWasQueuedIsLaunchedByTheThreadThatTakesItOut) {
  const Trace trace = ReadEvents(kQueueless, kQueue);
  ASSERT_EQ(trace.gpu_ops.size(), 1U);
  EXPECT_EQ(NameOf(trace, trace.gpu_ops.launch[0]), "Dequeue@aclnnMm");
  EXPECT_EQ(NameOf(trace, trace.gpu_ops.op[0]), "aclnnMm") << "the operator stays that of the thread which called it";
}

}  // namespace
}  // namespace gapless::internal
