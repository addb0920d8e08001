// SPDX-License-Identifier: Apache-2.0
#include "analyses/kernel_library.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace gapless {

std::string_view KernelLibrary(std::string_view kernel) {
  struct Mark {
    std::string_view part, library;
  };
  // The first that occurs: libraries build on each other, the outermost comes first.
  static constexpr Mark kMarks[] = {{"nccl", "nccl"},
                                    {"rccl", "rccl"},
                                    {"nvshmem", "nvshmem"},
                                    {"triton_", "triton"},
                                    {"cudnn", "cudnn"},
                                    {"flashinfer", "flashinfer"},
                                    {"flash_fwd", "flash"},
                                    {"flash_bwd", "flash"},
                                    {"flashattn", "flash"},
                                    {"fmha_cutlass", "pytorch"},
                                    {"xmma_fprop", "cudnn"},
                                    {"xmma_dgrad", "cudnn"},
                                    {"xmma_wgrad", "cudnn"},
                                    {"implicit_convolve", "cudnn"},
                                    {"wgrad_alg", "cudnn"},
                                    {"dgrad_", "cudnn"},
                                    {"nchwtonhwc", "cudnn"},
                                    {"nhwctonchw", "cudnn"},
                                    {"cublas", "cublas"},
                                    {"splitkreduce", "cublas"},
                                    {"nvjet", "cublas"},
                                    {"xmma_gemm", "cublas"},
                                    {"volta_", "cublas"},
                                    {"turing_", "cublas"},
                                    {"ampere_", "cublas"},
                                    {"gemmsn", "cublas"},
                                    {"gemv", "cublas"},
                                    {"tensorrt_llm", "tensorrt_llm"},
                                    {"fbgemm", "fbgemm"},
                                    {"split_embedding", "fbgemm"},
                                    {"vllm::", "vllm"},
                                    {"sgl_", "sglang"},
                                    {"aiter", "aiter"},
                                    {"ck_tile", "composable_kernel"},
                                    {"kernel_gemm_xdl", "composable_kernel"},
                                    {"cijk_", "hipblaslt"},
                                    {"igemm_", "miopen"},
                                    {"miopen", "miopen"},
                                    {"subtensorop", "miopen"},
                                    {"batched_transpose_", "miopen"},
                                    {"at::native", "pytorch"},
                                    {"at_cuda_detail", "pytorch"},
                                    {"multi_tensor_apply", "apex"},
                                    {"cutlass", "cutlass"},
                                    {"rocprim", "rocprim"},
                                    {"cub::", "cub"}};
  std::string lower(kernel);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Mark& mark : kMarks)
    if (lower.find(mark.part) != std::string::npos) return mark.library;
  return {};
}

}  // namespace gapless
