// SPDX-License-Identifier: Apache-2.0
// amp, tf32, channels_last: kernels of other types and layouts.
#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Ask;
using testing::Asked;
using testing::HandMade;
using testing::Program;

constexpr HandMade::Inputs kHalf{.shapes = "[[64,64,56,56],[64,64,3,3]]", .types = R"(["c10::Half","c10::Half"])"};
constexpr HandMade::Inputs kFloat{.shapes = "[[64,64,56,56],[64,64,3,3]]", .types = R"(["float","float"])"};
constexpr HandMade::Inputs kDepthwise{.shapes = "[[64,64,56,56],[64,1,3,3]]", .types = R"(["c10::Half","c10::Half"])"};

Program Training(MatrixUnit unit) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 1000, .op_class = GpuOpClass::kGemm, .unit = unit});
    program.Kernel({.op = "aten::add", .us = 400, .op_class = GpuOpClass::kPointwise});
  });
  return program;
}

TEST(Amp, MatrixWorkTakesLessThanHalfAndTheRestHalfTheBytes) {
  Program program = Training(MatrixUnit::kNo);
  const Asked asked = Ask(program, "amp");
  EXPECT_TRUE(asked.Applies());
  EXPECT_NEAR(asked.SavedUs(), 1000 * (1 - 1 / 2.3 - 0.03) + 400 * (1 - 1 / 1.6 - 0.03), 1);
}
TEST(Amp, OnMatrixUnitsAlreadyItBringsNothing) {
  Program program = Training(MatrixUnit::kYes);
  const Asked asked = Ask(program, "amp");
  EXPECT_EQ(asked.effect.no_effect, "most matrix work runs on matrix units already");
  EXPECT_EQ(asked.SavedUs(), 0);
}
TEST(Amp, LeavesWorkInOtherTypesThanFloat32) {
  for (const HandMade::Inputs inputs : {kHalf, HandMade::Inputs{.shapes = "[[8,8],[8,8]]", .types = R"(["double"])"}}) {
    Program program;
    program.Steps(2, [&] {
      program.Kernel({.op = "aten::mm", .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo, .inputs = inputs});
    });
    EXPECT_EQ(Ask(program, "amp").effect.no_effect, "most matrix work off the matrix units is not in float32");
  }
}
TEST(Amp, AProductWithAVectorKeepsItsTime) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 1000, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo});
    program.Kernel({.op = "aten::mv", .us = 500, .op_class = GpuOpClass::kGemv, .unit = MatrixUnit::kNo});
  });
  EXPECT_NEAR(Ask(program, "amp").SavedUs(), 1000 * (1 - 1 / 2.3 - 0.03), 1);
}
TEST(Amp, RefusesOtherTypes) {
  Program program = Training(MatrixUnit::kNo);
  testing::Analysed run(std::vector{program.Finish()});
  const Graph graph = BuildGraph(*run.tables().run().traces()[0].trace);
  EdgeTimes times(graph);
  const WhatIfItem item{.name = "amp", .value = "int8"};
  const FixModel& amp = FindFix("amp")->model;
  EXPECT_FALSE(amp.apply({run.tables().run().traces()[0], run.tables()}, item, Estimate::kExpected, times));
}

