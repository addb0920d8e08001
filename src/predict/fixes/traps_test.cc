// SPDX-License-Identifier: Apache-2.0
// Traps: trainings in which a fix brings nothing by construction. Each what-if says so, or its replay gives the step as
// it is, in every case from the cautious to the best: 1.00 ± 0.03.
#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Ask;
using testing::Asked;
using testing::HandMade;
using testing::kCompute;
using testing::KernelOf;
using testing::Program;

constexpr double kSlack = 0.03;
constexpr HandMade::Inputs kFloatSquares{.shapes = "[[4096,4096],[4096,4096]]", .types = R"(["float","float"])"};
constexpr HandMade::Inputs kHalfSquares{.shapes = "[[4096,4096],[4096,4096]]",
                                        .types = R"(["c10::BFloat16","c10::BFloat16"])"};

KernelOf Product(MatrixUnit unit = MatrixUnit::kNo, HandMade::Inputs inputs = kFloatSquares) {
  return {.op = "aten::mm", .us = 500, .op_class = GpuOpClass::kGemm, .unit = unit, .inputs = inputs};
}
constexpr KernelOf kPointwise{.op = "aten::mul", .us = 100, .op_class = GpuOpClass::kPointwise};

void ExpectNothing(Program& program, std::string_view what) {
  const Asked asked = Ask(program, what);
  EXPECT_EQ(asked.effect.refusal, "") << what;
  for (const Estimate estimate : {Estimate::kPessimistic, Estimate::kExpected, Estimate::kOptimistic})
    EXPECT_NEAR(asked.SavedUs(estimate), 0, kSlack * static_cast<double>(asked.before_ns) / testing::kUs) << what;
  if (asked.effect.no_effect.empty()) return;
  for (const int64_t ns : asked.ns) EXPECT_EQ(ns, asked.before_ns) << what << ": no effect is exactly none";
}

// A step that the GPU takes a millisecond for, beside a host that is done earlier.
Program Busy(const KernelOf& kernel = Product()) {
  Program program;
  program.Steps(3, [&] { program.Kernel(kernel).Kernel(kernel); });
  return program;
}

