// SPDX-License-Identifier: Apache-2.0
#include "analyses/kernel_library.h"

#include <gtest/gtest.h>

namespace gapless {
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

}  // namespace
}  // namespace gapless
