// SPDX-License-Identifier: Apache-2.0
// host, kernels, sync, workers, pin, prefetch: what the host does, and what it waits for.
#include <cmath>

#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Ask;
using testing::Asked;
using testing::AskOf;
using testing::HandMade;
using testing::kCompute;
using testing::Program;

TEST(Host, AHostBoundStepTakesHalfWithAHostOfTwiceTheSpeed) {
  Program program;
  program.Steps(
      2, [&] { program.Kernel({.op = "aten::mm", .us = 10}).Host(495); }, false);
  const Asked asked = Ask(program, "host=0.5");
  EXPECT_NEAR(asked.SavedUs(), 250, 3);
}
TEST(Host, ADeviceBoundStepKeepsItsLength) {
  Program program;
  program.Steps(2, [&] { program.Kernel({.op = "aten::mm", .us = 1000}); });
  EXPECT_NEAR(Ask(program, "host=0.5").SavedUs(), 0, 6);
}
TEST(Host, TakesAFactor) {
  const WhatIfItem item{.name = "host", .value = "fast"};
  EXPECT_FALSE(item.Factor());
}

Program TwoKernels() {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 600, .name = "gemm"}).Kernel({.op = "aten::add", .us = 200, .name = "add"});
  });
  return program;
}
TEST(Kernels, AllOrThoseWhoseNameMatches) {
  Program program = TwoKernels(), other = TwoKernels();
  EXPECT_NEAR(Ask(program, "kernels=0.5").SavedUs(), 400, 1);
  EXPECT_NEAR(Ask(other, "kernels:^ge=0.5").SavedUs(), 300, 1);
}
TEST(Kernels, ThatAreNotThereAreRefused) {
  Program program = TwoKernels();
  EXPECT_EQ(Ask(program, "kernels:conv=0.5").effect.refusal, "no kernel has a name like 'conv'");
}
TEST(Kernels, BesideAHostThatIsSlowerBringNothing) {
  Program program;
  program.Steps(
      2, [&] { program.Kernel({.op = "aten::mm", .us = 10}).Host(495); }, false);
  EXPECT_NEAR(Ask(program, "kernels=0.5").SavedUs(), 0, 6);
}

TEST(Sync, TheHostWorksWhileTheDeviceDoes) {
  Program program;
  program.Steps(
      2, [&] { program.Kernel({.op = "aten::mm", .us = 100}).Synchronize().Host(300); }, false);
  EXPECT_NEAR(Ask(program, "sync").SavedUs(), 100, 3);
}
TEST(Sync, WaitingForADeviceThatIsTheSlowerOneCostsNothing) {
  Program program;
  program.Steps(2, [&] { program.Kernel({.op = "aten::mm", .us = 1000}); });
  EXPECT_NEAR(Ask(program, "sync").SavedUs(), 0, 10);
}
TEST(Sync, NoCallWaits) {
  Program program;
  program.Steps(
      2, [&] { program.Kernel({.op = "aten::mm", .us = 10}).Host(100); }, false);
  EXPECT_EQ(Ask(program, "sync").effect.no_effect, "no call waits for the device");
}

TEST(Sync, ACopyOfPageableMemoryBlocksAnyway) {
  Program program;
  program.Steps(
      2, [&] { program.Kernel({.op = "aten::mm", .us = 10}).Host(100).Copy(CopyKind::kDtoHPageable, 1000); }, false);
  const Asked asked = Ask(program, "sync");
  EXPECT_EQ(asked.effect.no_effect, "only copies hold up the host, and they block it whenever they are asked for");
  EXPECT_NEAR(asked.SavedUs(), 0, 1);
}
TEST(Sync, AValueKeepsTheTimeOfItsOwnCopy) {
  Program program;
  program.Steps(
      2, [&] { program.Kernel({.op = "aten::mm", .us = 500}).Copy(CopyKind::kDtoHPageable, 200).Host(1000); }, false);
  EXPECT_NEAR(Ask(program, "sync").SavedUs(), 500, 10) << "the kernels' time, not the copy's";
}

