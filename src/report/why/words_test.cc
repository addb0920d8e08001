// SPDX-License-Identifier: Apache-2.0
// Tests the words of `why`: the sentence, and the notes that make a comparison doubtful.
#include <gtest/gtest.h>

#include "report/why/report.h"

namespace gapless::internal {
namespace {

StepPart KernelPart(std::string name, int64_t ns) {
  return {.part = "compute", .name = std::move(name), .op = "aten::mm", .calls = 1, .ns = ns};
}

StepLedger OfKernels(std::vector<StepPart> parts) {
  StepLedger ledger{.steps = 1, .devices = 1, .on_device = true, .parts = std::move(parts), .operators = {"aten::mm"}};
  for (const StepPart& part : ledger.parts) ledger.wall_ns += part.ns;
  return ledger;
}

WhyView ViewOf(StepLedger a, StepLedger b) {
  WhyView view{.a_name = "a", .b_name = "b", .a = std::move(a), .b = std::move(b)};
  const auto difference = DifferenceOf(view.a, view.b);
  EXPECT_TRUE(difference);
  if (difference) view.difference = *difference;
  return view;
}

TEST(WhyWords, TheSentenceNamesWhatMadeTheDifferenceAndWhatWorksAgainstIt) {
  StepLedger a = OfKernels({KernelPart("gemm", 50'000'000)}), b = OfKernels({KernelPart("gemm", 80'000'000)});
  a.parts.push_back({.part = "idle_data", .calls = 1, .ns = 20'000'000}), a.wall_ns += 20'000'000;
  const std::string sentence = WhySentence(ViewOf(a, b));
  EXPECT_EQ(sentence,
            "In B a step takes 80.0 ms, 10.0 ms (14.3 %) longer than in A. Because: the same kernels take longer "
            "(+30.0 ms): gemm in aten::mm. Against that: waits less for the next batch (−20.0 ms).");
}

TEST(WhyWords, KernelsThatAllTakeLongerByOneFactorMayBeTheMachines) {
  const StepLedger a = OfKernels({KernelPart("x", 100), KernelPart("y", 200), KernelPart("z", 300)});
  const auto alike = WhyNotes(ViewOf(a, OfKernels({KernelPart("x", 131), KernelPart("y", 258), KernelPart("z", 391)})));
  ASSERT_EQ(alike.size(), 1u);
  EXPECT_EQ(alike[0].find("nearly all of them take 1.30 times as long"), 0u) << alike[0];
  EXPECT_TRUE(
      WhyNotes(ViewOf(a, OfKernels({KernelPart("x", 101), KernelPart("y", 205), KernelPart("z", 500)}))).empty());
}

TEST(WhyWords, OtherDevicesAndSingleSlowStepsAreSaid) {
  StepLedger a = OfKernels({KernelPart("x", 1000)}), b = OfKernels({KernelPart("x", 2000)});
  a.device_name = "V100", b.device_name = "A100", b.devices = 2;
  a.median_step_ns = 1000, b.median_step_ns = 1000;
  const auto notes = WhyNotes(ViewOf(a, b));
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0], "the GPUs differ: A ran on V100, B on A100");
  EXPECT_NE(notes[2].find("single slow steps"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
