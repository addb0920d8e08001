// SPDX-License-Identifier: Apache-2.0
#include "analyses/kernel_names.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(KernelNames, WholeNamesOfTwoProfilersAgree) {
  const std::string kineto =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, T)";
  const std::string ncu =
      "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2)";
  EXPECT_EQ(PlainKernelName(kineto), PlainKernelName(ncu));
  EXPECT_NE(PlainKernelName(kineto), PlainKernelName("void at::native::vectorized_elementwise_kernel<8, X>(int)"));
  EXPECT_EQ(PlainKernelName("void (anonymous namespace)::softmax<float>(float*)"), "softmax<float>");
}

TEST(KernelNames, FunctionAlone) {
  EXPECT_EQ(KernelFunction("void gemm<float, (int)64>(const float *, float *)"), "gemm");
  EXPECT_EQ(KernelFunction("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(T)"), "reduce_kernel");
  EXPECT_EQ(KernelFunction("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_EQ(KernelFunction("triton_poi_fused_0"), "triton_poi_fused_0");
  EXPECT_EQ(KernelFunction(""), "");
}

}  // namespace
}  // namespace gapless::internal
