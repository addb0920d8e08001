// SPDX-License-Identifier: Apache-2.0
// batch, checkpoint, gpu: another training, another machine.
#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Ask;
using testing::Asked;
using testing::AskOf;
using testing::HandMade;
using testing::kUs;
using testing::Program;

Program Training(int64_t samples, int64_t conv_us, float blocks_per_sm = kNanF, int64_t pid = 1) {
  const std::string shapes = "[[" + std::to_string(samples) + ",3,224,224],[64,3,7,7]]";
  Program program;
  program.made().Process(pid, pid * 1'000'000'000);
  program.Steps(2, [&] {
    program.Under(
        "aten::conv2d",
        [&] { program.Kernel({.us = conv_us, .op_class = GpuOpClass::kConv, .blocks_per_sm = blocks_per_sm}); },
        {.shapes = shapes, .types = R"(["float","float"])"});
    program.Optimizer([&] { program.Kernel({.op = "aten::add_", .us = 100, .op_class = GpuOpClass::kPointwise}); });
  });
  return program;
}

TEST(Batch, WorkGrowsAndTheOptimiserDoesNot) {
  Program program = Training(64, 400);
  const Asked asked = Ask(program, "batch=128");
  EXPECT_EQ(asked.effect.samples_factor, 2);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), -400, 1);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), -400 * 0.9, 1);
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), -400 * 0.6, 1);
}
TEST(Batch, SmallerOnesShrinkIt) {
  Program program = Training(64, 400);
  const Asked asked = Ask(program, "batch=32");
  EXPECT_EQ(asked.effect.samples_factor, 0.5);
  EXPECT_NEAR(asked.SavedUs(), 200 * 0.9, 1);
}
TEST(Batch, AKernelThatDoesNotFillTheDeviceFillsItFirst) {
  Program program = Training(64, 400, 0.5F);
  EXPECT_NEAR(Ask(program, "batch=128").SavedUs(), 0, 1);
  Program more = Training(64, 400, 0.5F);
  EXPECT_NEAR(Ask(more, "batch=256").SavedUs(), -400 * 0.9, 1) << "half a block becomes two: twice the time";
}
// A multiprocessor of 2048 threads holds eight blocks of 256: one block each leaves it nearly empty.
TEST(Batch, AMultiprocessorHoldsSeveralBlocksAtOnce) {
  const GpuOpDraft row{.block_x = 256, .block_y = 1, .block_z = 1, .blocks_per_sm = 1};
  Program program;
  program.made().Device({.device = 0, .vendor = Vendor::kNvidia, .max_threads_per_sm = 2048});
  program.Steps(2, [&] {
    program.Under("aten::conv2d", [&] { program.KernelOf("conv", 400, row); },
                  {.shapes = "[[16,3,8,8],[64,3,7,7]]", .types = R"(["float","float"])"});
  });
  Analysed run(std::vector{program.Finish()});
  EXPECT_NEAR(AskOf(run, "batch=64").SavedUs(), 0, 1) << "four blocks: half of what it holds";
  EXPECT_NEAR(AskOf(run, "batch=128").SavedUs(), -400 * 0.9, 5) << "eight blocks: twice as long";
  EXPECT_NEAR(AskOf(run, "batch=128").SavedUs(Estimate::kOptimistic), 0, 1);
  EXPECT_NEAR(AskOf(run, "batch=128").SavedUs(Estimate::kPessimistic), -400 * 7, 20) << "in proportion";
}
TEST(Batch, TwoRecordingsTellWhatGrows) {
  Program small = Training(64, 400), large = Training(128, 700, kNanF, 2);
  Analysed run(std::vector{small.Finish(), large.Finish()});
  ASSERT_EQ(run.tables().run().primary().size(), 1U);
  // 100 µs stay, 300 µs grow with 64 samples: 256 take 1300.
  EXPECT_NEAR(AskOf(run, "batch=256").SavedUs(), -900, 1);
}
TEST(Batch, AsRecordedOrNotRecordedOrFarAway) {
  Program program = Training(64, 400), unknown, far = Training(64, 400);
  EXPECT_EQ(Ask(far, "batch=9000000000000000000").effect.refusal,
            "batches of 9000000000000000000 are too far from the recorded ones of 64");
  unknown.Steps(2, [&] { unknown.Kernel({.op = "aten::conv2d", .op_class = GpuOpClass::kConv}); });
  EXPECT_EQ(Ask(program, "batch=64").effect.no_effect, "batches have 64 samples already");
  EXPECT_EQ(Ask(unknown, "batch=64").effect.refusal,
            "the batch size is not known: the recorded input shapes do not show it");
}

