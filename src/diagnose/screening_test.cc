// SPDX-License-Identifier: Apache-2.0
// Tests the screening: cold starts, explained waste, and programs without PyTorch.
#include "diagnose/screening.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

// A recording of a program of PyTorch, or of one without any operator.
Run RunOf(bool pytorch) {
  HandMade made;
  if (pytorch) made.Operator("aten::mm", 0, 10);
  made.Kernel("k", {20, 21, 22, 23});
  return Run({made.Finish()});
}

// A recording of PyTorch on a device of Intel ("xpu"), or on one of Gaudi ("hpu").
Run RunOn(std::string_view accelerator) {
  HandMade made;
  made.Environment("accelerator", accelerator).Operator("aten::mm", 0, 10);
  made.Call("urEnqueueKernelLaunch", ApiKind::kKernelLaunch, 1, 2).Unlaunched("gemm_kernel", 20, 30);
  return Run({made.Finish()});
}

Bottleneck Found(std::string_view id, BottleneckType type, double share, std::vector<Recommendation> advice = {}) {
  Bottleneck one;
  one.id = id, one.type = type, one.share_of_step = share, one.recommendations = std::move(advice);
  return one;
}

std::string IdsAfter(std::vector<Bottleneck> found, const Run& run) {
  Screen(run, found);
  std::string ids;
  for (const Bottleneck& bottleneck : found) ids += bottleneck.id + " ";
  return ids;
}

TEST(Screening, BesideAColdStartNothingIsSaidOfTheProgram) {
  const std::vector<Bottleneck> found = {Found("launch_bound", BottleneckType::kLaunchBound, 0.5),
                                         Found("too_little_work", BottleneckType::kRecording, 0.9),
                                         Found("cut_recording", BottleneckType::kRecording, 1),
                                         Found("warm_up", BottleneckType::kRecording, 0.8)};
  EXPECT_EQ(IdsAfter(found, RunOf(true)), "cut_recording warm_up ");
  EXPECT_EQ(IdsAfter({found[0], found[1]}, RunOf(true)), "too_little_work ");
  EXPECT_EQ(IdsAfter({found[0], found[2]}, RunOf(true)), "launch_bound cut_recording ") << "what is there is judged";
}

TEST(Screening, WasteIsExplainedByAFindingOfItsKindAndSize) {
  const Bottleneck waste = Found("other_waste", BottleneckType::kIo, 0.4);
  const auto copies = [](double share) { return Found("pageable_copies", BottleneckType::kCpuGpuSync, share); };
  EXPECT_EQ(IdsAfter({waste, copies(0.3)}, RunOf(true)), "pageable_copies ");
  EXPECT_EQ(IdsAfter({waste, copies(0.1)}, RunOf(true)), "other_waste pageable_copies ") << "less than half of it";
  EXPECT_EQ(IdsAfter({waste, Found("host_bound", BottleneckType::kHostBound, 0.4)}, RunOf(true)),
            "other_waste host_bound ");
}

TEST(Screening, WithoutPyTorchThereIsNoAdviceInItsWords) {
  const std::vector<Recommendation> advice = {
      {"compile the model", "compile", "model = torch.compile(model)", "minutes"},
      {"allocate once, before the loop", "", "", "hours"}};
  std::vector<Bottleneck> found = {Found("allocation", BottleneckType::kMemoryAllocation, 0.2, advice),
                                   Found("launch_bound", BottleneckType::kLaunchBound, 0.2, {advice[0]})};
  const std::vector<Bottleneck> before = found;
  Screen(RunOf(false), found);
  ASSERT_EQ(found[0].recommendations.size(), 1U);
  EXPECT_EQ(found[0].recommendations[0].text, "allocate once, before the loop");
  EXPECT_TRUE(found[1].recommendations[0].text.starts_with("look at the events")) << "never without any";
  found = before;
  Screen(RunOf(true), found);
  EXPECT_EQ(found[0].recommendations.size(), 2U);
}

// PyTorch calls torch.xpu for Intel's devices what it calls torch.cuda for others; other vendors' tools are none there.
TEST(Screening, OnIntelsDevicesAdviceIsInTheirWords) {
  const std::vector<Recommendation> advice = {
      {"capture it in a CUDA graph", "", "", "hours"},
      {"watch it with nvidia-smi", "", "", "minutes"},
      {"free what nobody needs", "", "torch.cuda.empty_cache()", "minutes"},
      {"check how the ranks are connected", "", "NCCL_DEBUG=INFO\nnvidia-smi topo -m", "hours"}};
  for (const std::string_view accelerator : {"xpu", "hpu"}) {
    std::vector<Bottleneck> found = {Found("allocation", BottleneckType::kMemoryAllocation, 0.2, advice)};
    Screen(RunOn(accelerator), found);
    ASSERT_EQ(found[0].recommendations.size(), 2U) << accelerator;
    EXPECT_EQ(found[0].recommendations[0].code, accelerator == "xpu" ? "torch.xpu.empty_cache()" : "");
    EXPECT_EQ(found[0].recommendations[1].text, "check how the ranks are connected");
    EXPECT_EQ(found[0].recommendations[1].code, "");
  }
}

}  // namespace
}  // namespace gapless::internal
