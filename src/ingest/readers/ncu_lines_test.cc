// SPDX-License-Identifier: Apache-2.0
// Samples of instructions in reports of Nsight Compute, and the lines of machine code.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/strings.h"
#include "ingest/readers/ncu_rep/line_table.h"
#include "ingest/readers/ncu_rep/testing/code.h"
#include "ingest/testing/read.h"

namespace gapless::internal::ncu_rep::testing {
namespace {

using internal::testing::ReadText;

constexpr uint64_t kProgram = 77, kBegin = 0x7f0000001000;

std::string Where(const LineTable& table, uint64_t offset) {
  const auto line = table.Find(1, offset);
  return line ? StrCat(line->file, ':', line->line) : "";
}

TEST(NcuLineTable, FindsTheLineOfEachInstruction) {
  const std::string elf = CodeWithLines();
  const LineTable table = LineTable::Of(elf);
  EXPECT_EQ(table.SizeOf(1), 48U);
  EXPECT_EQ(Where(table, 0), "/src/k.cu:10");
  EXPECT_EQ(Where(table, 8), "/src/k.cu:10") << "a row holds up to the next";
  EXPECT_EQ(Where(table, 16), "/src/k.cu:15");
  EXPECT_EQ(Where(table, 47), "/lib/math.h:7");
  EXPECT_EQ(Where(table, 48), "") << "behind the end";
  EXPECT_FALSE(table.Find(0, 0)) << "another symbol, in another section";
  EXPECT_FALSE(table.Find(9, 0));
}

// Lines whose address nothing fills in belong to no function.
TEST(NcuLineTable, LinesWithoutAFunctionAreLeftOut) {
  const LineTable table = LineTable::Of(Elf(LineProgram(ThreeLines()), 1));
  EXPECT_EQ(Where(table, 0), "");
}

TEST(NcuLineTable, DamagedCodeIsReadWithoutHarm) {
  const std::string good = CodeWithLines();
  std::mt19937 random(7);
  int found = 0;
  for (int copy = 0; copy < 5000; ++copy) {
    std::string bytes = good;
    for (unsigned edit = 0; edit <= random() % 4; ++edit) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (copy % 8 == 0) bytes.resize(random() % bytes.size());
    const LineTable table = LineTable::Of(bytes);
    for (uint64_t offset = 0; offset < 64; offset += 16) found += table.Find(1, offset).has_value();
  }
  EXPECT_GT(found, 5000) << "most damage should cost a line, not all";
}

std::string ReportWithSamples(const std::string& elf) {
  const std::vector<std::string> names = {"smsp__pcsamp_sample_count", "smsp__pcsamp_warps_issue_stalled_wait",
                                          "smsp__pcsamp_warps_issue_stalled_wait_not_issued", "inst_executed",
                                          "pmsampling:sm__cycles_active.avg"};
  const Message function = Message().Text(1, "_Z4gemmPf").Int(2, kBegin).Int(3, 1);
  const Message code = Message().Int(1, kProgram).Text(4, elf).Add(9, Message().Add(1, function));
  Message launch = Launch("gemm(float *)");
  launch.Add(15, Message().Int(1, kProgram));
  launch.Add(13, Message().Int(1, 0).Add(3, At(kBegin, 5)).Add(3, At(kBegin + 32, 9)).Add(3, At(kBegin + 16, 0)));
  launch.Add(13, Message().Int(1, 1).Add(3, At(kBegin, 5)).Add(3, At(kBegin + 32, 6)));
  launch.Add(13, Message().Int(1, 2).Add(3, At(kBegin, 4)));
  launch.Add(13, Message().Int(1, 3).Add(3, At(kBegin, 64)).Add(3, At(kBegin + 32, 32)));
  launch.Add(13, Message().Int(1, 4).Add(3, At(1, 1)));
  Block sources{.results = {}};
  sources.behind = Sized(code.bytes());
  std::string file = Report({{.names = names, .results = {launch}}});
  // The block of the code stands before that of the launch; its header says 1 source.
  Message header;
  header.Int(1, 1).Int(2, 0).Int(5, sources.behind.size());
  file.insert(4 + Sized(Message().Int(1, 7).bytes()).size(), Sized(header.bytes()) + sources.behind);
  return file;
}

std::vector<std::string> LinesOf(const Trace& trace) {
  std::vector<std::string> rows;
  const KernelLineTable& table = trace.kernel_lines;
  for (size_t row = 0; row < table.size(); ++row)
    rows.push_back(StrCat(table.launch_index[row], ' ', trace.Text(table.function[row]), '+', table.pc[row], ' ',
                          trace.Text(table.file[row]), ':', table.line[row] == kAbsent ? 0 : table.line[row], ' ',
                          trace.Text(table.stall[row]), ' ', table.samples[row], " of ", table.executed[row]));
  return rows;
}

TEST(NcuReport, SamplesHaveTheirInstructionLineAndReason) {
  const std::vector<std::string> expected = {
      "0 gemm+0 /src/k.cu:10 wait 5 of 64", "0 gemm+32 /lib/math.h:7 wait 6 of 32", "0 gemm+32 /lib/math.h:7  3 of 32"};
  EXPECT_EQ(LinesOf(ReadText(ReportWithSamples(CodeWithLines()))), expected)
      << "samples without a reason are counted, those of warps that could not issue not again";
}

TEST(NcuReport, CodeWithoutLinesGivesPlaces) {
  const auto rows = LinesOf(ReadText(ReportWithSamples("no machine code")));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1], "0 gemm+32 :0 wait 6 of 32");
}

}  // namespace
}  // namespace gapless::internal::ncu_rep::testing
