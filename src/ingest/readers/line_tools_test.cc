// SPDX-License-Identifier: Apache-2.0
// Profilers of lines and of the host's memory: each file was written by its tool of the same small program.
#include <gtest/gtest.h>

#include "ingest/random_access.h"
#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

Trace ReadLines(const std::string& path) {
  auto source = OpenFile(path);
  EXPECT_TRUE(source);
  return testing::ReadFrom(**source);
}

// The row about a line; the last of several.
size_t RowOfLine(const Trace& trace, int64_t line) {
  size_t found = SIZE_MAX;
  for (size_t row = 0; row < trace.host_functions.size(); ++row)
    if (trace.host_functions.function[row] == StringId::kNone && trace.host_functions.line[row] == line) found = row;
  return found;
}

TEST(LineProfiler, ThePickleIsReadAsData) {
  const Trace trace = ReadLines("tests/data/lines.lprof");
  const size_t row = RowOfLine(trace, 14);
  ASSERT_NE(row, SIZE_MAX);
  EXPECT_EQ(trace.host_functions.calls[row], 6'000'000);
  EXPECT_EQ(trace.host_functions.self_ns[row], 2'677'825'478);
}

TEST(LineProfiler, TheTableSaysTheSameAsThePickle) {
  const Trace pickle = ReadLines("tests/data/lines.lprof"), table = ReadLines("tests/data/lines.txt");
  ASSERT_EQ(pickle.host_functions.size(), table.host_functions.size());
  for (size_t row = 0; row < table.host_functions.size(); ++row) {
    EXPECT_EQ(pickle.host_functions.line[row], table.host_functions.line[row]);
    EXPECT_EQ(pickle.host_functions.calls[row], table.host_functions.calls[row]);
    if (table.host_functions.self_ns[row] == kAbsent) continue;
    EXPECT_NEAR(static_cast<double>(pickle.host_functions.self_ns[row]),
                static_cast<double>(table.host_functions.self_ns[row]), 51)
        << "the table has tenths of its unit";
  }
}

// The same pickle with the name of another class.
TEST(LineProfiler, NoOtherClassIsMade) {
  auto source = OpenFile("tests/data/lines.lprof");
  ASSERT_TRUE(source);
  auto bytes = ReadAll(**source);
  ASSERT_TRUE(bytes);
  std::string other = *bytes;
  const size_t at = other.find("line_profiler.line_profiler");
  ASSERT_NE(at, std::string::npos);
  other[at] = 'L';
  MemorySource changed(other);
  ThreadPool pool(1);
  const auto trace = ReadTrace(changed, {.pool = pool});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("would run code"), std::string::npos);
  EXPECT_NE(trace.error().hint.find("python -m line_profiler"), std::string::npos);
}

TEST(MemoryProfiler, MemoryOverTimeIsACounter) {
  const Trace trace = ReadLines("tests/data/mprofile.dat");
  ASSERT_GT(trace.counters.size(), 2U);
  EXPECT_EQ(trace.Text(trace.counters.name[0]), "host memory");
  EXPECT_DOUBLE_EQ(trace.counters.value[0], 2.878906 * 1048576);
  bool calls = false;
  for (size_t row = 0; row < trace.host_functions.size(); ++row)
    calls = calls || (trace.Text(trace.host_functions.function[row]) == "__main__.__getitem__" &&
                      trace.host_functions.calls[row] == 6);
  EXPECT_TRUE(calls);
}

TEST(MemoryProfiler, TheTableHasLines) {
  const Trace trace = ReadLines("tests/data/memory_lines.txt");
  const size_t row = RowOfLine(trace, 14);
  ASSERT_NE(row, SIZE_MAX);
  EXPECT_EQ(trace.host_functions.calls[row], 80'000);
  EXPECT_EQ(trace.host_functions.bytes[row], 73'400) << "0.070 MiB";
}

TEST(Memray, PlacesHaveBytes) {
  const Trace trace = ReadLines("tests/data/memray.json");
  const size_t row = RowOfLine(trace, 36);
  ASSERT_NE(row, SIZE_MAX);
  EXPECT_EQ(trace.host_functions.bytes[row], 1'974'240);
}

TEST(Memray, TheCsvHasTheInnermostFrame) {
  const Trace trace = ReadLines("tests/data/memray.csv");
  const size_t row = RowOfLine(trace, 502);  // a line of pathlib.py, innermost in the second line
  ASSERT_NE(row, SIZE_MAX);
  EXPECT_EQ(trace.host_functions.bytes[row], 710);
}

TEST(Scalene, SharesAreTimesOfTheRun) {
  const Trace trace = ReadLines("tests/data/scalene.json");
  const size_t row = RowOfLine(trace, 14);
  ASSERT_NE(row, SIZE_MAX);
  // 5.949 + 2.040 + 23.625 % of 1.5115 s
  EXPECT_NEAR(static_cast<double>(trace.host_functions.self_ns[row]), 477.84e6, 0.05e6);
  ASSERT_EQ(trace.counters.size(), 2U);
}

TEST(Proton, KernelsAreSummedOverTheirPaths) {
  const Trace trace = ReadLines("tests/data/matmul.hatchet");
  int64_t kernel_ns = 0, scope_ns = 0;
  for (size_t row = 0; row < trace.host_functions.size(); ++row) {
    const std::string_view name = trace.Text(trace.host_functions.function[row]);
    if (name == "softmax_kernel") kernel_ns = trace.host_functions.self_ns[row];
    if (name == "step") scope_ns = trace.host_functions.total_ns[row];
  }
  EXPECT_EQ(kernel_ns, 4'000'000);
  EXPECT_EQ(scope_ns, 9'000'000);
  ASSERT_EQ(trace.samples.size(), 3U);
  ASSERT_EQ(trace.kernel_metrics.size(), 3U) << "operations of kernels and of the scope around one";
}

TEST(Pyinstrument, TheTreeHasOwnTimes) {
  const Trace trace = ReadLines("tests/data/pyinstrument.json");
  int64_t all = 0;
  for (size_t row = 0; row < trace.host_functions.size(); ++row) all += trace.host_functions.self_ns[row];
  EXPECT_NEAR(static_cast<double>(all), 2.053677e9, 1e5) << "own times add up to the root's";
}

TEST(Pyinstrument, TheSessionHasSamplesInTheirOrder) {
  const Trace trace = ReadLines("tests/data/profile.pyisession");
  EXPECT_EQ(trace.samples.size(), 120U);
  EXPECT_GT(trace.samples.ts_ns[1], trace.samples.ts_ns[0]);
  EXPECT_EQ(trace.samples.tid[0], 140653353106304);
}

// The raw events and the timeline are two forms of one recording.
TEST(MemoryTimeline, BothFormsHaveTheSamePeak) {
  const auto peak = [](const Trace& trace) {
    int64_t most = 0;
    for (const int64_t total : trace.memory_events.total_allocated) most = std::max(most, total);
    return most;
  };
  const Trace timeline = ReadLines("tests/data/memory_timeline.json");
  EXPECT_EQ(peak(timeline), 430'240);
  EXPECT_EQ(peak(ReadLines("tests/data/memory_timeline.raw.json.gz")), 430'240);
  int64_t parameters = 0;
  for (size_t row = 0; row < timeline.memory_events.size(); ++row)
    if (timeline.Text(timeline.memory_events.category[row]) == "parameter")
      parameters += timeline.memory_events.bytes[row];
  EXPECT_EQ(parameters, 74'784) << "weights and biases of 64x256 and 256x8 in 4 bytes";
}

}  // namespace
}  // namespace gapless::internal
