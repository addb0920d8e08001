// SPDX-License-Identifier: Apache-2.0
// Tests table host_events: counts, times and idle times by kind, nested events, and the first step's events.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(HostEvents, CountTimeAndIdleTimeMeanwhile) {
  HandMade trace;
  for (const int64_t t : {0, 1000, 2000}) {
    trace.Step(t / 1000, t, t + 1000).Kernel("k", {t, t + 5, t + 10, t + 400});
    if (t > 0) trace.Python("Python GC", t + 300, t + 600, "train.py:5");
    trace.Kernel("k", {t + 690, t + 695, t + 700, t + 1000});
  }
  Analysed run(trace);
  const auto events = run["host_events"];
  ASSERT_EQ(events.rows(), 1u);
  EXPECT_EQ(events.Text(0, "kind"), "garbage_collection");
  EXPECT_EQ(events.Text(0, "source_line"), "train.py:5");
  EXPECT_EQ(events.Int(0, "calls"), 2);
  EXPECT_DOUBLE_EQ(events.Real(0, "calls_per_step"), 2.0 / 3);
  EXPECT_EQ(events.Int(0, "steps_hit"), 2);
  EXPECT_EQ(events.Int(0, "total_ns"), 600);
  EXPECT_EQ(events.Int(0, "max_ns"), 300);
  EXPECT_EQ(events.Int(0, "idle_ns"), 2 * 200) << "400 to 600 of each";
  EXPECT_EQ(events.Int(0, "later_calls"), 2);
}

TEST(HostEvents, OfTheFirstStepAreNotLater) {
  HandMade trace;
  trace.Step(0, 0, 1000).Call("cudaMalloc", ApiKind::kAlloc, 10, 110).Kernel("k", {120, 130, 140, 1000});
  trace.Step(1, 1000, 2000).Kernel("k", {1000, 1010, 1020, 1500}).Call("cudaFree", ApiKind::kFree, 1600, 1700);
  Analysed run(trace);
  const auto events = run["host_events"];
  EXPECT_EQ(testing::IntWhere(events, "kind", "device_alloc", "calls"), 1);
  EXPECT_EQ(testing::IntWhere(events, "kind", "device_alloc", "later_calls"), 0);
  EXPECT_EQ(testing::IntWhere(events, "kind", "device_free", "later_calls"), 1);
  EXPECT_EQ(testing::IntWhere(events, "kind", "device_free", "later_total_ns"), 100);
}

TEST(HostEvents, OneInsideAnotherOfItsKindIsPartOfIt) {
  HandMade trace;
  trace.Annotation("_compile.compile_inner (dynamo_timed)", 0, 900)
      .Annotation("compile_fx_inner (dynamo_timed)", 100, 500);
  trace.Python("torch/_dynamo/convert_frame.py(700): _compile", 20, 880, "train.py:9")
      .Kernel("k", {950, 960, 970, 990});
  Analysed run(trace);
  ASSERT_EQ(run["host_events"].rows(), 1u);
  EXPECT_EQ(run["host_events"].Text(0, "kind"), "compilation");
  EXPECT_EQ(run["host_events"].Int(0, "total_ns"), 900);
  EXPECT_TRUE(run["host_events"].IsNull(0, "later_calls")) << "no steps";
  EXPECT_TRUE(run["host_events"].IsNull(0, "calls_per_step"));
}

TEST(HostEvents, FunctionsOfServingEnginesAreKnownByTheirFiles) {
  HandMade trace;
  trace.Kernel("k", {0, 5, 10, 1000});
  trace.Python("vllm/v1/core/sched/scheduler.py(210): schedule", 20, 300, "")
      .Python("vllm/v1/core/sched/scheduler.py(640): _preempt_request", 30, 40, "")
      .Python("/opt/sglang/srt/managers/schedule_batch.py(1900): retract_decode", 310, 330, "")
      .Python("/opt/sglang/srt/managers/detokenizer_manager.py(90): handle_batch", 340, 400, "")
      .Python("vllm/v1/worker/gpu_model_runner.py(3380): execute_model", 410, 500, "")
      .Python("train/scheduler.py(7): schedule", 510, 600, "");
  Analysed run(trace);
  const auto events = run["host_events"];
  EXPECT_EQ(testing::IntWhere(events, "kind", "engine_scheduling", "calls"), 1);
  EXPECT_EQ(testing::IntWhere(events, "kind", "engine_scheduling", "total_ns"), 280);
  EXPECT_EQ(testing::IntWhere(events, "kind", "detokenisation", "total_ns"), 60);
  EXPECT_EQ(events.rows(), 4U) << "two functions preempt; neither running the model nor another's scheduler is one";
}

TEST(HostEvents, FlattenedTensorsAreBuffersOnlyInDdpsForwardPass) {
  HandMade trace;
  trace.Kernel("k", {0, 5, 10, 20}).Annotation("DistributedDataParallel.forward", 30, 500);
  trace.Operator("aten::flatten_dense_tensors", 40, 100).Operator("aten::unflatten_dense_tensors", 200, 300);
  trace.Operator("aten::flatten_dense_tensors", 600, 700).Kernel("k", {800, 805, 810, 820});
  Analysed run(trace);
  const auto events = run["host_events"];
  int64_t calls = 0, total = 0;
  for (size_t row = 0; row < events.rows(); ++row)
    if (events.Text(row, "kind") == "ddp_buffers")
      calls += events.Int(row, "calls"), total += events.Int(row, "total_ns");
  EXPECT_EQ(calls, 2) << "the one after the forward pass packs something else";
  EXPECT_EQ(total, 60 + 100);
}

TEST(HostEvents, KindsByTheNamesPyTorchGives) {
  struct Named {
    std::string_view name, kind;
  };
  constexpr Named kNamed[] = {{"torch/serialization.py(965): save", "checkpoint_save"},
                              {"torch/distributed/checkpoint/state_dict_saver.py(120): save", "checkpoint_save"},
                              {"trainer.py(12): save_checkpoint", "checkpoint_save"},
                              {"torch/utils/checkpoint.py(1500): recompute_fn", "recompute"},
                              {"Torch-Compiled Region: 0/1", "compiled_region"},
                              {"CUDAGraphNode.record (dynamo_timed)", "graph_recording"},
                              {"<built-in function collect>", "garbage_collection"},
                              {"DataParallel.forward", "data_parallel"},
                              {"DistributedDataParallel.forward", "ddp"},
                              {"FullyShardedDataParallel.forward", "fsdp"},
                              {"triton/compiler/compiler.py(226): compile", "compilation"},
                              {"TorchDynamo Cache Lookup", ""},
                              {"torch/serialization.py(1202): _save", ""},
                              {"torch/utils/checkpoint.py(343): checkpoint", ""},
                              {"torch/_inductor/compile_fx.py(1767): run", ""}};
  for (const Named& named : kNamed) {
    HandMade trace;
    trace.Python(named.name, 0, 100, "").Kernel("k", {110, 120, 130, 140});
    Analysed run(trace);
    const auto events = run["host_events"];
    EXPECT_EQ(events.rows() > 0 ? events.Text(0, "kind") : "", named.kind) << named.name;
  }
}

TEST(HostEvents, WithoutADeviceHaveNoIdleTime) {
  HandMade trace;
  trace.Python("Python GC", 0, 100, "");
  Analysed run(trace);
  EXPECT_TRUE(run["host_events"].IsNull(0, "idle_ns"));
}

}  // namespace
}  // namespace gapless::internal
