// SPDX-License-Identifier: Apache-2.0
// A table as PyTorch 2 prints it (tests/data/summary.key_averages.txt), and others of the same kind.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

std::string PrintedText() {
  std::ifstream in("tests/data/summary.key_averages.txt");
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<Trace> TraceOfPrinted(const std::string& text) {
  MemorySource source(text);
  ThreadPool pool(1);
  return ReadTrace(source, {.pool = pool});
}

TEST(OpTable, KernelsAreOfTheDeviceAndOperatorsOfTheHost) {
  const auto trace = TraceOfPrinted(PrintedText());
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->info.format, "op_table");
  ASSERT_EQ(trace->host_functions.size(), 3U);
  EXPECT_EQ(trace->Text(trace->host_functions.function[0]), "aten::mm");
  EXPECT_EQ(trace->host_functions.self_ns[0], 60'000'000);
  EXPECT_EQ(trace->host_functions.total_ns[0], 70'000'000);
  EXPECT_EQ(trace->host_functions.calls[0], 10);
  ASSERT_EQ(trace->kernel_metrics.size(), 6U) << "the operator's own time is that of its kernels, and counts once";
  EXPECT_EQ(trace->Text(trace->kernel_metrics.kernel_name[0]), "void gemm_kernel<128, 2>(float*, float const*, i...");
}

// Comments and logs hold such tables, too; the kind of the device stands in the titles.
TEST(OpTable, IsReadBehindAPrefixAndOfAnyDevice) {
  std::string text = "some log\n# ";
  for (const char c : PrintedText()) text += c == '\n' ? std::string("\n# ") : std::string(1, c);
  for (size_t at = 0; (at = text.find("CUDA", at)) != text.npos;) text.replace(at, 4, "MTIA");
  const auto trace = TraceOfPrinted(text);
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->kernel_metrics.size(), 6U);
  EXPECT_EQ(trace->host_functions.size(), 3U);
}

TEST(OpTable, WithoutItsLastLineItSaysThatItWasCut) {
  const std::string whole = PrintedText();
  const auto trace = TraceOfPrinted(whole.substr(0, whole.find("Memcpy")));
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_TRUE(EndsInTheMiddle(*trace));
  EXPECT_EQ(trace->kernel_metrics.size(), 3U);
}

}  // namespace
}  // namespace gapless::internal
