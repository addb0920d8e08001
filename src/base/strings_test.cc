// SPDX-License-Identifier: Apache-2.0
// Tests of the functions on texts, with the cases that are easy to get wrong: rounding up to the next unit, invalid
// UTF-8, wide characters.
#include "base/strings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gapless::internal {
namespace {

using Parts = std::vector<std::string_view>;

TEST(FormatDuration, PicksTheUnitAReaderExpects) {
  EXPECT_EQ(FormatDuration(0), "0 ns");
  EXPECT_EQ(FormatDuration(412), "412 ns");
  EXPECT_EQ(FormatDuration(1'730), "1.73 µs");
  EXPECT_EQ(FormatDuration(17'300), "17.3 µs");
  EXPECT_EQ(FormatDuration(176'500'000), "176.5 ms");
  EXPECT_EQ(FormatDuration(1'204'000'000), "1.20 s");
  EXPECT_EQ(FormatDuration(12'040'000'000), "12.04 s");
  EXPECT_EQ(FormatDuration(176'540'000'000), "176.5 s");
  EXPECT_EQ(FormatDuration(3'000'000'000'000), "3000 s");
  EXPECT_EQ(FormatDuration(3'720'000'000'000), "1 h 02 min");
}

TEST(FormatDuration, RoundsIntoTheNextUnit) {
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(9'996), "10.0 µs");
  EXPECT_EQ(FormatDuration(999'940), "999.9 µs");
  EXPECT_EQ(FormatDuration(999'960), "1.00 ms");
  EXPECT_EQ(FormatDuration(9'996'000'000), "10.0 s");
  EXPECT_EQ(FormatDuration(3'599'600'000'000), "1 h 00 min");
}

TEST(FormatDuration, KeepsTheSign) {
  EXPECT_EQ(FormatDuration(-412), "-412 ns");
  EXPECT_EQ(FormatDuration(-176'500'000), "-176.5 ms");
  EXPECT_EQ(FormatDuration(-7'200'000'000'000), "-2 h 00 min");
}

TEST(FormatDuration, TakesEveryInt64) {
  EXPECT_EQ(FormatDuration(std::numeric_limits<int64_t>::max()), "2562047 h 47 min");
  EXPECT_EQ(FormatDuration(std::numeric_limits<int64_t>::min()), "-2562047 h 47 min");
}

TEST(FormatMs, IsAlwaysMilliseconds) {
  EXPECT_EQ(FormatMs(176'540'000), "176.5 ms");
  EXPECT_EQ(FormatMs(12'040'000'000), "12040.0 ms");
  EXPECT_EQ(FormatMs(1'234'000), "1.23 ms");
  EXPECT_EQ(FormatMs(9'996'000), "10.0 ms");
  EXPECT_EQ(FormatMs(17'300), "0.017 ms");
  EXPECT_EQ(FormatMs(0), "0.000 ms");
}

TEST(FormatPercent, HasOneDecimalAndTwoBelowOnePercent) {
  EXPECT_EQ(FormatPercent(0.562), "56.2 %");
  EXPECT_EQ(FormatPercent(1), "100.0 %");
  EXPECT_EQ(FormatPercent(0.0042), "0.42 %");
  EXPECT_EQ(FormatPercent(0.00996), "1.0 %");
  EXPECT_EQ(FormatPercent(0), "0.0 %");
  EXPECT_EQ(FormatPercent(-0.031), "-3.1 %");
}

TEST(FormatBytes, UsesDecimalUnits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(1'000), "1.00 kB");
  EXPECT_EQ(FormatBytes(1'020'000'000), "1.02 GB");
  EXPECT_EQ(FormatBytes(999'960), "1.00 MB");
  EXPECT_EQ(FormatBytes(-17'300'000), "-17.3 MB");
  EXPECT_EQ(FormatBytes(std::numeric_limits<int64_t>::max()), "9.22 EB");
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(75'718), "75,718");
  EXPECT_EQ(FormatCount(-123'456), "-123,456");
  EXPECT_EQ(FormatCount(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(FormatNumber, HasFixedDecimals) {
  EXPECT_EQ(FormatNumber(1.2345, 2), "1.23");
  EXPECT_EQ(FormatNumber(1e15, 0), "1000000000000000");
  EXPECT_EQ(FormatNumber(-2.5, 1), "-2.5");
  EXPECT_EQ(FormatNumber(-0.001, 1), "0.0") << "nothing rounded away keeps its sign";
  EXPECT_EQ(FormatNumber(std::nan(""), 2), "nan");
  EXPECT_EQ(FormatNumber(-std::numeric_limits<double>::infinity(), 2), "-inf");
  EXPECT_EQ(FormatNumber(1e308, 0).size(), 309U);
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(Split("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), (Parts{""}));
  EXPECT_EQ(Split("a,", ','), (Parts{"a", ""}));
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(Join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(Join({"a"}, ", "), "a");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(IgnoringCase, ComparesAscii) {
  EXPECT_TRUE(EqualsIgnoreCase("NCCL", "nccl"));
  EXPECT_FALSE(EqualsIgnoreCase("NCCL", "nccl2"));
  EXPECT_FALSE(EqualsIgnoreCase("@", "`")) << "only letters have case";
  EXPECT_TRUE(ContainsIgnoreCase("void cudnn::ReLU_kernel", "relu"));
  EXPECT_TRUE(ContainsIgnoreCase("anything", ""));
  EXPECT_FALSE(ContainsIgnoreCase("relu", "relu6"));
}

TEST(DisplayWidth, CountsTerminalColumns) {
  EXPECT_EQ(DisplayWidth("gemm"), 4);
  EXPECT_EQ(DisplayWidth("µs"), 2);
  EXPECT_EQ(DisplayWidth("█▏"), 2);
  EXPECT_EQ(DisplayWidth("訓練"), 4) << "East Asian wide characters take two";
  EXPECT_EQ(DisplayWidth("e\u0301"), 1) << "a combining accent takes none";
  EXPECT_EQ(DisplayWidth("🚀"), 2);
  EXPECT_EQ(DisplayWidth("a\x1b"), 1) << "a control character takes none";
  EXPECT_EQ(DisplayWidth("a\xff"), 2) << "a broken byte is shown as one replacement";
}

TEST(WrapWords, BreaksAtSpacesByColumns) {
  const auto wrapped = [](std::string_view text, int width) { return Join(WrapWords(text, width), "|"); };
  EXPECT_EQ(wrapped("one two  three", 8), "one two|three");
  EXPECT_EQ(wrapped("one two", 7), "one two");
  EXPECT_EQ(wrapped("one two", 6), "one|two") << "the space counts";
  EXPECT_EQ(wrapped("one two three", 3), "one|two|three") << "a wider word is not cut";
  EXPECT_EQ(wrapped("訓練 訓練 a", 6), "訓練|訓練 a");
  EXPECT_TRUE(WrapWords("", 8).empty());
  EXPECT_EQ(wrapped("one two", 0), "one|two");
}
TEST(Ellipsize, CutsByColumns) {
  EXPECT_EQ(Ellipsize("volta_sgemm", 11), "volta_sgemm");
  EXPECT_EQ(Ellipsize("volta_sgemm", 6), "volta…");
  EXPECT_EQ(Ellipsize("volta_sgemm", 1), "…");
  EXPECT_EQ(Ellipsize("volta_sgemm", 0), "");
  EXPECT_EQ(Ellipsize("訓練訓練", 6), "訓練…") << "half a wide character is not shown";
  EXPECT_EQ(Ellipsize("e\u0301e\u0301e\u0301", 2), "e\u0301…") << "an accent stays with its letter";
}

TEST(Printable, RemovesWhatDrivesATerminal) {
  EXPECT_EQ(Printable("a\x1b[31mb"), "a[31mb");
  EXPECT_EQ(Printable("line\nnext\tcell"), "line next cell");
  EXPECT_EQ(Printable("bell\a\x7f"), "bell");
  EXPECT_EQ(Printable("\u009b31m"), "31m") << "the one-character form of ESC [";
  EXPECT_EQ(Printable("abc\u202Edef"), "abcdef") << "right-to-left override hides what a name says";
  EXPECT_EQ(Printable("µ 訓練 🚀"), "µ 訓練 🚀");
}

TEST(Printable, ReplacesInvalidUtf8) {
  EXPECT_EQ(Printable("a\xff\x62"), "a\uFFFDb");
  EXPECT_EQ(Printable("cut \xe8\xa8"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(Printable("\xc0\x80"), "\uFFFD\uFFFD") << "overlong NUL";
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond the last character";
}

TEST(XmlEscaped, EndsNoTagAndNoAttribute) {
  EXPECT_EQ(XmlEscaped("<b a=\"1\" c='2'>&amp;</b>"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(XmlEscaped("µ 訓練 🚀"), "µ 訓練 🚀");
}

TEST(XmlEscaped, HoldsOnlyCharactersOfXml) {
  EXPECT_EQ(XmlEscaped("a\x01\x1b[31m\nb"), "a[31m b");
  EXPECT_EQ(XmlEscaped("\xff<"), "\uFFFD&lt;");
  EXPECT_EQ(XmlEscaped("\xEF\xBF\xBE.\xEF\xBF\xBF"), "\uFFFD.\uFFFD") << "U+FFFE and U+FFFF are no characters";
}

TEST(StrCat, JoinsTextsCharactersAndNumbers) {
  EXPECT_EQ(StrCat("step ", 3, " of ", std::string("run"), ' ', 'x', -7), "step 3 of run x-7");
  EXPECT_EQ(StrCat(0.1, " ", 1e300, " ", 2.0), "0.1 1e+300 2") << "the shortest text that reads back equal";
  EXPECT_EQ(StrCat(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(StrCat(), "");
}

TEST(Strings, TimesAreSaidAsPeopleSayThem) {
  EXPECT_EQ(FormatTimes(1), "once");
  EXPECT_EQ(FormatTimes(48), "48 times");
  EXPECT_EQ(FormatTimes(2.46), "2.5 times");
  EXPECT_EQ(FormatTimes(1203.96), "1,204 times");
  EXPECT_EQ(FormatTimes(0.26), "0.3 times");
}

TEST(FormatCounted, AgreesWithItsNumber) {
  EXPECT_EQ(FormatCounted(1, "copy", "copies"), "1 copy");
  EXPECT_EQ(FormatCounted(1204, "copy", "copies"), "1,204 copies");
  EXPECT_EQ(FormatCounted(0, "call"), "0 calls");
}

}  // namespace
}  // namespace gapless::internal