Program Loading(std::string_view iterator) {
  Program program;
  program.Steps(2, [&] { program.Load(12'000, iterator).Kernel({.op = "aten::mm", .us = 8000}); });
  return program;
}
TEST(Workers, LoadBesideTheTraining) {
  Program program = Loading("_SingleProcessDataLoaderIter");
  EXPECT_NEAR(Ask(program, "workers=4").SavedUs(), 0.85 * 12'000, 60) << "a quarter of 12 ms hides behind the other 8";
}
// Each batch is handed over in a millisecond, whoever made it.
TEST(Workers, DoNotHelpWhereLoadingIsNothing) {
  Program program;
  program.Steps(2, [&] { program.Load(100).Kernel({.op = "aten::mm", .us = 4000}); });
  EXPECT_NEAR(Ask(program, "workers=4").SavedUs(), -900, 10);
}

// A training of 10 ms a step on the host, of which 6 load, that keeps `busy` of two processors at work.
std::vector<std::shared_ptr<const Trace>> OnTheHost(double busy) {
  HandMade made;
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t start = step * 10'000'000;
    made.Loader(start, start + 6'000'000);
    made.Operator("aten::mm", start + 6'000'000, start + 9'000'000);
    made.Operator("aten::add", start + 9'000'000, start + 9'020'000);
    made.Step(step, start, start + 10'000'000);
  }
  TraceBuilder telemetry;
  telemetry.AddEnvironment("host.cpu.count", "2");
  TraceBuilder::Shard& shard = telemetry.NewShard();
  for (int64_t tick = 0; tick < 5; ++tick)
    shard.Add(CounterRow{.name = shard.Text("process.cpu"), .ts_ns = tick * 1'000'000, .value = busy});
  return {made.Finish(), std::make_shared<const Trace>(std::move(telemetry).Finish())};
}
TEST(Workers, CannotUseMoreProcessorsThanThereAre) {
  Analysed half(OnTheHost(1)), full(OnTheHost(1.8));
  EXPECT_NEAR(AskOf(half, "workers=4").SavedUs(), 0.95 * (10'000 - 1.08 * 5'000), 50)
      << "one of two processors is free";
  EXPECT_LT(AskOf(full, "workers=4").SavedUs(), 0) << "the training needs both itself";
}

// A convolution, `together` operators of a millisecond, and a pooling of 2 ms, on the host.
void MakeRowOfOperators(int64_t together, HandMade& made) {
  int64_t at = 0;
  const auto add = [&](std::string_view name, int64_t ns) {
    made.Operator(name, at, at + ns);
    at += ns;
  };
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t start = at;
    add("aten::mkldnn_convolution", 5'000'000);
    for (int64_t i = 0; i < together; ++i) add("aten::relu", 1'000'000);
    add("aten::max_pool2d_with_indices", 2'000'000);
    made.Python("nn.Module: Conv2d_0", start, at, "torch/nn/modules/module.py:1");
    made.Step(step, start, at);
  }
}
TEST(Compile, OfOperatorsInARowOnTheHostSharesTheirPassesOverMemory) {
  for (const int64_t together : {1, 4}) {
    HandMade made;
    MakeRowOfOperators(together, made);
    Analysed run(made);
    const double all_us = 1000.0 * static_cast<double>(together), root = std::sqrt(static_cast<double>(together));
    const Asked asked = AskOf(run, "compile");
    EXPECT_NEAR(asked.SavedUs(), all_us - all_us / root, 10) << together;
    EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), all_us - 1000, 10) << together;
    EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 0, 10) << "the convolution and the pooling stay";
  }
}