Program TwoPasses(std::string_view backward) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 300, .op_class = GpuOpClass::kGemm});
    program.Under(backward, [&] { program.Kernel({.op = "aten::mm", .us = 600, .op_class = GpuOpClass::kGemm}); });
    program.Optimizer([&] { program.Kernel({.op = "aten::add_", .us = 100}); });
  });
  return program;
}
TEST(Checkpoint, TheForwardPassIsDoneAgain) {
  Program program = TwoPasses("MmBackward0");
  const Asked asked = Ask(program, "checkpoint");
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), -300 * 1.05, 2);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), -300 * 0.9, 2);
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), -300 * 0.6, 2);
}
TEST(Checkpoint, HostWorkIsDoneAgainToo) {
  Program program;
  program.Steps(
      2,
      [&] {
        program.Kernel({.op = "aten::mm", .us = 10}).Host(195);
        program.Under("MmBackward0", [&] { program.Kernel({.op = "aten::mm", .us = 10}).Host(395, "aten::mul"); });
      },
      false);
  EXPECT_NEAR(Ask(program, "checkpoint").SavedUs(), -200 * 0.9, 4);
}
TEST(Checkpoint, NamesTheMemory) {
  Program program = TwoPasses("MmBackward0");
  for (const int64_t total : {int64_t{1'000'000'000}, int64_t{5'000'000'000}})
    program.made().shard().Add(
        MemoryEventRow{.device = 0, .device_type = 1, .pid = 1, .tid = 1, .ts_ns = 10, .total_allocated = total});
  const Asked asked = Ask(program, "checkpoint");
  ASSERT_EQ(asked.effect.assumptions.size(), 2U);
  EXPECT_NE(asked.effect.assumptions[1].find("4.00 GB"), std::string::npos) << asked.effect.assumptions[1];
}
TEST(Checkpoint, LayersCalledInTheBackwardPassAreComputedAgain) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::linear"});
    program.Under("ReluBackward0", [&] { program.Kernel({.op = "aten::linear"}).Kernel({.op = "aten::mm"}); });
  });
  EXPECT_EQ(Ask(program, "checkpoint").effect.no_effect, "activations are computed again already");
}
TEST(Checkpoint, AlreadyOrWithoutABackwardPass) {
  Program already = TwoPasses("CheckpointFunctionBackward"), none = TwoPasses("aten::something");
  EXPECT_EQ(Ask(already, "checkpoint").effect.no_effect, "activations are computed again already");
  EXPECT_EQ(Ask(none, "checkpoint").effect.refusal, "no backward pass was recorded");
}

Program On(std::string_view device, const testing::KernelOf& kernel) {
  Program program;
  program.made().Device({.vendor = Vendor::kNvidia, .name = std::string(device)});
  program.Steps(2, [&] { program.Kernel(kernel); });
  return program;
}
constexpr std::string_view kVolta = "Tesla V100-SXM2-16GB";

