// SPDX-License-Identifier: Apache-2.0
// Names as recorders wrote them, from V100 to B200 and MI300, and what they mean.
#include "ingest/names.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(ClassifyApi, LaunchesOfEveryKind) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel",
        "hipExtModuleLaunchKernel", "hipModuleLaunchKernel", "cudaLaunchCooperativeKernel"})
    EXPECT_EQ(ClassifyApi(name), ApiKind::kKernelLaunch) << name;
  EXPECT_EQ(ClassifyApi("cudaGraphLaunch"), ApiKind::kGraphLaunch);
  EXPECT_EQ(ClassifyApi("hipGraphLaunch"), ApiKind::kGraphLaunch);
}

TEST(ClassifyApi, WaitsAndCopies) {
  EXPECT_EQ(ClassifyApi("cudaDeviceSynchronize"), ApiKind::kDeviceSync);
  EXPECT_EQ(ClassifyApi("hipDeviceSynchronize"), ApiKind::kDeviceSync);
  EXPECT_EQ(ClassifyApi("cudaThreadSynchronize"), ApiKind::kDeviceSync) << "what it was called until CUDA 4";
  EXPECT_EQ(ClassifyApi("cudaStreamSynchronize"), ApiKind::kStreamSync);
  EXPECT_EQ(ClassifyApi("cudaEventSynchronize"), ApiKind::kEventSync);
  EXPECT_EQ(ClassifyApi("cudaStreamWaitEvent"), ApiKind::kStreamWait);
  EXPECT_EQ(ClassifyApi("cudaMemcpyAsync"), ApiKind::kMemcpy);
  EXPECT_EQ(ClassifyApi("cudaMemcpy"), ApiKind::kBlockingMemcpy);
  EXPECT_EQ(ClassifyApi("hipMemcpyWithStream"), ApiKind::kBlockingMemcpy);
  EXPECT_EQ(ClassifyApi("cudaMemsetAsync"), ApiKind::kMemset);
  EXPECT_EQ(ClassifyApi("cudaMalloc"), ApiKind::kAlloc);
  EXPECT_EQ(ClassifyApi("cudaFree"), ApiKind::kFree);
  EXPECT_EQ(ClassifyApi("cudaHostAlloc"), ApiKind::kHostAlloc);
  EXPECT_EQ(ClassifyApi("cudaGetDeviceCount"), ApiKind::kOther);
  EXPECT_EQ(ClassifyApi("INVALID"), ApiKind::kOther);
}

struct KernelCase {
  const char* name;
  GpuOpClass op_class;
  MatrixUnit matrix_unit;
};

class KernelNames : public ::testing::TestWithParam<KernelCase> {};

TEST_P(KernelNames, Mean) {
  const KernelTraits traits = ClassifyKernel(GetParam().name);
  EXPECT_EQ(ToString(traits.op_class), ToString(GetParam().op_class)) << GetParam().name;
  EXPECT_EQ(ToString(traits.matrix_unit), ToString(GetParam().matrix_unit)) << GetParam().name;
}

