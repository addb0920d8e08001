// SPDX-License-Identifier: Apache-2.0
// Tests the limits of lines and files, and the numbers that a pattern finds.
#include "trial/printed.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

TEST(Printed, ALineThatIsWrittenOverIsManyLines) {
  const Printed printed = PrintedFrom("\r10 it/s\r12 it/s\ndone");
  EXPECT_EQ(printed.text, "\n10 it/s\n12 it/s\ndone\n");
  EXPECT_EQ(printed.tail, "\r10 it/s\r12 it/s\ndone");
  const auto pattern = Pattern::Make("^([0-9]+) it/s$", "--pattern", Pattern::Anchors::kLine);
  EXPECT_EQ(NumbersIn(printed, *pattern), (std::vector<double>{10, 12}));
}

TEST(Printed, OfALongLineBothEndsStay) {
  for (const size_t size : {kLongestLine + 1, 2 * kLongestLine, 3 * kLongestLine + 7, size_t{10'000'000}}) {
    const Printed printed = PrintedFrom(StrCat("loss 1 ", std::string(size, 'x'), " loss 2\nloss 3\n"));
    EXPECT_EQ(printed.cut_lines, 1U);
    EXPECT_LT(printed.text.size(), kLongestLine + 20);
    const auto pattern = Pattern::Make("loss ([0-9])", "--pattern");
    EXPECT_EQ(NumbersIn(printed, *pattern), (std::vector<double>{1, 2, 3})) << size;
  }
  EXPECT_EQ(PrintedFrom(std::string(kLongestLine, 'x')).cut_lines, 0U);
}

TEST(Printed, OfALargeFileTheEndIsRead) {
  const auto folder = TemporaryFolder::Make();
  const std::string path = folder->path() + "/output";
  ASSERT_TRUE(WriteFileAtomically(path, "loss 1\nloss 2\nloss 3\n"));
  EXPECT_EQ(ReadPrinted(path, 9).text, "2\nloss 3\n");
  EXPECT_EQ(ReadPrinted(path).text, "loss 1\nloss 2\nloss 3\n");
  EXPECT_EQ(ReadPrinted(path + ".none").text, "");
}

TEST(Printed, NumbersThatAreNoneAreLeftOut) {
  const auto pattern = Pattern::Make("loss (.*)", "--pattern");
  EXPECT_EQ(NumbersIn(PrintedFrom("loss nan\nloss inf\nloss 1e999\nloss x\nloss -0.5 s\nloss \n"), *pattern),
            (std::vector<double>{-0.5}));
}

}  // namespace
}  // namespace gapless::internal
