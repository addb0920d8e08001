// SPDX-License-Identifier: Apache-2.0
// Tests Kineto traces of Intel's GPUs and of Gaudi. tests/data/make_accelerator_samples.py made the samples up by hand
// and says after what.
#include <gtest/gtest.h>

#include "ingest/load.h"
#include "ingest/reader.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

using testing::ReadFrom;

Trace ReadSample(const char* path) {
  auto source = OpenFile(path);
  EXPECT_TRUE(source) << "run from the project's folder";
  return source ? ReadFrom(**source) : Trace{};
}

TEST(KinetoOfXpu, KernelsCopiesLaunchesAndSteps) {
  const Trace trace = ReadSample("tests/data/xpu.pt.trace.json");
  const GpuOpTable& ops = trace.gpu_ops;
  ASSERT_EQ(ops.size(), 25U);
  EXPECT_EQ(trace.steps.size(), 5U);
  const std::pair<std::string_view, ApiKind> kExpected[] = {{"Memcpy M2D (Memory -> Device)", ApiKind::kMemcpy},
                                                            {"gemm_kernel", ApiKind::kKernelLaunch},
                                                            {"", ApiKind::kKernelLaunch},
                                                            {"oneccl_allreduce_ring", ApiKind::kKernelLaunch},
                                                            {"Memset (0 -> Device)", ApiKind::kMemset}};
  for (size_t row = 0; row < 5; ++row) {
    EXPECT_TRUE(trace.Text(ops.name[row]).starts_with(kExpected[row].first)) << trace.Text(ops.name[row]);
    ASSERT_TRUE(ops.launch[row].valid()) << row;
    EXPECT_EQ(trace.slices.api[ops.launch[row].value], kExpected[row].second) << row;
    EXPECT_EQ(ops.device[row], 0);
    EXPECT_EQ(ops.stream[row], 64) << "the queue stands for the stream";
  }
  EXPECT_EQ(ops.copy_kind[0], CopyKind::kHtoDPageable) << "M: memory of the system";
  EXPECT_EQ(ops.bytes[0], 4096);
  EXPECT_EQ(ops.op_class[1], GpuOpClass::kGemm);
  EXPECT_EQ(ops.op_class[2], GpuOpClass::kPointwise);
  EXPECT_EQ(ops.op_class[3], GpuOpClass::kCommunication);
  EXPECT_EQ(trace.collectives.size(), 5U);
}

TEST(KinetoOfXpu, AWaitIsOneRow) {
  const Trace trace = ReadSample("tests/data/xpu.pt.trace.json");
  size_t waits = 0;
  for (size_t row = 0; row < trace.syncs.size(); ++row)
    if (trace.syncs.dur_ns[row] >= 100'000) ++waits;
  EXPECT_EQ(waits, 5U) << "the call and the recorder's row of each of five waits";
}

TEST(KinetoOfXpu, TheRecorderIsNamed) {
  for (const auto& [path, name] :
       {std::pair("tests/data/xpu.pt.trace.json", "xpu"), std::pair("tests/data/hpu.pt.trace.json", "hpu")}) {
    const Trace trace = ReadSample(path);
    std::string_view said;
    for (size_t row = 0; row < trace.environment.size(); ++row)
      if (trace.Text(trace.environment.key[row]) == "accelerator") said = trace.Text(trace.environment.value[row]);
    EXPECT_EQ(said, name);
  }
}

TEST(KinetoOfHpu, WorkOfTheDeviceAndSteps) {
  const Trace trace = ReadSample("tests/data/hpu.pt.trace.json");
  ASSERT_EQ(trace.gpu_ops.size(), 15U);
  EXPECT_EQ(trace.steps.size(), 5U);
  EXPECT_EQ(trace.gpu_ops.kind[0], GpuOpKind::kKernel);
  EXPECT_EQ(trace.gpu_ops.op_class[0], GpuOpClass::kGemm);
  EXPECT_EQ(trace.gpu_ops.op_class[2], GpuOpClass::kCommunication);
  EXPECT_EQ(trace.collectives.size(), 5U);
}

}  // namespace
}  // namespace gapless::internal