using enum GpuOpClass;
INSTANTIATE_TEST_SUITE_P(
    Recorded, KernelNames,
    ::testing::Values(
        KernelCase{"volta_scudnn_128x64_relu_medium_nn_v1", kConv, MatrixUnit::kNo},
        KernelCase{"volta_sgemm_64x64_nt", kGemm, MatrixUnit::kNo},
        KernelCase{"volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1", kConv, MatrixUnit::kYes},
        KernelCase{"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", kGemm, MatrixUnit::kYes},
        KernelCase{"ampere_sgemm_128x64_nn", kGemm, MatrixUnit::kNo},
        KernelCase{"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTN", kGemm, MatrixUnit::kYes},
        KernelCase{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", kGemm,
                   MatrixUnit::kYes},
        KernelCase{
            "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x128_32x5_tn_align8>(cutlass_80::Params)",
            kGemm, MatrixUnit::kYes},
        KernelCase{"Cijk_Ailk_Bjlk_BBS_BH_MT128x128x32_MI16x16x16x1_SN", kGemm, MatrixUnit::kYes},
        KernelCase{"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct, float const*)",
                   kNorm, MatrixUnit::kNo},
        KernelCase{
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::TensorListMetadata<4>>(int)",
            kOptimizer, MatrixUnit::kNo},
        KernelCase{"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)", kAttention,
                   MatrixUnit::kYes},
        KernelCase{"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)", kAttention,
                   MatrixUnit::kYes},
        KernelCase{"triton_poi_fused_add_cos_sin_0", kPointwise, MatrixUnit::kNo},
        KernelCase{"triton_red_fused_native_layer_norm_3", kReduce, MatrixUnit::kNo},
        KernelCase{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kCommunication,
                   MatrixUnit::kNo},
        KernelCase{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", kCommunication,
                   MatrixUnit::kNo},
        KernelCase{"void at::native::vectorized_elementwise_kernel<4, "
                   "at::native::BUnaryFunctor<at::native::AddFunctor<long> >>(int)",
                   kPointwise, MatrixUnit::kNo},
        KernelCase{"void "
                   "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&"
                   ")>(int)",
                   kCopy, MatrixUnit::kNo},
        KernelCase{
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float>>>(int)",
            kReduce, MatrixUnit::kNo},
        KernelCase{
            "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::(anonymous "
            "namespace)::OpaqueType<4u>>(int)",
            kCopy, MatrixUnit::kNo},
        KernelCase{"void cudnn::winograd::generateWinogradTilesKernel<0, float, float>(cudnn::winograd::Params)", kConv,
                   MatrixUnit::kNo},
        KernelCase{"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, "
                   "2>(cudnn::ops::nchw2nhwc_params_t<float>)",
                   kCopy, MatrixUnit::kNo},
        // Newer libraries.
        KernelCase{
            "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_warpsize2x"
            "2x1_g1_tensor16x8x8_kernel_cudnn",
            kConv, MatrixUnit::kYes},
        KernelCase{"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int> > >(int)",
                   kAttention, MatrixUnit::kYes},
        KernelCase{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", kAttention,
                   MatrixUnit::kYes},
        KernelCase{
            "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS6_4warp11MmaTensorOpINS7_",
            kConv, MatrixUnit::kYes},
        KernelCase{"fmha_cutlassF_f32_aligned_64x64_rf_sm75(int)", kAttention, MatrixUnit::kNo},
        KernelCase{"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_cga1x1x1_tmaOpt_dynBatch_sm100f", kGemm,
                   MatrixUnit::kYes},
        KernelCase{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", kConv, MatrixUnit::kYes},
        KernelCase{"aiter::fmha_fwd_hd128_bf16_rtz", kAttention, MatrixUnit::kYes},
        KernelCase{"attn_fwd", kAttention, MatrixUnit::kYes},
        KernelCase{"triton_tem_fused_mm_4", kGemm, MatrixUnit::kUnknown},
        KernelCase{"matmul_kernel", kGemm, MatrixUnit::kUnknown},
        KernelCase{"my_own_kernel", kOther, MatrixUnit::kUnknown},
        // Words of matrix work in the names of others.
        KernelCase{"triton_poi_fused__to_copy_add_cat_fmha_v3_fwd_mul_neg_stack_13", kPointwise, MatrixUnit::kNo},
        KernelCase{"SubTensorOpWithScalar1d", kPointwise, MatrixUnit::kNo},
        KernelCase{"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)", kOther,
                   MatrixUnit::kNo},
        KernelCase{
            "std::enable_if<(((8)>(0)))&&vllm::exists, void>::type vllm::fused_add_rms_norm_kernel<float, 8>(int)",
            kNorm, MatrixUnit::kNo},
        KernelCase{"void gemma_rmsnorm_kernel<c10::BFloat16>(int)", kNorm, MatrixUnit::kNo},
        KernelCase{"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(int)", kCopy,
                   MatrixUnit::kNo},
        KernelCase{"void splitKreduce_kernel<float, float, float, float, true>(cublasSplitKParams<float>)", kReduce,
                   MatrixUnit::kNo},
        KernelCase{"void split_embedding_codegen_forward_unweighted_kernel<float>(fbgemm_gpu::Accessor)", kOther,
                   MatrixUnit::kNo},
        KernelCase{"void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)", kOther, MatrixUnit::kNo}));

TEST(RefineByOperator, AConvolutionAsAMatrixProductIsAConvolution) {
  EXPECT_EQ(RefineByOperator(kGemm, "aten::cudnn_convolution"), kConv);
  EXPECT_EQ(RefineByOperator(kGemm, "aten::mm"), kGemm);
  EXPECT_EQ(RefineByOperator(kOther, "aten::native_batch_norm"), kNorm);
  EXPECT_EQ(RefineByOperator(kOther, "aten::normal_"), kOther) << "random numbers";
  EXPECT_EQ(RefineByOperator(kGemv, "aten::mm"), kGemv);
}

TEST(ClassifyCopy, DirectionAndHostMemory) {
  EXPECT_EQ(ClassifyCopy("Memcpy HtoD (Pageable -> Device)"), CopyKind::kHtoDPageable);
  EXPECT_EQ(ClassifyCopy("Memcpy HtoD (Pinned -> Device)"), CopyKind::kHtoDPinned);
  EXPECT_EQ(ClassifyCopy("Memcpy DtoH (Device -> Pageable)"), CopyKind::kDtoHPageable);
  EXPECT_EQ(ClassifyCopy("Memcpy DtoD (Device -> Device)"), CopyKind::kDtoD);
  EXPECT_EQ(ClassifyCopy("CopyHostToDevice"), CopyKind::kHtoD);
}

TEST(CollectiveKind, FromKernelsAnnotationsAndArguments) {
  EXPECT_EQ(CollectiveKind("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "all_reduce");
  EXPECT_EQ(CollectiveKind("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), "reduce_scatter");
  EXPECT_EQ(CollectiveKind("nccl:_all_gather_base"), "all_gather");
  EXPECT_EQ(CollectiveKind("_allgather_base"), "all_gather");
  EXPECT_EQ(CollectiveKind("ncclDevKernel_Generic"), "other");
  EXPECT_EQ(CollectiveKind("void deep_ep::internode_ll::dispatch<true, 7168>(void*)"), "all_to_all");
  EXPECT_EQ(CollectiveKind("void deep_ep::intranode::barrier<8>(int**, int)"), "barrier");
  EXPECT_EQ(CollectiveKind("nvshmemi_proxy_quiet_kernel(bool)"), "other");
  EXPECT_EQ(CollectiveKind("aten::mm"), "");
}

TEST(ElementBytes, OfRecordedTypes) {
  EXPECT_EQ(ElementBytes("BFloat16"), 2);
  EXPECT_EQ(ElementBytes("c10::Half"), 2);
  EXPECT_EQ(ElementBytes("Float"), 4);
  EXPECT_EQ(ElementBytes("long int"), 8);
  EXPECT_EQ(ElementBytes("martian"), 0);
}

}  // namespace
}  // namespace gapless::internal