TEST(Tf32, MatrixWorkOffTheUnitsGetsFaster) {
  Program program = Training(MatrixUnit::kNo);
  EXPECT_NEAR(Ask(program, "tf32").SavedUs(), 1000 * (1 - 1 / 2.2), 1);
}
TEST(Tf32, WorkOnTheUnitsStays) {
  Program program = Training(MatrixUnit::kYes);
  EXPECT_EQ(Ask(program, "tf32").effect.no_effect, "no matrix work in float32 off matrix units was recorded");
}
TEST(Tf32, WorkInHalfPrecisionStays) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo, .inputs = kHalf});
  });
  EXPECT_EQ(Ask(program, "tf32").effect.no_effect, "no matrix work in float32 off matrix units was recorded");
}
// The table of devices gives a GeForce RTX 3090 the same peak for TF32 as for float32, and an A100 eight times it.
TEST(Tf32, GainsNoMoreThanTheDeviceHas) {
  Program small = Training(MatrixUnit::kNo), large = Training(MatrixUnit::kNo);
  small.made().Device({.vendor = Vendor::kNvidia, .name = "NVIDIA GeForce RTX 3090", .compute_major = 8});
  large.made().Device({.vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-40GB", .compute_major = 8});
  EXPECT_NEAR(Ask(small, "tf32").SavedUs(Estimate::kOptimistic), 0, 20);
  EXPECT_NEAR(Ask(large, "tf32").SavedUs(), 1000 * (1 - 1 / 2.2), 1);
}
TEST(Tf32, SmallProductsAreBoundByTheirBytes) {
  Program program;
  program.made().Device({.vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-40GB", .compute_major = 8});
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm",
                    .us = 1000,
                    .op_class = GpuOpClass::kGemm,
                    .unit = MatrixUnit::kNo,
                    .inputs = {.shapes = "[[10000000,16],[16,16]]", .types = R"(["float","float"])"}});
  });
  EXPECT_NEAR(Ask(program, "tf32").SavedUs(Estimate::kOptimistic), 1000 - 1.28e9 / 1.555e6, 5)
      << "1.28 GB take 823 µs at 1555 GB/s";
}
TEST(Amp, AsksForAnotherTypeWhereTheDeviceLacksOne) {
  Program volta = Training(MatrixUnit::kNo), fp16 = Training(MatrixUnit::kNo);
  volta.made().Device({.vendor = Vendor::kNvidia, .name = "Tesla V100-SXM2-16GB", .compute_major = 7});
  fp16.made().Device({.vendor = Vendor::kNvidia, .name = "Tesla V100-SXM2-16GB", .compute_major = 7});
  EXPECT_EQ(Ask(volta, "amp=bf16").effect.refusal, "V100 SXM2 has no matrix units for bf16: ask for amp=fp16");
  EXPECT_TRUE(Ask(fp16, "amp").Applies());
}
TEST(Amp, LeavesTheOptimiserInFloat32) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 1000, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo});
    program.Optimizer([&] { program.Kernel({.op = "aten::add_", .us = 400, .op_class = GpuOpClass::kPointwise}); });
  });
  EXPECT_NEAR(Ask(program, "amp").SavedUs(), 1000 * (1 - 1 / 2.3 - 0.03), 1);
}

TEST(Tf32, LeavesDevicesWithoutItAlone) {
  Program program = Training(MatrixUnit::kNo);
  program.made().Device({.vendor = Vendor::kNvidia, .name = "Tesla V100-SXM2-16GB", .compute_major = 7});
  EXPECT_EQ(Ask(program, "tf32").effect.no_effect, "this GPU has no TF32: its float32 products stay as they are");
}

// One convolution between changes of layout, one in NCHW.
Program Images(HandMade::Inputs inputs) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::normalize", .us = 100});
    program.Under(
        "aten::cudnn_convolution",
        [&] {
          program.Kernel({.us = 100, .name = "void cudnn::ops::nchwToNhwcKernel<__half>"});
          program.Kernel({.us = 300, .op_class = GpuOpClass::kConv, .unit = MatrixUnit::kYes});
        },
        inputs);
    program.Kernel({.op = "aten::cudnn_convolution", .us = 240, .op_class = GpuOpClass::kConv, .inputs = inputs});
  });
  return program;
}

TEST(ChannelsLast, ChangesOfLayoutGoAndConvolutionsInNchwGain) {
  Program program = Images(kHalf);
  const Asked asked = Ask(program, "channels_last");
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 50, 1);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 80 + (240 - 200), 1) << "the one in NHWC already keeps its time";
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), 100 + 240 * (1 - 1 / 1.35), 1);
}
TEST(ChannelsLast, InFp32OnlyChangesOfLayoutGo) {
  Program program = Images(kFloat);
  EXPECT_NEAR(Ask(program, "channels_last").SavedUs(), 80, 1);
}
TEST(ChannelsLast, GroupedConvolutionsMayGetSlower) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::cudnn_convolution", .us = 500, .op_class = GpuOpClass::kConv, .inputs = kDepthwise});
    program.Kernel({.op = "aten::cudnn_convolution", .us = 240, .op_class = GpuOpClass::kConv, .inputs = kHalf});
  });
  const Asked asked = Ask(program, "channels_last");
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), -250, 1);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 40, 1);
}
TEST(ChannelsLast, BringsNothingWhereThereIsNothingToChange) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::cudnn_convolution", .us = 500, .op_class = GpuOpClass::kConv, .inputs = kFloat});
  });
  EXPECT_EQ(Ask(program, "channels_last").effect.no_effect,
            "no kernel changes a layout, and no convolution in half precision is left in NCHW");
  Program products = Training(MatrixUnit::kNo);
  EXPECT_EQ(Ask(products, "channels_last").effect.no_effect, "no convolution was recorded");
}
TEST(ChannelsLast, RefusesWithoutTypes) {
  Program program;
  program.Steps(2, [&] { program.Kernel({.op = "aten::cudnn_convolution", .op_class = GpuOpClass::kConv}); });
  EXPECT_EQ(Ask(program, "channels_last").effect.refusal, "what type the convolutions compute in was not recorded");
}

}  // namespace
}  // namespace gapless::internal
