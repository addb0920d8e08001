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

namespace {

TEST(KernelLibrary, WhoseItIs) {
  EXPECT_EQ(KernelLibrary("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTN"), "cublas");
  EXPECT_EQ(KernelLibrary("volta_scudnn_128x64_relu_medium_nn_v1"), "cudnn");
  EXPECT_EQ(KernelLibrary("triton_red_fused_native_layer_norm_3"), "triton");
  EXPECT_EQ(KernelLibrary("void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>()"), "flash");
  EXPECT_EQ(KernelLibrary("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI16x16x16x1_SN"), "hipblaslt");
  EXPECT_EQ(KernelLibrary("void at::native::vectorized_elementwise_kernel<4>(int)"), "pytorch");
  EXPECT_EQ(KernelLibrary("my_own_kernel"), "");
}

TEST(KernelLibrary, TheGenerationADeviceMustHave) {
  EXPECT_EQ(LeastComputeMajor("volta_scudnn_128x64_stridedB_splitK_xregs_large_nn_v1"), 7);
  EXPECT_EQ(LeastComputeMajor("turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1"), 7);
  EXPECT_EQ(LeastComputeMajor("ampere_sgemm_128x64_nn"), 8);
  EXPECT_EQ(LeastComputeMajor("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(T)"), 8);
  EXPECT_EQ(LeastComputeMajor("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw_tilesize128x32x64"), 8);
  EXPECT_EQ(LeastComputeMajor("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTN"), 9);
  for (const std::string_view older_or_silent :
       {"maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile148n_nt_v0",
        "void cudnn::detail::dgrad_engine<float, 512, 6>(int)", "revolta_kernel",
        "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI16x16x16x1_SN"})
    EXPECT_EQ(LeastComputeMajor(older_or_silent), 0) << older_or_silent;
}

}  // namespace

}  // namespace gapless::internal
