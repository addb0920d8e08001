// SPDX-License-Identifier: Apache-2.0
// Tests WindowsOfSteps: the length of a step, joined windows, and ranks without the step.
#include "convert/step_windows.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

// Steps 3 to 5 of 100 ns each; the kernel of step 4 runs until 230.
std::shared_ptr<const Trace> ThreeSteps() {
  return HandMade()
      .Step(3, 0, 100)
      .Step(4, 100, 200)
      .Step(5, 200, 300)
      .Kernel("k", {.call_start = 110, .call_end = 120, .start = 130, .end = 230})
      .Finish();
}

TEST(StepWindowsTest, AStepLastsUntilItsDeviceWorkIsDone) {
  const internal::Run run({ThreeSteps()});
  EXPECT_EQ(*WindowsOfSteps(run.primary(), std::array<int64_t, 1>{4}), (std::vector<WriteWindows>{{{100, 230}}}));
}

TEST(StepWindowsTest, StretchesThatTouchAreOneAndOthersStayApart) {
  const internal::Run run({ThreeSteps()});
  EXPECT_EQ(*WindowsOfSteps(run.primary(), std::array<int64_t, 2>{5, 4}), (std::vector<WriteWindows>{{{100, 300}}}));
  EXPECT_EQ(*WindowsOfSteps(run.primary(), std::array<int64_t, 2>{3, 5}),
            (std::vector<WriteWindows>{{{0, 100}, {200, 300}}}));
}

TEST(StepWindowsTest, ARankWithoutTheStepHasNoWindowAndNoRankWithItIsAnError) {
  const internal::Run run({HandMade().Rank(0).Step(1, 0, 10).Finish(), HandMade().Rank(1).Step(2, 0, 10).Finish()});
  EXPECT_EQ(*WindowsOfSteps(run.primary(), std::array<int64_t, 1>{2}), (std::vector<WriteWindows>{{}, {{0, 10}}}));
  const auto none = WindowsOfSteps(run.primary(), std::array<int64_t, 1>{7});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().hint, "the recording has steps 1 to 2");
}

}  // namespace
}  // namespace gapless::internal
