// SPDX-License-Identifier: Apache-2.0
// Reports as nsys stats writes them (tests/data/nsys_stats): printed at the end of a log, and as files.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "ingest/input_paths.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "trace/lost_work.h"

namespace gapless::internal {
namespace {

constexpr const char* kPrinted = "tests/data/nsys_stats/printed.log";
constexpr const char* kGpuReport = "tests/data/nsys_stats/report_cuda_gpu_trace.csv";

std::string TextOfReport(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<Trace> TraceOfReport(const std::string& text) {
  MemorySource source(text);
  ThreadPool pool(1);
  return ReadTrace(source, {.pool = pool});
}

double MetricOf(const Trace& trace, std::string_view kernel, std::string_view metric) {
  const KernelMetricTable& rows = trace.kernel_metrics;
  for (size_t row = 0; row < rows.size(); ++row)
    if (trace.Text(rows.kernel_name[row]) == kernel && trace.Text(rows.metric[row]) == metric) return rows.value[row];
  return -1;
}

int64_t NoticesOf(const Trace& trace, std::string_view kind) {
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    if (trace.Text(trace.read_stats.kind[row]) == kind) return trace.read_stats.count[row];
  return 0;
}

TEST(NsysStats, SumsOfALogAreOfTheDeviceAndOfTheHost) {
  const auto trace = TraceOfReport(TextOfReport(kPrinted));
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->info.format, "nsys_stats");
  EXPECT_EQ(MetricOf(*trace, "add(const float *, float *, int)", "summary.total"), 8'000'000);
  EXPECT_EQ(MetricOf(*trace, "Memcpy HtoD (Managed)", "summary.calls"), 300);
  EXPECT_EQ(MetricOf(*trace, "Memcpy DtoH", "duration"), 100'000);
  ASSERT_EQ(trace->host_functions.size(), 3U) << "calls of the system are none of CUDA";
  EXPECT_EQ(trace->Text(trace->host_functions.function[1]), "cudaMalloc");
  EXPECT_EQ(trace->host_functions.total_ns[1], 7'000'000);
  EXPECT_EQ(trace->host_functions.calls[0], 100);
}

// German prints 1.234,5 where English prints 1,234.5.
TEST(NsysStats, NumbersOfOtherLanguagesAreTheSame) {
  std::string text = TextOfReport(kPrinted);
  const auto is_digit = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  for (size_t at = 1; at < text.size(); ++at)
    if (is_digit(at - 1) && is_digit(at + 1) && (text[at] == ',' || text[at] == '.'))
      text[at] = text[at] == ',' ? '.' : ',';
  const auto trace = TraceOfReport(text);
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(MetricOf(*trace, "add(const float *, float *, int)", "summary.total"), 8'000'000);
  ASSERT_EQ(trace->host_functions.size(), 3U);
  EXPECT_EQ(trace->host_functions.total_ns[0], 12'000'000);
}

TEST(NsysStats, ASecondRunInOneLogIsCountedAndNotAdded) {
  const std::string text = TextOfReport(kPrinted);
  const auto trace = TraceOfReport(text + text);
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(MetricOf(*trace, "add(const float *, float *, int)", "summary.calls"), 100);
  EXPECT_EQ(trace->host_functions.size(), 3U);
  EXPECT_EQ(NoticesOf(*trace, "other_tables"), 3);
}

TEST(NsysStats, EventsBecomeATimeline) {
  const auto trace = TraceOfReport(TextOfReport(kGpuReport));
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->info.format, "nsys") << "the rows mean what those of a recording mean";
  const GpuOpTable& ops = trace->gpu_ops;
  ASSERT_EQ(ops.size(), 4U);
  EXPECT_EQ(trace->Text(ops.name[0]), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(ops.bytes[0], 4'194'304) << "from rate and duration, which are more exact than the printed size";
  EXPECT_EQ(trace->Text(ops.name[1]), "add(float *, float *, int)");
  EXPECT_EQ(ops.grid_x[1], 1024);
  EXPECT_EQ(ops.registers[1], 32);
  EXPECT_EQ(ops.copy_kind[2], CopyKind::kHtoDManaged);
  EXPECT_EQ(ops.kind[3], GpuOpKind::kMemset);
  ASSERT_EQ(trace->devices.size(), 1U);
  EXPECT_EQ(trace->Text(trace->devices.name[0]), "NVIDIA RTX A4500");
}

// nsys writes a file for each report: calls beside the work of the GPU belong to it.
TEST(NsysStats, ReportsOfOneRecordingAreReadTogether) {
  const auto source = OpenFile(kGpuReport);
  ASSERT_TRUE(source);
  ThreadPool pool(1);
  const auto trace = ReadTrace(**source, {.pool = pool});
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->slices.size(), 3U);
  EXPECT_TRUE(trace->gpu_ops.launch[1].valid()) << "a kernel knows its launch";
  const auto inputs =
      InputPathsOf(std::vector<std::string>{kGpuReport, "tests/data/nsys_stats/report_cuda_api_trace.csv"});
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->size(), 1U);
}

TEST(NsysStats, ATableThatEndsInTheMiddleIsSaid) {
  const std::string whole = TextOfReport(kGpuReport);
  const auto trace = TraceOfReport(whole.substr(0, whole.find(",Managed")));
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_TRUE(EndsInTheMiddle(*trace));
  EXPECT_EQ(trace->gpu_ops.size(), 2U);
}

// In a language with a comma in numbers, nsys has printed 0 for each start.
TEST(NsysStats, EventsWithoutTimesAreNoTimeline) {
  std::string text = TextOfReport(kGpuReport);
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1))
    text.replace(at + 1, text.find(',', at) - at - 1, "0");
  const auto alone = TraceOfReport(text);
  EXPECT_FALSE(alone);
  const auto beside = TraceOfReport(TextOfReport(kPrinted) + "\n" + text);
  ASSERT_TRUE(beside) << beside.error().ToString();
  EXPECT_EQ(beside->info.format, "nsys_stats");
}

TEST(NsysStats, BehindALongLogTheyAreFound) {
  const std::string printed = TextOfReport(kPrinted);
  ASSERT_FALSE(printed.empty()) << "run from the project's folder";
  std::string log;
  while (log.size() < 300'000) log += "step 12: loss 0.25\n";
  const auto found = TraceOfReport(log + printed), alone = TraceOfReport(printed);
  ASSERT_TRUE(found) << found.error().ToString();
  ASSERT_TRUE(alone);
  EXPECT_GT(alone->kernel_metrics.size(), 0U);
  EXPECT_EQ(found->kernel_metrics.size(), alone->kernel_metrics.size());
  EXPECT_FALSE(TraceOfReport(log));
  EXPECT_FALSE(TraceOfReport(std::string("\0", 1) + log + printed)) << "no text: its end is not looked at";
}

}  // namespace
}  // namespace gapless::internal
