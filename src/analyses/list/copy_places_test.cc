// SPDX-License-Identifier: Apache-2.0
// Tests table copy_places: casts, layout conversions, staged copies, round trips, and copies by optimisers and compiled
// code.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

// aten::<outer> that copies with a kernel of 50 ns.
void CopyKernel(HandMade& trace, std::string_view outer, std::string_view types, int64_t at) {
  trace.Operator(outer, at, at + 90);
  trace.OperatorOn("aten::copy_", at + 10, at + 80, {.types = types}, testing::kMain, "model.py:5");
  trace.Kernel("elementwise", {at + 20, at + 30, at + 40, at + 90});
}

TEST(CopyPlaces, KernelsThatCopyAreCastsOrChangesOfLayout) {
  HandMade trace;
  CopyKernel(trace, "aten::to", R"(["c10::Half","float","Scalar"])", 0);
  CopyKernel(trace, "aten::contiguous", R"(["float","float","Scalar"])", 100);
  CopyKernel(trace, "aten::to", "", 200);
  trace.Operator("aten::cat", 300, 390).Kernel("cat", {310, 320, 330, 340});
  testing::Analysed run(trace);
  const auto places = run["copy_places"];
  ASSERT_EQ(places.rows(), 4u);
  EXPECT_EQ(testing::IntWhere(places, "types", R"(["c10::Half","float","Scalar"])", "device_ns"), 50);
  EXPECT_EQ(testing::IntWhere(places, "kind", "layout", "calls"), 1);
  EXPECT_EQ(testing::IntWhere(places, "kind", "join", "calls"), 1);
  EXPECT_EQ(testing::IntWhere(places, "operator", "aten::contiguous", "exposed_ns"), kAbsent) << "a kernel";
  int64_t casts = 0;
  for (size_t row = 0; row < places.rows(); ++row) casts += places.Text(row, "kind") == "cast";
  EXPECT_EQ(casts, 2) << "where types are not recorded, what aten::to copies has another type";
}

TEST(CopyPlaces, WhatTheOptimiserCopiesIsItsOwn) {
  HandMade trace;
  trace.Annotation("Optimizer.step#Adam.step", 0, 200);
  CopyKernel(trace, "aten::to", "", 0);
  testing::Analysed run(trace);
  EXPECT_EQ(run["copy_places"].rows(), 0u);
}

TEST(CopyPlaces, IdleTimeWhileALargeCopyIsStagedIsItsOwn) {
  HandMade trace;
  trace.Kernel("k", {0, 10, 20, 100}).Copy(CopyKind::kHtoDPageable, {200, 400, 380, 480}, {.bytes = 1 << 20});
  trace.Copy(CopyKind::kHtoDPageable, {500, 510, 520, 530}, {.bytes = 4});
  trace.Kernel("next", {540, 550, 560, 600});
  testing::Analysed run(trace);
  const auto places = run["copy_places"];
  ASSERT_EQ(places.rows(), 1u);
  EXPECT_EQ(places.Int(0, "calls"), 2);
  EXPECT_EQ(places.Int(0, "small_calls"), 1);
  EXPECT_EQ(places.Int(0, "bytes"), (1 << 20) + 4);
  EXPECT_EQ(places.Int(0, "exposed_ns"), 110);
  EXPECT_EQ(places.Int(0, "large_exposed_ns"), 100);
  EXPECT_EQ(places.Int(0, "idle_ns"), 180) << "200 to 380, while the call copies";
}

TEST(CopyPlaces, ACopyBackOfWhatWentToTheHostIsARoundTrip) {
  HandMade trace;
  trace.Step(0, 0, 1000).Step(1, 1000, 2000);
  trace.Copy(CopyKind::kDtoHPinned, {0, 10, 20, 30}, {.bytes = 100'000});
  trace.Copy(CopyKind::kHtoDPinned, {40, 50, 60, 70}, {.bytes = 100'000});
  trace.Copy(CopyKind::kHtoDPinned, {1040, 1050, 1060, 1070}, {.bytes = 100'000});
  trace.Copy(CopyKind::kDtoHPinned, {1080, 1082, 1085, 1090}, {.bytes = 100'000});
  testing::Analysed run(trace);
  EXPECT_EQ(testing::IntWhere(run["copy_places"], "kind", "h2d_pinned", "round_trips"), 1) << "of this step only";
  EXPECT_EQ(testing::IntWhere(run["copy_places"], "kind", "d2h_pinned", "round_trips"), kAbsent);
}

// Two batches go up, a result as large as each comes down, again and again.
TEST(CopyPlaces, InputsAsLargeAsResultsMakeNoRoundTrip) {
  HandMade trace;
  for (int64_t t = 0; t < 4000; t += 1000) {
    trace.Copy(CopyKind::kHtoDPinned, {t, t + 10, t + 20, t + 200}, {.bytes = 100'000});
    trace.Copy(CopyKind::kHtoDPinned, {t + 200, t + 210, t + 220, t + 400}, {.bytes = 100'000});
    trace.Copy(CopyKind::kDtoHPinned, {t + 500, t + 510, t + 520, t + 700}, {.bytes = 100'000});
  }
  testing::Analysed run(trace);
  EXPECT_EQ(testing::IntWhere(run["copy_places"], "kind", "h2d_pinned", "round_trips"), 0);
}

// Copies of `calls_ns` on the host, one a step; the device waits for each.
int64_t Steady(std::initializer_list<int64_t> calls_ns) {
  HandMade trace;
  int64_t number = 0;
  for (const int64_t call : calls_ns) {
    const int64_t t = number * 1000;
    trace.Step(number++, t, t + 1000);
    trace.Copy(CopyKind::kHtoDPageable, {t, t + call, t + call, t + call + 20}, {.bytes = 1 << 20});
    trace.Kernel("k", {t + call, t + call + 10, t + call + 20, t + 1000});
  }
  testing::Analysed run(trace);
  return run["copy_places"].Int(0, "steady_ns");
}

TEST(CopyPlaces, WhatOneStepAloneCostsIsNoCostOfAll) {
  EXPECT_EQ(Steady({900, 100, 100}), 3 * (100 + 20));
  EXPECT_EQ(Steady({100, 100, 100, 100}), 4 * (100 + 20));
  EXPECT_EQ(Steady({100, 300, 300}), 100 + 2 * 300 + 3 * 20) << "no more than there is";
  EXPECT_EQ(Steady({900, 100}), 900 + 100 + 2 * 20) << "two steps have no median";
}

TEST(CopyPlaces, WhatTheCompiledWrapperCopiesIsTold) {
  HandMade trace;
  trace.Operator("CompiledFunction", 0, 300);
  CopyKernel(trace, "aten::clone", "", 0);
  CopyKernel(trace, "aten::clone", "", 400);
  testing::Analysed run(trace);
  ASSERT_EQ(run["copy_places"].rows(), 2u);
  EXPECT_EQ(testing::IntWhere(run["copy_places"], "inside", "compiled", "calls"), 1);
}

}  // namespace
}  // namespace gapless::internal
