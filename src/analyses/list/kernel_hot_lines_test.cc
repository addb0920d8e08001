// SPDX-License-Identifier: Apache-2.0
// Tests table kernel_hot_lines by hand.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;

KernelLineRow SampledLine(int64_t pc, int64_t line, std::string_view stall, int64_t samples) {
  KernelLineRow row{
      .kernel_name = "k", .launch_index = 2, .function = "f", .pc = pc, .stall = stall, .samples = samples};
  if (line > 0) row.file = "/src/k.py", row.line = line;
  return row;
}

TEST(KernelHotLines, SamplesOfALineAddUpAndItsMainStallIsNamed) {
  TraceBuilder builder;
  for (const KernelLineRow& row :
       {SampledLine(0, 7, "wait", 10), SampledLine(16, 7, "long_scoreboard", 30), SampledLine(16, 7, "selected", 60),
        SampledLine(32, 9, "selected", 20), SampledLine(48, 0, "no_instructions", 80)})
    builder.Add(row);
  Analysed run({std::make_shared<const Trace>(std::move(builder).Finish())});
  const auto table = run["kernel_hot_lines"];
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.Text(0, "file"), "/src/k.py");
  EXPECT_EQ(table.Int(0, "line"), 7);
  EXPECT_EQ(table.Int(0, "pc"), 16) << "its busiest instruction";
  EXPECT_EQ(table.Int(0, "samples"), 100);
  EXPECT_NEAR(table.Real(0, "share"), 0.5, 1e-9);
  EXPECT_EQ(table.Text(0, "stall"), "long_scoreboard") << "warps that went on do not wait";
  EXPECT_NEAR(table.Real(0, "stall_share"), 0.3, 1e-9);
  EXPECT_EQ(table.Text(0, "waits_for"), "global or local memory");
  EXPECT_TRUE(table.IsNull(1, "line")) << "an instruction without a line stands for itself";
  EXPECT_EQ(table.Int(1, "pc"), 48);
  EXPECT_EQ(table.Text(1, "waits_for"), "its next instruction");
  EXPECT_TRUE(table.IsNull(2, "stall"));
}

TEST(KernelHotLines, TenOfALaunch) {
  TraceBuilder builder;
  for (int64_t line = 1; line <= 12; ++line) builder.Add(SampledLine(16 * line, line, "wait", line));
  Analysed run({std::make_shared<const Trace>(std::move(builder).Finish())});
  const auto table = run["kernel_hot_lines"];
  ASSERT_EQ(table.rows(), 10U);
  EXPECT_EQ(table.Int(0, "line"), 12);
  EXPECT_NEAR(table.Real(0, "share"), 12.0 / 78, 1e-9) << "of all samples, also of lines that are not listed";
}

}  // namespace
}  // namespace gapless::internal
