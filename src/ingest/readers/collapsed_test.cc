// SPDX-License-Identifier: Apache-2.0
// tests/data/profile.folded: py-spy's raw output of a small program, 169 samples.
#include <gtest/gtest.h>

#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

int64_t FoldedRow(const Trace& trace, std::string_view function) {
  for (size_t row = 0; row < trace.host_functions.size(); ++row)
    if (trace.Text(trace.host_functions.function[row]) == function) return static_cast<int64_t>(row);
  return -1;
}

Trace ReadFolded(std::string text) {
  MemorySource source(std::move(text));
  return testing::ReadFrom(source);
}

TEST(Collapsed, CountsSamplesAndNoTime) {
  auto source = OpenFile("tests/data/profile.folded");
  ASSERT_TRUE(source);
  const Trace trace = testing::ReadFrom(**source);
  ASSERT_EQ(trace.samples.size(), 8U);
  const auto row = static_cast<size_t>(FoldedRow(trace, "Dataset.__getitem__"));
  EXPECT_EQ(trace.host_functions.self_samples[row], 104 + 14);
  EXPECT_EQ(trace.host_functions.self_ns[row], kAbsent) << "nobody knows how long a sample stands for";
  const auto module = static_cast<size_t>(FoldedRow(trace, "<module>"));
  EXPECT_EQ(trace.host_functions.total_samples[module], 169 - 3);
  EXPECT_EQ(trace.host_functions.self_samples[module], 7);
}

TEST(Collapsed, LinesThatRanAreRows) {
  auto source = OpenFile("tests/data/profile.folded");
  ASSERT_TRUE(source);
  const Trace trace = testing::ReadFrom(**source);
  int64_t samples = 0;
  for (size_t row = 0; row < trace.host_functions.size(); ++row)
    if (trace.host_functions.function[row] == StringId::kNone && trace.host_functions.line[row] == 14)
      samples = trace.host_functions.self_samples[row];
  EXPECT_EQ(samples, 104);
}

TEST(Collapsed, AustinCountsMicroseconds) {
  const Trace trace = ReadFolded("# austin: 3.6.0\n# mode: wall\nP12;T34;/srv/a.py:main:5;/srv/a.py:load:9 1500\n");
  ASSERT_EQ(trace.samples.size(), 1U);
  EXPECT_EQ(trace.samples.weight_ns[0], 1'500'000);
  EXPECT_EQ(trace.samples.tid[0], 34);
  const auto row = static_cast<size_t>(FoldedRow(trace, "load"));
  EXPECT_EQ(trace.host_functions.self_ns[row], 1'500'000);
  EXPECT_EQ(trace.Text(trace.host_functions.file[row]), "/srv/a.py");
}

TEST(Collapsed, AFunctionCountsOnceInAStack) {
  const Trace trace = ReadFolded("a;b;a 3\na;b 4\n");
  const auto row = static_cast<size_t>(FoldedRow(trace, "a"));
  EXPECT_EQ(trace.host_functions.total_samples[row], 7);
  EXPECT_EQ(trace.host_functions.self_samples[row], 3);
}

TEST(Collapsed, ALineThatIsNoneIsCounted) {
  std::string text;
  for (int line = 0; line < 100; ++line) text += "a;b 3\n";
  const Trace trace = ReadFolded(text + "a;b\n");
  EXPECT_EQ(trace.samples.size(), 100U);
  ASSERT_GE(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.Text(trace.read_stats.kind[0]), "bad_record");
}

TEST(Collapsed, TextWithNumbersIsNone) {
  MemorySource source("step 1 loss 2\nstep 2 loss 1\nend; 3\n");
  ThreadPool pool(1);
  EXPECT_FALSE(ReadTrace(source, {.pool = pool}));
}

}  // namespace
}  // namespace gapless::internal