TEST(Threads, SplitWhatIsLarge) {
  Analysed run(OnTheHost(1));
  EXPECT_NEAR(AskOf(run, "threads=2").SavedUs(), 0.85 * 3'000 / 2, 10) << "the product, not the small addition";
  EXPECT_NEAR(AskOf(run, "threads=8").SavedUs(), 0.85 * 3'000 / 2, 10) << "there are two processors";
}
TEST(Threads, AreAllInUse) {
  Analysed run(OnTheHost(1.8));
  EXPECT_EQ(AskOf(run, "threads=2").effect.no_effect, "the training keeps 2 processors busy already");
}
TEST(Threads, WhoseNumberIsNotKnownAreRefused) {
  HandMade made;
  made.Operator("aten::mm", 0, 5'000'000);
  Analysed run(made);
  EXPECT_NE(AskOf(run, "threads=2").effect.refusal, "");
}

// `optimize` names its candidates by their values; `predict` answers to each of these names.
TEST(Items, OfATrialMayBePredicted) {
  EXPECT_TRUE(ParseItems("fused_optimizer=fused"));
  EXPECT_TRUE(ParseItems("fused_optimizer=foreach"));
  EXPECT_FALSE(ParseItems("fused_optimizer=quickly"));
  EXPECT_FALSE(ParseItems("pin=fast")) << "a fix that is tried without a value";
}

TEST(ChannelsLast, OfConvolutionsOnTheHostIsRefused) {
  HandMade made;
  made.Operator("aten::mkldnn_convolution", 0, 5'000'000);
  Analysed run(made);
  const Asked asked = AskOf(run, "channels_last");
  EXPECT_EQ(asked.effect.no_effect, "") << "there are convolutions";
  EXPECT_NE(asked.effect.refusal, "");
  for (const std::string_view of_kernels : {"checkpoint", "fusion", "sdpa"})
    EXPECT_TRUE(AskOf(run, of_kernels).effect.refusal.starts_with("no kernel was recorded")) << of_kernels;
}

TEST(Workers, OfWhichTheNumberIsNotKnownAreRefused) {
  Program program = Loading("_MultiProcessingDataLoaderIter");
  EXPECT_EQ(Ask(program, "workers=4").effect.refusal,
            "batches are loaded by workers already, and how many was not recorded");
}
TEST(Workers, WithNothingToLoad) {
  Program program = TwoKernels();
  EXPECT_EQ(Ask(program, "workers=4").effect.no_effect, "no wait for a batch was recorded");
}

TEST(Pin, TheHostGoesOnDuringTheCopy) {
  Program program;
  program.Steps(
      2, [&] { program.Copy(CopyKind::kHtoDPageable, 100).Kernel({.op = "aten::mm", .us = 10}).Host(300); }, false);
  // The call lasts from 4 µs before the copy until 1 after it; the one that remains.
  EXPECT_NEAR(Ask(program, "pin").SavedUs(), 104, 3);
}
TEST(Pin, ACopyOnAStreamOfItsOwnKeepsTheOrderThatItsWaitStandsFor) {
  Program program;
  program.Steps(2, [&] { program.Copy(CopyKind::kHtoDPageable, 100, 9).Kernel({.op = "aten::mm", .us = 500}); });
  const Asked asked = Ask(program, "pin");
  EXPECT_NEAR(asked.SavedUs(), 50, 3) << "twice as fast, no more";
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), 104, 3);
}
TEST(Pin, TheRecordingsOwnPinnedCopiesSayHowFastTheyAre) {
  Program program;
  constexpr int64_t kBytes = 10'000'000;
  program.Steps(2, [&] {
    program.Copy(CopyKind::kHtoDPinned, 1000, kCompute, kBytes);
    program.Copy(CopyKind::kHtoDPageable, 4000, kCompute, kBytes).Kernel({.op = "aten::mm", .us = 5000});
  });
  EXPECT_NEAR(Ask(program, "pin").SavedUs(), 3000, 10) << "10 GB/s instead of 2.5";
}
TEST(Pin, PinnedAlready) {
  Program program;
  program.Steps(2, [&] { program.Copy(CopyKind::kHtoDPinned, 100); });
  EXPECT_EQ(Ask(program, "pin").effect.no_effect, "no copy from or to pageable memory was recorded");
}