TEST(Gpu, WorkBoundByMemoryByItsBandwidth) {
  Program program = On(kVolta, {.op = "aten::add", .us = 1000, .op_class = GpuOpClass::kPointwise});
  const Asked asked = Ask(program, "gpu=A100 SXM4 40GB");
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 1000 * (1 - 900 / 1555.0), 2);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 1000 * (1 - 1.19 * 900 / 1555.0), 2);
}
TEST(Gpu, MatrixWorkByTheUnitsItUses) {
  const testing::KernelOf off{.op = "aten::mm", .us = 1000, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo};
  const testing::KernelOf on{.op = "aten::mm", .us = 1000, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kYes};
  Program ordinary = On(kVolta, off), units = On(kVolta, on);
  const double memory = std::pow(900 / 1555.0, 0.25);
  EXPECT_NEAR(Ask(ordinary, "gpu=A100-SXM4-40GB").SavedUs(), 1000 * (1 - memory * std::pow(15.7 / 19.5, 0.75)), 2);
  EXPECT_NEAR(Ask(units, "gpu=A100-SXM4-40GB").SavedUs(), 1000 * (1 - memory * std::pow(125 / 312.0, 0.75)), 2);
}
TEST(Gpu, AKernelOfFewBlocksGainsNothingFromMoreMultiprocessors) {
  Program program =
      On(kVolta, {.op = "aten::add", .us = 1000, .op_class = GpuOpClass::kPointwise, .blocks_per_sm = 0.5F});
  EXPECT_NEAR(Ask(program, "gpu=A100 SXM4 40GB").SavedUs(), 0, 1);
}
TEST(Gpu, CopiesByTheGenerationOfPcie) {
  Program program;
  program.made().Device({.vendor = Vendor::kNvidia, .name = std::string(kVolta)});
  program.Steps(2, [&] { program.Copy(CopyKind::kHtoDPinned, 1000); });
  EXPECT_NEAR(Ask(program, "gpu=A100 SXM4 40GB").SavedUs(), 500, 1);
}
TEST(Gpu, TheSameOne) {
  Program program = On(kVolta, {.op = "aten::add"});
  EXPECT_EQ(Ask(program, "gpu=v100 sxm2").effect.no_effect, "it ran on V100 SXM2 already");
}
TEST(Gpu, RefusesRecordingsOfUnknownOnes) {
  Program program = On("Voodoo 2", {.op = "aten::add"}), unnamed;
  unnamed.Steps(2, [&] { unnamed.Kernel({.op = "aten::add"}); });
  EXPECT_EQ(Ask(program, "gpu=A100 SXM4 40GB").effect.refusal,
            "the recorded GPU, Voodoo 2, is not in the table of devices");
  EXPECT_EQ(Ask(unnamed, "gpu=A100 SXM4 40GB").effect.refusal, "the name of the recorded GPU was not recorded");
}
TEST(Gpu, SuggestsNamesNearBy) {
  Program program = On(kVolta, {.op = "aten::add"});
  Analysed run(std::vector{program.Finish()});
  const RunTrace& of = run.tables().run().traces()[0];
  const Graph graph = BuildGraph(*of.trace);
  const FixModel& gpu = FindFix("gpu")->model;
  const auto hint = [&](std::string_view name) {
    EdgeTimes times(graph);
    const auto effect =
        gpu.apply({of, run.tables()}, {.name = "gpu", .value = std::string(name)}, Estimate::kExpected, times);
    return effect ? std::string() : effect.error().hint;
  };
  EXPECT_EQ(hint("H100"), "one of: H100 SXM5, H100 PCIe, H100 NVL");
  EXPECT_EQ(hint("MI30X"), "did you mean MI300X?");
  EXPECT_EQ(hint("H200 S"), "") << "the only one that begins so";
}

TEST(Gpu, WhatAKernelTakesToStartStays) {
  Program program;
  program.made().Device({.vendor = Vendor::kNvidia, .name = std::string(kVolta)});
  program.Steps(2, [&] {
    for (int i = 0; i < 50; ++i) program.Kernel({.ns = 2'000});
  });
  EXPECT_EQ(Ask(program, "gpu=H100 SXM5").SavedUs(), 0) << "no bandwidth makes an empty kernel shorter";
}

}  // namespace
}  // namespace gapless::internal
