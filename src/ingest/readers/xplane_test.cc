// SPDX-License-Identifier: Apache-2.0
// A made-up XSpace of two steps on a GPU (tests/data/make_rocm_samples.py).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

std::string SpaceBytes() {
  std::ifstream in("tests/data/rocm/jax_gpu.xplane.pb", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<Trace> TraceOfSpace(const std::string& bytes) {
  MemorySource source(bytes);
  ThreadPool pool(1);
  return ReadTrace(source, {.pool = pool});
}

TEST(XPlane, HasStreamsStepsAndWhatOperationsSayOfThemselves) {
  const auto trace = TraceOfSpace(SpaceBytes());
  ASSERT_TRUE(trace) << trace.error().ToString();
  ASSERT_EQ(trace->steps.size(), 2U);
  EXPECT_EQ(trace->steps.number[1], 1);
  EXPECT_EQ(trace->steps.dur_ns[0], 10'000'000);
  const GpuOpTable& ops = trace->gpu_ops;
  ASSERT_EQ(ops.size(), 4U);
  EXPECT_EQ(ops.kind[0], GpuOpKind::kMemcpy);
  EXPECT_EQ(ops.bytes[0], 1'048'576);
  EXPECT_EQ(ops.stream[1], 13);
  EXPECT_EQ(ops.dur_ns[1], 6'000'000);
  EXPECT_EQ(ops.grid_x[1], 128);
  EXPECT_EQ(ops.block_x[1], 256);
  EXPECT_EQ(ops.registers[1], 64);
  EXPECT_EQ(ops.shared_bytes[1], 1024);
  ASSERT_TRUE(ops.launch[1].valid());
  EXPECT_EQ(trace->Text(trace->slices.name[ops.launch[1].value]), "cuLaunchKernel");
  EXPECT_EQ(trace->info.host, "node-1");
  EXPECT_EQ(trace->info.start_unix_ns, 1'700'000'000'000'000'000);
}

TEST(XPlane, IsRecognisedByItsFirstPlaneWhateverItsNumber) {
  EXPECT_TRUE(TraceOfSpace(SpaceBytes()));
  std::string other = SpaceBytes();
  const size_t at = other.find("/device:GPU:0");
  ASSERT_NE(at, other.npos);
  other[at] = '_';
  EXPECT_FALSE(TraceOfSpace(other));
}

// A plane is one message: one that is cut yields the lines before the cut, whose names stand behind them.
TEST(XPlane, ACutFileYieldsWhatItHeldAndSaysSo) {
  const std::string whole = SpaceBytes();
  const size_t host = whole.find("/host:CPU");
  ASSERT_NE(host, whole.npos);
  const auto trace = TraceOfSpace(whole.substr(0, host + 60));
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->gpu_ops.size(), 4U);
  EXPECT_TRUE(EndsInTheMiddle(*trace));
}

}  // namespace
}  // namespace gapless::internal
