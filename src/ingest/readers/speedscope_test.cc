// SPDX-License-Identifier: Apache-2.0
// tests/data/profile.speedscope.json: five samples of 10 ms on one thread, events over 30 ms on another, and a profile
// in bytes.
#include <gtest/gtest.h>

#include "ingest/testing/read.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

Trace ReadSpeedscope() {
  auto source = OpenFile("tests/data/profile.speedscope.json");
  EXPECT_TRUE(source);
  return testing::ReadFrom(**source);
}

TEST(Speedscope, EachSampleStandsForItsTime) {
  const Trace trace = ReadSpeedscope();
  const SampleTable& samples = trace.samples;
  ASSERT_EQ(samples.size(), 8U);
  int64_t first = 0, second = 0;
  for (size_t row = 0; row < samples.size(); ++row) (samples.tid[row] == 1 ? first : second) += samples.weight_ns[row];
  EXPECT_EQ(first, 50 * kMillisecond);
  EXPECT_EQ(second, 30 * kMillisecond);
}

// main is in all samples; __getitem__ in four of them, twice in one, and the innermost in two.
TEST(Speedscope, FunctionsAreSumsOfSamples) {
  const Trace trace = ReadSpeedscope();
  const HostFunctionTable& functions = trace.host_functions;
  ASSERT_EQ(functions.size(), 3U);
  EXPECT_EQ(functions.self_ns[0], 20 * kMillisecond + 15 * kMillisecond) << "most own time first";
  EXPECT_EQ(trace.Text(functions.function[1]), "main");
  EXPECT_EQ(functions.self_ns[1], 10 * kMillisecond + 15 * kMillisecond);
  EXPECT_EQ(functions.total_ns[1], 80 * kMillisecond);
  EXPECT_EQ(functions.self_ns[2], 20 * kMillisecond);
  EXPECT_EQ(functions.total_ns[2], 40 * kMillisecond) << "it counts once in a stack in which it stands twice";
}

TEST(Speedscope, StacksAreATree) {
  const Trace trace = ReadSpeedscope();
  EXPECT_EQ(trace.stacks.size(), 5U);  // main; below it __getitem__ and sleep; below the former sleep and itself
  const StackId innermost = trace.samples.stack[trace.samples.size() - 1];
  ASSERT_TRUE(innermost.valid());
}

TEST(Speedscope, AUnitThatIsNoTimeIsLeftOut) {
  const Trace trace = ReadSpeedscope();
  ASSERT_EQ(trace.read_stats.size(), 1U);
  EXPECT_EQ(trace.Text(trace.read_stats.text[0]), "a profile whose unit is no time was left out");
}

TEST(Speedscope, AFrameThatIsNotThereIsNoSample) {
  MemorySource source(
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"}]},
    "profiles":[{"type":"sampled","unit":"seconds","samples":[[0],[7]],"weights":[1,1]}]})");
  const Trace trace = testing::ReadFrom(source);
  EXPECT_EQ(trace.samples.size(), 1U);
}

}  // namespace
}  // namespace gapless::internal
