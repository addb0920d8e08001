// SPDX-License-Identifier: Apache-2.0
// Tests bars, wrapping, padding and ASCII output.
#include "report/renderers/terminal/paint.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

const Paint kPlainPaint(RenderOptions{.width = 80});

TEST(PaintTest, ColourOnlyWhenAsked) {
  EXPECT_EQ(kPlainPaint.In(Tone::kIdle, "idle"), "idle");
  EXPECT_EQ(Paint({.width = 80, .colour = true}).In(Tone::kIdle, "idle"), "\x1b[31midle\x1b[0m");
}

TEST(PaintTest, ABarIsAsLongAsAskedWhateverTheRounding) {
  for (int cells = 10; cells < 100; ++cells) {
    const std::string bar = StackedBar(kPlainPaint,
                                       {{Tone::kCompute, 1.0 / 3},
                                        {Tone::kCommunication, 1.0 / 7},
                                        {Tone::kCopy, 1.0 / 9},
                                        {Tone::kIdle, 1 - 1.0 / 3 - 1.0 / 7 - 1.0 / 9}},
                                       cells);
    EXPECT_EQ(DisplayWidth(bar), cells);
  }
}

TEST(PaintTest, ASmallPartOfABarIsSeenAndATinyOneIsNot) {
  EXPECT_EQ(StackedBar(kPlainPaint, {{Tone::kCompute, 0.99}, {Tone::kIdle, 0.01}}, 10), "█████████░");
  EXPECT_EQ(StackedBar(kPlainPaint, {{Tone::kCompute, 0.999}, {Tone::kIdle, 0.001}}, 10), "██████████");
}

TEST(PaintTest, LinesAreBrokenBetweenWordsAndItems) {
  EXPECT_EQ(Join(WrapCut("one two three", 8), "|"), "one two|three");
  EXPECT_EQ(Join(WrapCut("incomprehensible", 8), "|"), "incompr…");
  EXPECT_EQ(Join(WrapItems({"a b", "c d", "e f"}, 9), "|"), "a b · c d|e f");
}

TEST(PaintTest, AsciiKeepsTheWidth) {
  const std::string text = "█▓▒░ 1.2× · 3 µs → x…  –  naïve 日本";
  const std::string ascii = ToAscii(text);
  EXPECT_EQ(ascii, "#=+. 1.2x | 3 us > x~  -  na?ve ????");
  EXPECT_EQ(DisplayWidth(ascii), DisplayWidth(text));
}

TEST(PaintTest, PaddingCountsColumnsNotBytes) {
  EXPECT_EQ(PadLeft("µs", 4), "  µs");
  EXPECT_EQ(PadRight("µs", 4), "µs  ");
  EXPECT_EQ(PadRight("long", 2), "long");
}

}  // namespace
}  // namespace gapless::internal