Program Batches(CopyKind kind, int64_t stream) {
  Program program;
  program.Steps(2, [&] { program.Copy(kind, 100, stream).Kernel({.op = "aten::mm", .us = 1000}); });
  return program;
}
TEST(Prefetch, TheCopyNoLongerStandsBeforeTheKernels) {
  Program program = Batches(CopyKind::kHtoDPinned, testing::kCompute);
  const Asked asked = Ask(program, "prefetch");
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 50, 3);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 90, 3);
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), 96, 3) << "the kernel is launched 4 µs after the copy was";
}
TEST(Prefetch, HidesNoMoreThanThereIsWorkBeside) {
  Program program;
  program.Steps(2, [&] { program.Copy(CopyKind::kHtoDPinned, 1000).Kernel({.op = "aten::mm", .us = 100}); });
  EXPECT_NEAR(Ask(program, "prefetch").SavedUs(Estimate::kOptimistic), 100, 10)
      << "1000 µs of copies beside 100 of kernels";
}
TEST(Prefetch, PageableMemoryIsHiddenOnlyOnceItIsPinned) {
  Program program;
  program.Steps(2, [&] { program.Copy(CopyKind::kHtoDPageable, 100).Kernel({.op = "aten::mm", .us = 1000}); });
  Analysed run(std::vector{program.Finish()});
  EXPECT_EQ(AskOf(run, "prefetch").effect.no_effect,
            "copies from pageable memory block the host until they are over, on any stream: pin the memory first");
}
TEST(Prefetch, OnAStreamOfTheirOwnAlready) {
  Program program = Batches(CopyKind::kHtoDPinned, 9);
  EXPECT_EQ(Ask(program, "prefetch").effect.no_effect, "copies to the device have a stream of their own already");
  Program none = TwoKernels();
  EXPECT_EQ(Ask(none, "prefetch").effect.no_effect, "no copy to the device was recorded");
}

// 10 MB at 2.5 GB/s on an A100, whose 16 lanes of PCIe 4 can be used for 25.2 GB/s: 15.1 are expected.
TEST(Pin, WithoutAPinnedCopyTheDevicesLinkSaysHowFastTheyAre) {
  Program program;
  program.made().Device({.vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-80GB"});
  program.Steps(2, [&] { program.Copy(CopyKind::kDtoHPageable, 4000, kCompute, 10'000'000); });
  const Asked asked = Ask(program, "pin");
  EXPECT_NEAR(asked.SavedUs(), 4000 - 10'000 / 15.12, 10);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 4000 - 10'000 / 7.56, 10) << "a shared or narrow link";
  EXPECT_GT(asked.SavedUs(Estimate::kOptimistic), 4000 - 10'000 / 25.1);
}
TEST(Pin, MemoryThatTheRecorderDoesNotTellIsNotKnown) {
  Program program;
  program.Steps(2, [&] { program.Copy(CopyKind::kHtoD, 100, kCompute, 10'000'000); });
  EXPECT_EQ(Ask(program, "pin").effect.refusal,
            "whether copies come from pageable memory or go there was not recorded");
}

TEST(NotKnown, WithoutTheHostNothingIsSaidOfIt) {
  HandMade made;
  for (int i = 0; i < 10; ++i) made.Unlaunched("gemm", i * 100 * kUs, (i * 100 + 90) * kUs, {});
  Analysed run(made);
  for (const std::string_view what : {"sync", "cudagraph"})
    EXPECT_EQ(AskOf(run, what).effect.refusal, "the host was not recorded: what it does, and waits for, is not known")
        << what;
  EXPECT_NE(AskOf(run, "workers=4").effect.refusal, "");
}

}  // namespace
}  // namespace gapless::internal