TEST(Traps, PrefetchOfCopiesOnAStreamOfTheirOwn) {
  Program program;
  program.Steps(3, [&] { program.Copy(CopyKind::kHtoDPinned, 200, 9).Kernel(Product()); });
  ExpectNothing(program, "prefetch");
}
TEST(Traps, PrefetchOfPageableMemory) {
  Program program;
  program.Steps(3, [&] { program.Copy(CopyKind::kHtoDPageable, 800).Kernel(Product()); });
  ExpectNothing(program, "prefetch");
}
TEST(Traps, PrefetchBesideNoWork) {
  Program program;
  program.Steps(3, [&] { program.Copy(CopyKind::kHtoDPinned, 1000).Kernel({.op = "aten::add", .us = 5}); });
  ExpectNothing(program, "prefetch");
}
TEST(Traps, SyncAfterAPageableCopy) {
  Program program;
  program.Steps(3,
                [&] { program.Copy(CopyKind::kHtoDPageable, 800).Synchronize().Copy(CopyKind::kDtoHPageable, 800); });
  ExpectNothing(program, "sync");
}
TEST(Traps, SyncOfACopyThatBlocksAnyway) {
  Program program;
  program.Steps(
      3, [&] { program.Host(300).Copy(CopyKind::kDtoHPageable, 800).Host(300); }, false);
  ExpectNothing(program, "sync");
}
TEST(Traps, SyncBeforeTheHostReadsManagedMemory) {
  Program program;
  program.Steps(
      3, [&] { program.Kernel({.us = 5000}).Synchronize().ReadPages(3000).Host(10); }, false);
  ExpectNothing(program, "sync");
}
TEST(Traps, SyncWhereTheDeviceIsTheSlowerOne) {
  Program program = Busy();
  ExpectNothing(program, "sync");
}
TEST(Traps, CompileOfPureProducts) {
  Program program;
  program.Steps(
      3, [&] { program.Kernel({.op = "aten::mm", .op_class = GpuOpClass::kGemm, .ns = 300}).Host(50); }, false);
  ExpectNothing(program, "compile");
}
TEST(Traps, CompileOfCompiledKernels) {
  Program program =
      Busy({.op = "CompiledFunction", .us = 500, .op_class = GpuOpClass::kPointwise, .name = "triton_poi_0"});
  ExpectNothing(program, "compile");
}
TEST(Traps, CompileOfPureCopies) {
  Program program;
  program.Steps(3, [&] { program.Copy(CopyKind::kHtoDPageable, 800).Copy(CopyKind::kDtoHPageable, 800); });
  ExpectNothing(program, "compile");
}
TEST(Traps, CudagraphWhereTheHostComputes) {
  Program program;
  program.Steps(
      3, [&] { program.Host(900, "aten::convolution").Host(100, "aten::relu"); }, false);
  ExpectNothing(program, "cudagraph");
}
TEST(Traps, CudagraphWhereGraphsAreLaunched) {
  Program program = Busy();
  program.made().Call("cudaGraphLaunch", ApiKind::kGraphLaunch, 9'000'000, 9'010'000);
  ExpectNothing(program, "cudagraph");
}
TEST(Traps, CudagraphWhereTheDeviceIsTheSlowerOne) {
  Program program = Busy();
  ExpectNothing(program, "cudagraph");
}
TEST(Traps, CudagraphOfOneLaunch) {
  Program program;
  program.Steps(
      3, [&] { program.Kernel({.op = "aten::mul", .us = 4}).Host(15, "aten::item"); }, false);
  ExpectNothing(program, "cudagraph");
}
TEST(Traps, CudagraphBesideHostWorkOfTheProgram) {
  Program program;
  program.Steps(
      3, [&] { program.Host(1000, "aten::sort").Kernel({.op = "aten::mul", .us = 4}); }, false);
  ExpectNothing(program, "cudagraph");
}
TEST(Traps, Tf32OnAV100) {
  Program program = Busy();
  program.made().Device({.vendor = Vendor::kNvidia, .name = "Tesla V100-SXM2-16GB", .compute_major = 7});
  ExpectNothing(program, "tf32");
}
TEST(Traps, Tf32WhereBf16IsUsed) {
  Program program = Busy(Product(MatrixUnit::kYes, kHalfSquares));
  ExpectNothing(program, "tf32");
}
TEST(Traps, AmpWhereBf16IsUsed) {
  Program program = Busy(Product(MatrixUnit::kYes, kHalfSquares));
  ExpectNothing(program, "amp");
}
TEST(Traps, AmpWithoutMatrixWork) {
  Program program = Busy(kPointwise);
  ExpectNothing(program, "amp");
}
TEST(Traps, AmpOnADeviceWithoutMatrixUnits) {
  Program program = Busy();
  program.made().Device({.vendor = Vendor::kNvidia, .name = "Tesla P100-PCIE-16GB", .compute_major = 6});
  ExpectNothing(program, "amp");
}
TEST(Traps, BatchAsItIs) {
  Program program;
  program.Steps(3, [&] {
    program.Under("aten::conv2d", [&] { program.Kernel({.us = 500, .op_class = GpuOpClass::kConv}); },
                  {.shapes = "[[64,3,224,224],[64,3,7,7]]", .types = R"(["float","float"])"});
  });
  ExpectNothing(program, "batch=64");
}
TEST(Traps, WorkersWithoutALoader) {
  Program program = Busy();
  ExpectNothing(program, "workers=8");
}
TEST(Traps, PinOfPinnedCopies) {
  Program program;
  program.Steps(3, [&] { program.Copy(CopyKind::kHtoDPinned, 500).Kernel(Product()); });
  ExpectNothing(program, "pin");
}
TEST(Traps, FusedOptimizerThatIsFused) {
  Program program;
  program.Steps(3, [&] {
    program.Kernel(Product());
    program.Optimizer([&] {
      program.Kernel({.op = "aten::_fused_adam_", .us = 300, .name = "multi_tensor_apply_kernel<FusedAdam>"});
    });
  });
  ExpectNothing(program, "fused_optimizer");
}
TEST(Traps, SdpaWhereAttentionIsFused) {
  Program program = Busy({.op = "aten::_flash_attention_forward",
                          .us = 500,
                          .op_class = GpuOpClass::kAttention,
                          .name = "flash_fwd_kernel"});
  ExpectNothing(program, "sdpa");
}
TEST(Traps, TheSameGpu) {
  Program program = Busy();
  program.made().Device({.vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-40GB", .compute_major = 8});
  ExpectNothing(program, "gpu=A100 SXM4 40GB");
}

// One process multiplies matrices on a busy device, so what these fixes change is not there.
TEST(Traps, FixesOfWhatABusyDeviceDoesNotDo) {
  for (const std::string_view fix : {"channels_last", "fusion", "nosync=4", "compress", "threads=8"}) {
    Program program = Busy();
    ExpectNothing(program, fix);
  }
}

}  // namespace
}  // namespace gapless::internal
